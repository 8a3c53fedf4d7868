// D-6.5 in the collections themselves: every change of them is found, and no reply is ahead of its record.
import { describe, expect } from "bun:test";
import { Binary, type Collection, type Db, type Document, ObjectId } from "mongodb";
import { checkpointInput } from "../../../../src/domain/reputation/audit/audit-chain.ts";
import { verifyAudit } from "../../../../src/usecases/reputation/audit/verify-audit.ts";
import {
  AUDIT_KEY,
  BY_ROOT,
  MAC,
  openParts,
  type ReputationParts,
  type Scene,
  wordOf,
} from "../../../contract/lookups/reputation-harness.ts";
import { SEED } from "../../../support/seed.ts";
import { mongoAvailable } from "../../../support/shared-mongo.ts";
import {
  BLOCKS,
  chainOf,
  failureOf,
  HEADS,
  LEDGER,
  openScene,
  remembering,
  verify,
} from "../reputation-support.ts";
import { loadUntilKilled } from "../service.ts";
import { databaseTest } from "../support.ts";

const COLLECTIONS = [LEDGER, "repsync_audit_chain_count"];

/** A log of two chains in the store, and how to bring it back to what it was. */
interface Log {
  readonly scene: Scene;
  readonly parts: ReputationParts;
  readonly hash: string;
  readonly db: Db;
  readonly blocks: Collection;
  restore(): Promise<void>;
}

/** Defines a test on a log: one chain of three records in two commits, one of four in three. */
function logTest(name: string, body: (log: Log) => Promise<void>): void {
  databaseTest(name, async (database) => {
    const scene = await openScene(database);
    await scene.enrol("ana");
    await scene.consent("ana");
    const { hash } = await scene.giveKey("ana");
    const call = (username: string) => ({ keyHash: hash, username });
    await scene.lookUpMany([call("ana"), call("nobody")]);
    await scene.lookUp(hash, "ana");
    const second = await openScene(database);
    await second.lookUpMany([call("ana"), call("x")]);
    await second.lookUp(hash, "ana");
    await second.lookUp(hash, "ana");
    const { db } = database;
    const kept = await Promise.all(COLLECTIONS.map((one) => db.collection(one).find().toArray()));
    const restore = async () => {
      for (const [i, one] of COLLECTIONS.entries()) {
        await db.collection(one).deleteMany({});
        await db.collection(one).insertMany(kept[i] as Document[]);
      }
    };
    const { parts } = scene;
    await body({ scene, parts, hash, db, blocks: db.collection(LEDGER), restore });
  });
}

/** The records of a block with a change of one of them. */
function changed(block: Document, index: number, change: object): Document[] {
  return block["records"].map((own: Document, i: number) =>
    i === index ? { ...own, ...change } : own,
  );
}

