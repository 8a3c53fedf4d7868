// D-6.5: every change of what is stored of the audit log is found.
import { expect } from "bun:test";
import {
  type AuditRecord,
  checkpointInput,
} from "../../../src/domain/reputation/audit/audit-chain.ts";
import type { AnyCollection, DocumentStore } from "../../../src/ports/documents.ts";
import { SECRETS } from "../../../src/repositories/account-collections.ts";
import {
  AUDIT,
  type AuditDocument,
  type BlockDocument,
  type HeadDocument,
  LOOKUP_LOG,
  type LookupLogDocument,
} from "../../../src/repositories/lookup-collections.ts";
import { repositoryTests } from "../support/repository-tests.ts";
import { AUDIT_KEY, AuditScene, MAC } from "./audit-scene.ts";

const encoder = new TextEncoder();
/** What is told of a spoilt document of each kind; nothing of what is no part of the log. */
const PROBLEM_OF: Readonly<Record<string, string>> = {
  block: "changed",
  head: "head",
  checkpoint: "checkpoint",
  chain_count: "head",
};
const LOG_REMOVED = "The log was begun, and all of it is gone";

/** A log of two chains: one of three records in two commits, one of four in three. */
interface Log {
  readonly scene: AuditScene;
  readonly documents: DocumentStore;
  readonly blocks: readonly BlockDocument[];
  readonly heads: readonly HeadDocument[];
  /** Stores documents in place of others, verifies, and brings the log back to what it was. */
  verifyWith(change: LogChange): Promise<Awaited<ReturnType<AuditScene["verify"]>>>;
}

interface LogChange {
  readonly put?: readonly object[];
  readonly remove?: readonly LookupLogDocument[];
}

async function makeLog(first: AuditScene, second: AuditScene): Promise<Log> {
  await first.append(["ana", "nobody"]);
  await first.append(["ana"], 1_000);
  await second.append(["ana", "x"], 2_000);
  await second.append(["ana"], 3_000);
  await second.append(["ana"], 4_000);
  const { documents } = first;
  const whole = await readLog(documents);
  const known = new Set(whole.map(nameOf));
  const write = (put: readonly object[], remove: readonly LookupLogDocument[]) =>
    documents.transact({ name: "test.damage" }, async (tx) => {
      for (const doc of remove) tx.remove(LOOKUP_LOG, LOOKUP_LOG.keyOf(doc));
      for (const doc of put) tx.put(LOOKUP_LOG, doc as LookupLogDocument);
    });
  return {
    scene: first,
    documents,
    blocks: whole.filter((doc) => doc.kind === "block"),
    heads: whole.filter((doc) => doc.kind === "head"),
    verifyWith: async ({ put = [], remove = [] }) => {
      await write(put, remove);
      const verdict = await first.verify();
      const changed = new Set([...put, ...remove].map((doc) => nameOf(doc as LookupLogDocument)));
      await write(
        whole.filter((doc) => changed.has(nameOf(doc))),
        put.filter((doc) => !known.has(nameOf(doc as LookupLogDocument))) as LookupLogDocument[],
      );
      return verdict;
    },
  };
}

async function readLog(documents: DocumentStore): Promise<readonly LookupLogDocument[]> {
  const [all] = await documents.read({ name: "test.log" }, (at) =>
    at.read({ from: LOOKUP_LOG, stretch: {} }),
  );
  return all;
}

const nameOf = (doc: LookupLogDocument) => JSON.stringify(LOOKUP_LOG.keyOf(doc));

const SHARED = ["accountId", "keyId", "endpoint", "purpose", "decision", "code", "status"];
const OWN = ["requestId", "subjectHmac", "consentId", "hash"];
type Row = Readonly<Record<string, unknown>>;

/** The records of a block, without what it has for all of them. */
function rowsOf({ packed }: BlockDocument): Row[] {
  const [shared, own] = JSON.parse(new TextDecoder().decode(packed));
  return own.map(([place, ...fields]: [number, ...unknown[]]) =>
    Object.fromEntries([
      ...SHARED.map((name, i) => [name, shared[place][i]]),
      ...OWN.map((name, i) => [name, fields[i]]),
    ]),
  );
}

/** A block with other records; fields that are none of these come last. */
function withRows(block: BlockDocument, rows: readonly Row[]): BlockDocument {
  const shared: unknown[] = [];
  const own = rows.map((row) => {
    const fields = SHARED.map((name) => row[name]);
    const known = shared.findIndex((one) => Bun.deepEquals(one, fields));
    const place = known < 0 ? shared.push(fields) - 1 : known;
    return [place, ...OWN.map((name) => row[name]), ...("another" in row ? [row["another"]] : [])];
  });
  return { ...block, packed: encoder.encode(JSON.stringify([shared, own])) };
}

const missing = (chainId: string, seq: number) => ({ kind: "missing", chainId, seq });

repositoryTests(
  "the audit log verifies",
  (documents) => new AuditScene(documents),
  (it) => {
    it("D-6.5 a new log is empty and verifies", async (scene) => {
      expect(await scene.verify()).toEqual({ problem: null, chains: 0, records: 0 });
      const nothing = { wasBegun: false, chainCount: null, heads: [] };
      expect(await scene.audit.overview()).toEqual(nothing);
    });

    it("D-6.5 what is stored is exactly the fields that the hash covers", async (scene) => {
      await scene.append(["ana"]);
      const [record] = await scene.records();
      expect(Object.keys(record as AuditRecord).sort()).toEqual([
        ...["accountId", "at", "chainId", "code", "consentId", "decision", "endpoint", "hash"],
        ...["keyId", "previousHash", "purpose", "requestId", "seq", "status", "subjectHmac"],
        "version",
      ]);
    });

    it("D-6.5 no field of any record, head or count can be changed unseen", async (first, second) => {
      const { scene, documents, blocks, heads, verifyWith } = await makeLog(first, second);
      expect(await scene.verify()).toEqual({ problem: null, chains: 2, records: 7 });
      let changes = 0;
      for (const block of blocks) {
        const { chainId, seq } = block;
        const rows = rowsOf(block);
        for (const [i, row] of rows.entries()) {
          for (const name of [...Object.keys(row), "another"]) {
            for (const value of [`${row[name]}0`, Number(row[name]) + 100, { a: 1 }]) {
              const put = [withRows(block, rows.with(i, { ...row, [name]: value }))];
              const { problem } = await verifyWith({ put });
              // A record that has a field more spoils the block.
              const at = { kind: "changed", chainId, seq: name === "another" ? seq : seq + i };
              expect([name, problem]).toMatchObject([name, at]);
              changes++;
            }
          }
        }
        for (const change of [
          { at: "2026-01-01T00:00:00.000Z" },
          { version: 2 },
          { version: "1" },
          { previousHash: "0".repeat(63) },
          { more: 1 },
          { packed: Uint8Array.of(32, ...block.packed) },
        ]) {
          const { problem } = await verifyWith({ put: [{ ...block, ...change }] });
          expect([change, problem]).toMatchObject([change, { kind: "changed", chainId, seq }]);
        }
      }
      for (const head of heads) {
        for (const change of [
          { seq: head.seq + 10 },
          { seq: String(head.seq) },
          { hash: `${head.hash}0` },
          { at: `${head.at}0` },
          { signature: `${head.signature}0` },
          { signature: 5 },
          { chainNumber: head.chainNumber + 10 },
          { another: 1 },
        ]) {
          const { problem } = await verifyWith({ put: [{ ...head, ...change }] });
          expect([change, problem === null]).toEqual([change, false]);
        }
      }
      for (const change of ["lower", "gone"]) {
        await documents.transact({ name: "test.damage" }, async (tx) => {
          if (change === "gone") tx.remove(AUDIT, ["chain_count"]);
          else tx.put(AUDIT, { kind: "chain_count", chains: 1, signature: "x" });
        });
        expect((await scene.verify()).problem).toMatchObject({ kind: "head" });
      }
      expect(changes).toBe(7 * 12 * 3);
    });

    it("D-6.5, D-8.9 removed records are missed: any one, the last ones, all of a chain, all", async (first, second) => {
      const { scene, documents, blocks, heads, verifyWith } = await makeLog(first, second);
      for (const block of blocks) {
        const { chainId, seq } = block;
        const later = blocks.filter((one) => one.chainId === chainId && one.seq > seq);
        const rows = rowsOf(block);
        for (const i of rows.keys()) {
          const left = rows.toSpliced(i, 1);
          const cut = left.length === 0 ? { remove: [block] } : { put: [withRows(block, left)] };
          expect((await verifyWith(cut)).problem).toMatchObject({ chainId, seq: seq + i });
          const before = rows.slice(0, i);
          const ended = before.length === 0 ? [] : [withRows(block, before)];
          const remove = [...later, ...(before.length === 0 ? [block] : [])];
          const { problem } = await verifyWith({ put: ended, remove });
          expect(problem).toMatchObject(missing(chainId, seq + i));
        }
        expect((await verifyWith({ remove: [block] })).problem).toMatchObject(
          missing(chainId, seq),
        );
        const all = blocks.filter((one) => one.chainId === chainId);
        expect((await verifyWith({ remove: all })).problem).toMatchObject(missing(chainId, 1));
        const head = heads.filter((one) => one.chainId === chainId);
        expect((await verifyWith({ remove: [...all, ...head] })).problem).not.toBeNull();
      }
      const everything = [...blocks, ...heads];
      expect((await verifyWith({ remove: blocks })).problem).toMatchObject({
        kind: "missing",
        seq: 1,
      });
      expect((await verifyWith({ remove: everything })).problem).not.toBeNull();
      await documents.transact({ name: "test.damage" }, async (tx) => {
        for (const doc of everything) tx.remove(LOOKUP_LOG, LOOKUP_LOG.keyOf(doc));
        tx.remove(AUDIT, ["chain_count"]);
      });
      expect((await scene.verify()).problem?.message).toBe(LOG_REMOVED);
      const [secrets] = await documents.read({ name: "test.log" }, (at) =>
        at.read({ from: SECRETS, stretch: {} }),
      );
      expect(secrets).toEqual([{ name: "first_lookup", secret: "answered" }]);
    });

    it("D-6.5 the last chain, removed whole, is missed also when another one has begun since", async (first, second, {
      documents,
    }) => {
      await first.append(["x"]);
      await second.append(["x"]);
      const last = (await readLog(documents)).filter(
        (doc) => "chainId" in doc && doc.chainId === second.chainId,
      );
      await documents.transact({ name: "test.damage" }, async (tx) => {
        for (const doc of last) tx.remove(LOOKUP_LOG, LOOKUP_LOG.keyOf(doc));
      });
      await new AuditScene(documents).append(["x"]);
      expect((await first.verify()).problem).toMatchObject({
        kind: "head",
        message: expect.stringContaining("the head of chain number 2, before it, is gone"),
      });
    });

    it.everywhere(
      "D-6.5 records that changed places and records that were added are found",
      async (first, second) => {
        const { blocks, verifyWith } = await makeLog(first, second);
        for (const block of blocks.filter((one) => rowsOf(one).length === 2)) {
          const [one = {}, two = {}] = rowsOf(block);
          const { chainId, seq } = block;
          for (const [rows, at] of [
            [[two, one], { kind: "changed", seq }],
            [[one, one, two], { kind: "changed", seq: seq + 1 }],
          ] as const) {
            const { problem } = await verifyWith({ put: [withRows(block, rows)] });
            expect(problem).toMatchObject({ chainId, ...at });
          }
        }
        const [a, b] = blocks as readonly [BlockDocument, BlockDocument];
        const { chainId } = a;
        const swapped = [
          { ...a, seq: b.seq },
          { ...b, seq: a.seq },
        ];
        expect((await verifyWith({ put: swapped })).problem).toMatchObject({ chainId });
        for (const put of [
          { ...a, seq: 99 },
          { ...a, seq: 0 },
          { ...a, seq: 2 },
        ]) {
          expect((await verifyWith({ put: [put] })).problem).toMatchObject({ chainId });
        }
        const { problem } = await verifyWith({ put: [{ ...a, chainId: "another" }] });
        expect(problem).toMatchObject({ kind: "extra", chainId: "another" });
      },
    );

    it.everywhere(
      "D-6.5 what is no record at all is found, and does not end the verification",
      async (first, second) => {
        const { blocks, verifyWith } = await makeLog(first, second);
        const [block] = blocks as readonly [BlockDocument];
        for (const text of [null, "text", [], [null], [[1]], [[], []], [[], [[0]]], { a: 1 }]) {
          const packed = encoder.encode(JSON.stringify(text));
          const { problem } = await verifyWith({ put: [{ ...block, packed }] });
          expect([text, problem]).toMatchObject([text, { chainId: block.chainId, seq: 1 }]);
        }
        for (const packed of [Uint8Array.of(0xff, 0xfe), new Uint8Array(), "[]", null]) {
          const { problem } = await verifyWith({ put: [{ ...block, packed }] });
          expect(problem).toMatchObject({ chainId: block.chainId });
        }
      },
    );

    it.everywhere(
      "D-6.5 a document that is none of ours is told with its chain, whichever field was spoilt",
      async (first, second, { documents, opened: { spoil } }) => {
        await makeLog(first, second);
        const { chainId } = first;
        const [{ seq = 0, hash = "" } = {}] = await first.records();
        const statement = {
          chainId,
          seq: Number(seq),
          hash: String(hash),
          at: "2026-03-01T12:00:00Z",
        };
        const signature = MAC.hmacHex(AUDIT_KEY, checkpointInput(statement));
        await first.audit.prune({ statement, signature });
        expect(await first.verify()).toEqual({ problem: null, chains: 2, records: 6 });
        if (spoil === undefined) return;
        const [log, kept] = await documents.read({ name: "test.log" }, (at) =>
          at.read({ from: LOOKUP_LOG, stretch: {} }, { from: AUDIT, stretch: {} }),
        );
        for (const [from, docs] of [
          [LOOKUP_LOG, log],
          [AUDIT, kept],
        ] as readonly (readonly [
          AnyCollection,
          readonly (LookupLogDocument | AuditDocument)[],
        ])[]) {
          for (const doc of docs) {
            const kind = PROBLEM_OF[doc.kind];
            if (kind === undefined) continue;
            const at = kind === "changed" && "seq" in doc ? { seq: doc.seq } : { seq: null };
            const of = "chainId" in doc ? doc.chainId : "";
            for (const field of Object.keys(doc)) {
              await spoil(from, from.keyOf(doc), field);
              const { problem } = await first.verify();
              expect([doc.kind, field, problem]).toMatchObject([
                doc.kind,
                field,
                { kind, chainId: of, ...at },
              ]);
              await documents.transact({ name: "test.mend" }, async (tx) => tx.put(from, doc));
            }
          }
        }
        expect(await first.verify()).toEqual({ problem: null, chains: 2, records: 6 });
      },
    );

    it.everywhere(
      "D-6.5 a document at a key that is none of ours is told, wherever it stands among records",
      async (first, second, { opened: { addStrange } }) => {
        await makeLog(first, second);
        for (const from of [LOOKUP_LOG, AUDIT]) {
          if ((await addStrange?.(from)) === undefined) return;
          expect((await second.verify()).problem).toMatchObject({ kind: "extra", seq: null });
        }
      },
    );

    it("D-6.5 a spoilt block of a chain without a head is a record too many", async (scene, _, {
      documents,
      opened: { spoil },
    }) => {
      await scene.append(["ana"]);
      const [block] = (await readLog(documents)).filter((doc) => doc.kind === "block");
      const added = { ...block, chainId: "another" } as BlockDocument;
      await documents.transact({ name: "test.add" }, async (tx) => tx.put(LOOKUP_LOG, added));
      const another = { kind: "extra", chainId: "another", seq: 1 };
      expect((await scene.verify()).problem).toMatchObject(another);
      await spoil?.(LOOKUP_LOG, LOOKUP_LOG.keyOf(added), "at");
      expect((await scene.verify()).problem).toMatchObject(another);
    });

    it("D-6.5 a record that exists twice is found wherever it stands", async (scene) => {
      for (let i = 0; i < 21; i++) await scene.append(Array(50).fill("ana"), i);
      const { documents, chainId } = scene;
      const blocks = (await readLog(documents)).filter((doc) => doc.kind === "block");
      expect(await scene.verify()).toEqual({ problem: null, chains: 1, records: 1_050 });
      for (const seq of [1, 951, 1_001]) {
        const block = blocks.find((one) => one.seq === seq) as BlockDocument;
        const rows = rowsOf(block);
        const doubled = withRows(block, [...rows.slice(0, 1), ...rows]);
        await documents.transact({ name: "test.damage" }, async (tx) =>
          tx.put(LOOKUP_LOG, doubled),
        );
        expect((await scene.verify()).problem).toMatchObject({ chainId, seq: seq + 1 });
        await documents.transact({ name: "test.damage" }, async (tx) => tx.put(LOOKUP_LOG, block));
      }
    });
  },
);