describe.skipIf(!mongoAvailable)("MongoDB: the audit log verifies", () => {
  logTest("D-6.5 no field of any record, head or count can be changed unseen", async (log) => {
    const { parts, blocks, db, restore } = log;
    expect(await verify(parts)).toEqual({ problem: null, chains: 2, records: 7 });
    let changes = 0;
    for (const block of await blocks.find(BLOCKS).toArray()) {
      const [chainId] = String(block._id).split("/");
      for (const [i, own] of (block["records"] as Document[]).entries()) {
        for (const name of [...Object.keys(own), "another"]) {
          for (const value of [`${own[name]}0`, Number(own[name]) + 100, { a: 1 }]) {
            const records = changed(block, i, { [name]: value });
            await blocks.updateOne({ _id: block._id }, { $set: { records } });
            const { problem } = await verify(parts);
            expect([name, own["seq"], problem?.chainId]).toEqual([name, own["seq"], chainId]);
            if (name !== "seq") expect(problem).toMatchObject({ kind: "changed", seq: own["seq"] });
            await blocks.replaceOne({ _id: block._id }, block);
            changes++;
          }
        }
      }
      const seq = block["records"][0].seq;
      for (const change of [{ at: "2026-01-01T00:00:00.000Z" }, { version: 2 }, { more: 1 }]) {
        await blocks.updateOne({ _id: block._id }, { $set: change });
        expect((await verify(parts)).problem).toMatchObject({ kind: "changed", chainId, seq });
        await blocks.replaceOne({ _id: block._id }, block);
      }
    }
    const heads = db.collection(LEDGER);
    for (const head of await heads.find(HEADS).toArray()) {
      for (const name of ["seq", "hash", "at", "signature", "chainNumber", "another"]) {
        const value = typeof head[name] === "number" ? head[name] + 10 : `${head[name]}0`;
        await heads.updateOne({ _id: head._id }, { $set: { [name]: value } });
        expect([name, (await verify(parts)).problem === null]).toEqual([name, false]);
        await heads.replaceOne({ _id: head._id }, head);
      }
      const inBytes = new Binary(Buffer.from(head["signature"]));
      await heads.updateOne({ _id: head._id }, { $set: { signature: inBytes } });
      expect((await verify(parts)).problem).toMatchObject({ kind: "head" });
      await heads.replaceOne({ _id: head._id }, head);
    }
    const chainCount = db.collection("repsync_audit_chain_count");
    await chainCount.updateOne({}, { $set: { chains: 1 } });
    expect((await verify(parts)).problem).toMatchObject({ kind: "head" });
    await chainCount.deleteMany({});
    expect((await verify(parts)).problem).toMatchObject({ kind: "head" });
    await restore();
    expect(changes).toBe(7 * 14 * 3);
    expect(await verify(parts)).toEqual({ problem: null, chains: 2, records: 7 });
  });

  logTest("D-6.5 a document beside the blocks that is none is found", async ({ parts, blocks }) => {
    for (const odd of [{ x: 1 }, { records: 5 }, { records: [{ seq: 1 }] }]) {
      await blocks.insertOne({ _id: "odd" as never, ...odd });
      expect((await verify(parts)).problem).toMatchObject({ chainId: "odd" });
      await blocks.deleteOne({ _id: "odd" as never });
    }
    expect(await verify(parts)).toEqual({ problem: null, chains: 2, records: 7 });
  });

  logTest(
    "D-6.5, D-8.9 removed records are missed: any one, the last ones, all of a chain, all",
    async (log) => {
      const { parts, blocks, db, restore } = log;
      const heads = db.collection(LEDGER);
      const missing = (chainId: string, seq: number) => ({ kind: "missing", chainId, seq });
      for (const block of await blocks.find(BLOCKS).toArray()) {
        const [chainId = ""] = String(block._id).split("/");
        for (const { seq } of block["records"] as { seq: number }[]) {
          const records = (block["records"] as Document[]).filter((own) => own["seq"] !== seq);
          await blocks.updateOne({ _id: block._id }, { $set: { records } });
          expect((await verify(parts)).problem).toMatchObject(missing(chainId, seq));
          await blocks.deleteMany({ _id: { $gt: block._id, $lt: `${chainId}0` as never } });
          const before = records.filter((own) => own["seq"] < seq);
          await blocks.updateOne({ _id: block._id }, { $set: { records: before } });
          expect((await verify(parts)).problem).toMatchObject(missing(chainId, seq));
          await restore();
        }
        const { seq } = block["records"][0];
        await blocks.deleteOne({ _id: block._id });
        expect((await verify(parts)).problem).toMatchObject(missing(chainId, seq));
        await blocks.deleteMany({ _id: { $gt: `${chainId}/`, $lt: `${chainId}0` } as never });
        expect((await verify(parts)).problem).toMatchObject(missing(chainId, 1));
        await heads.deleteOne({ _id: `head/${chainId}` as never });
        expect((await verify(parts)).problem).not.toBeNull();
        await restore();
      }
      await blocks.deleteMany(BLOCKS);
      expect((await verify(parts)).problem).toMatchObject({ kind: "missing", seq: 1 });
      await heads.deleteMany(HEADS);
      expect((await verify(parts)).problem).not.toBeNull();
      await db.collection("repsync_audit_chain_count").deleteMany({});
      expect((await verify(parts)).problem?.message).toBe(
        "The log was begun, and all of it is gone",
      );
    },
  );

  databaseTest(
    "D-6.5 the last chain, removed whole, is missed also when another one has begun since",
    async (database) => {
      const scene = await openScene(database);
      await scene.enrol("ana");
      const { hash } = await scene.giveKey("ana");
      await scene.lookUp(hash, "x");
      await (await openScene(database)).lookUp(hash, "x");
      const heads = database.db.collection(LEDGER);
      const last = await heads.findOneAndDelete({ chainNumber: 2 });
      const chainId = chainOf(last);
      const ofLast = { $gt: `${chainId}/`, $lt: `${chainId}0` } as never;
      const { deletedCount } = await heads.deleteMany({ _id: ofLast });
      expect(deletedCount).toBe(1);
      await (await openScene(database)).lookUp(hash, "x");
      expect((await verify(scene.parts)).problem).toMatchObject({
        kind: "head",
        message: expect.stringContaining("the head of chain number 2, before it, is gone"),
      });
    },
  );

  logTest(
    "D-6.5 records that changed places and records that were added are found",
    async (log) => {
      const { parts, blocks, restore } = log;
      const all = await blocks.find(BLOCKS).sort({ _id: 1 }).toArray();
      const pair = all.filter((block) => block["records"].length === 2);
      for (const block of pair) {
        const [first, second] = block["records"];
        await blocks.updateOne({ _id: block._id }, { $set: { records: [second, first] } });
        expect((await verify(parts)).problem).not.toBeNull();
        const renumbered = [
          { ...second, seq: first.seq },
          { ...first, seq: second.seq },
        ];
        await blocks.updateOne({ _id: block._id }, { $set: { records: renumbered } });
        expect((await verify(parts)).problem).toMatchObject({ kind: "changed", seq: first.seq });
        await blocks.updateOne({ _id: block._id }, { $set: { records: [first, first, second] } });
        expect((await verify(parts)).problem).toMatchObject({ kind: "forked", seq: first.seq });
        await restore();
      }
      const [a, b] = all as unknown as [Document, Document];
      const swap = async (id: unknown, { _id, ...rest }: Document) =>
        blocks.replaceOne({ _id: id as never }, rest);
      await swap(a["_id"], b);
      await swap(b["_id"], a);
      expect((await verify(parts)).problem).not.toBeNull();
      await restore();
      const [chainId] = String(a["_id"]).split("/");
      await blocks.insertOne({ ...a, _id: `${chainId}/0000000000000099` as never });
      expect((await verify(parts)).problem).toMatchObject({ chainId });
      await restore();
      await blocks.insertOne({ ...a, _id: "another/0000000000000001" as never });
      expect((await verify(parts)).problem).toMatchObject({ kind: "extra", chainId: "another" });
      await restore();
      await blocks.insertOne({ ...a, _id: `${chainId}/0000000000000000` as never });
      expect((await verify(parts)).problem).toMatchObject({ chainId });
      await restore();
      for (const _id of [5, new ObjectId(), null, { a: 1 }]) {
        await blocks.insertOne({ ...a, _id: _id as never });
        expect((await verify(parts)).problem).toMatchObject({ chainId: "/" });
        await blocks.deleteOne({ _id: _id as never });
      }
    },
  );

  logTest(
    "D-6.5 what is no record at all is found, and does not end the verification",
    async (log) => {
      const { parts, blocks } = log;
      const [block] = (await blocks
        .find(BLOCKS)
        .sort({ _id: 1 })
        .limit(1)
        .toArray()) as unknown as [Document];
      for (const records of [null, "text", [], [null], [[1]], ["text"], { a: 1 }]) {
        await blocks.updateOne({ _id: block["_id"] }, { $set: { records } });
        expect((await verify(parts)).problem).not.toBeNull();
      }
    },
  );

  logTest(
    "D-6.5, D-5.8 a lookup whose record cannot be written is not answered, and does not count",
    async (log) => {
      const { scene, parts, hash, db } = log;
      const limits = { callsPerMinute: 30, callsPerMonth: null };
      const before = (await parts.usage.read("ana", limits)).reading.minuteCalls;
      await db.command({ collMod: LEDGER, validator: { records: { $exists: false } } });
      expect(await failureOf(scene.lookUp(hash, "ana"))).toMatchObject({
        kind: "store_unavailable",
      });
      expect((await parts.usage.read("ana", limits)).reading.minuteCalls).toBe(before);
      await db.command({ collMod: LEDGER, validator: {} });
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("allowed");
      expect(await verify(parts)).toMatchObject({ problem: null, records: 8 });
    },
  );

  logTest(
    "D-6.5 a copy of the process that goes on with its chain is refused, and begins another",
    async (log) => {
      const { scene, parts, hash, db } = log;
      await db.collection(LEDGER).updateOne({ chainNumber: 1 }, { $inc: { seq: 1 } });
      expect(await failureOf(scene.lookUp(hash, "ana"))).toMatchObject({ kind: "commit_failed" });
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("allowed");
      expect((await parts.audit.heads()).length).toBe(3);
    },
  );

  logTest("D-6.5 pruning cuts within what was committed together", async (log) => {
    const { parts } = log;
    for (const { statement } of await parts.audit.heads()) {
      const page = { afterSeq: null, limit: 1 };
      const [first] = await parts.audit.records(statement.chainId, page);
      const { chainId, seq, hash } = first as { chainId: string; seq: number; hash: string };
      const checkpoint = { chainId, seq, hash, at: statement.at };
      const signature = MAC.hmacHex(AUDIT_KEY, checkpointInput(checkpoint));
      await parts.audit.prune({ statement: checkpoint, signature });
    }
    expect(await verify(parts)).toEqual({ problem: null, chains: 2, records: 5 });
  });

  databaseTest(
    "D-6.5, D-5.5 erase() leaves no key behind for a person who is looked up at the same moment",
    async (database) => {
      const scene = await openScene(database);
      const other = await openScene(database);
      await scene.enrol("caller", { plan: "business" });
      const { hash } = await scene.giveKey("caller");
      for (let round = 0; round < 20; round++) {
        await scene.enrol("ana");
        const [outcome] = await Promise.all([
          other.lookUp(hash, "ana"),
          scene.parts.membership.erase("ana"),
        ]);
        expect(["consent_required", "profile_not_found"]).toContain(wordOf(outcome));
        const kept = await database.db
          .collection("repsync_subjects")
          .countDocuments({ _id: "ana" as never });
        expect(kept).toBe(0);
        await scene.parts.administration.release("ana", BY_ROOT);
      }
      expect((await verify(scene.parts)).problem).toBeNull();
    },
  );

  databaseTest(
    "D-6.5 every reply received before kill -9 has its record, and the log verifies",
    async (database) => {
      const random = (below: number) => Math.floor((((SEED * 7919) % 10_007) / 10_007) * below);
      for (let round = 0; round < 2; round++) {
        const received = await loadUntilKilled(database.url, 40 + random(200) + round * 200);
        // What it left open would otherwise keep its collections from being dropped for a minute.
        await database.db.admin().command({ killAllSessions: [] });
        const blocks = await database.db.collection(LEDGER).find(BLOCKS).toArray();
        const kept = new Set(
          blocks.flatMap(({ records }) => records.map((own: Document) => own["requestId"])),
        );
        expect(received.filter((id) => !kept.has(id))).toEqual([]);
        expect(received.length).toBeGreaterThan(0);
        const pepper = await database.db
          .collection("repsync_secrets")
          .findOne({ name: "api_key_pepper" });
        const encoder = new TextEncoder();
        const pepperKey = encoder.encode(String(pepper?.["secret"]));
        const auditKey = encoder.encode(MAC.hmacHex(pepperKey, "repsync.audit.key.v1"));
        const parts = await openParts(await database.open(), remembering);
        expect((await verifyAudit({ audit: parts.audit, mac: MAC, auditKey })).problem).toBeNull();
      }
    },
  );
});
