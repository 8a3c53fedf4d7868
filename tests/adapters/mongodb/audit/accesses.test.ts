// D-5.5 in the collections themselves: a person's accesses are found in logs of more than one segment, whichever process wrote them.
import { describe, expect } from "bun:test";
import type { Binary, Document } from "mongodb";
import type { AccessPosition } from "../../../../src/ports/lookups/audit-log.ts";
import { openParts, Scene } from "../../../contract/lookups/reputation-harness.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { mongoAvailable } from "../../../support/shared-mongo.ts";
import { BLOCKS, chainOf, HEADS, LEDGER, remembering, UNLIMITED } from "../reputation-support.ts";
import { databaseTest, type TestDatabase } from "../support.ts";

const PEOPLE = ["ana", "bea", "cyd"] as const;
const BATCH_CALLS = 100;
/** Whole batches that a segment takes: at least 512 records. */
const SEGMENT_CALLS = 600;
const DAY_MS = 86_400_000;
const PAGE = { limit: 100, before: null };

/** An instance whose time a test moves. */
async function openInstance(database: TestDatabase, clock: FakeClock): Promise<Scene> {
  const parts = await openParts(await database.open("", undefined, clock), remembering);
  const unused = { advance: async () => {}, dispose: async () => {} };
  return new Scene(parts, { storage: parts, nowMs: () => clock.nowMs(), ...unused });
}

/** A first instance, all people, and a key of one of them. */
async function setScene(database: TestDatabase) {
  const clock = new FakeClock();
  const first = await openInstance(database, clock);
  for (const name of PEOPLE) await first.enrol(name, UNLIMITED);
  const { hash } = await first.giveKey("ana");
  /** Looks people up in turns: the first of them most of the time. */
  const lookUpMany = async (scene: Scene, calls: number) => {
    for (let done = 0; done < calls; done += BATCH_CALLS) {
      const isFifth = (done / BATCH_CALLS) % 5 === 0;
      await scene.lookUpMany(
        Array.from({ length: BATCH_CALLS }, (_, i) => {
          return {
            keyHash: hash,
            username: i === 10 ? "bea" : i === 20 && isFifth ? "cyd" : "ana",
          };
        }),
      );
      clock.advance(1_000);
    }
  };
  return { clock, first, hash, lookUpMany };
}

/** Waits until the segments are these, by the place of their last records. */
async function segmentsWritten({ db }: TestDatabase, lastPlaces: readonly number[]): Promise<void> {
  for (;;) {
    const segments = await db.collection("repsync_audit_segments").find().toArray();
    const places = segments.map(({ lastSeq }) => lastSeq).sort((a, b) => a - b);
    if (Bun.deepEquals(places, lastPlaces)) return;
    expect(places.length).toBeLessThanOrEqual(lastPlaces.length);
  }
}

/** The ids of a person's accesses as another tool finds them, newest first. */
async function expectedIds({ db }: TestDatabase, subjectHmac: string): Promise<string[]> {
  const blocks = await db.collection<{ _id: string } & Document>(LEDGER).find(BLOCKS).toArray();
  const records = blocks.flatMap(({ _id, at, records: own }) => {
    const [chainId] = _id.split("/");
    return (own as Document[]).map((record) => ({ ...record, chainId, at }) as Document);
  });
  const keyOf = ({ at, chainId, seq }: Document) =>
    `${at} ${chainId} ${String(seq).padStart(9, "0")}`;
  return records
    .filter((record) => record["subjectHmac"] === subjectHmac)
    .sort((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1))
    .map(({ chainId, seq }) => `${chainId}-${seq}`);
}

/** The person whom the log names so often. */
async function namedTimes({ db }: TestDatabase, times: number): Promise<string> {
  const stages = [
    { $unwind: "$records" },
    { $group: { _id: "$records.subjectHmac", times: { $sum: 1 } } },
    { $match: { times } },
  ];
  const found = await db.collection(LEDGER).aggregate(stages).toArray();
  expect(found.length).toBe(1);
  return String(found[0]?.["_id"]);
}

async function allIds({ parts }: Scene, name: string, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let before: AccessPosition | null = null; ; ) {
    const items = await parts.audit.accessLog(name, { limit, before });
    ids.push(...items.map(({ id }) => id));
    const last = items.at(-1);
    if (last === undefined) return ids;
    before = last;
  }
}

describe.skipIf(!mongoAvailable)("MongoDB: accesses of a long log", () => {
  databaseTest(
    "D-5.5 every access is shown once, newest first, over segments, processes and a clock set back",
    async (database) => {
      const { clock, first, lookUpMany } = await setScene(database);
      await lookUpMany(first, 4 * SEGMENT_CALLS);
      clock.set("2026-03-01T12:00:07Z");
      await lookUpMany(first, 4 * SEGMENT_CALLS);
      await segmentsWritten(
        database,
        [1, 2, 3, 4, 5, 6, 7].map((segment) => segment * SEGMENT_CALLS),
      );
      // What the first has left is listed whole when the second begins.
      const second = await openInstance(database, clock);
      await lookUpMany(second, SEGMENT_CALLS - BATCH_CALLS);
      await segmentsWritten(
        database,
        [1, 2, 3, 4, 5, 6, 7, 8].map((segment) => segment * SEGMENT_CALLS),
      );
      await lookUpMany(first, BATCH_CALLS);
      for (const { filter } of await database.db
        .collection<{ filter: Binary }>("repsync_audit_segments")
        .find()
        .toArray()) {
        // Seven for each of the three; some may be the same.
        expect([19, 20, 21]).toContain(bitsIn(filter.value()));
      }

      for (const [name, times] of [
        ["bea", 54],
        ["cyd", 12],
      ] as const) {
        const expected = await expectedIds(database, await namedTimes(database, times));
        expect(expected.length).toBe(times);
        for (const limit of [1, 7, 100])
          expect(await allIds(second, name, limit)).toEqual(expected);
      }
    },
  );

  databaseTest(
    "D-5.5 accesses of the same moment come in the order of their chains, wherever they are listed",
    async (database) => {
      const { clock, first, hash } = await setScene(database);
      const idsOf = async (limit: number) => {
        const items = await first.parts.audit.accessLog("bea", { limit, before: null });
        return items.map(({ id }) => id);
      };
      let ids: string[] = [];
      let newest: string | undefined;
      // The newest chain is in no segment yet, and searched first: here its record is not the first in order.
      do {
        await (await openInstance(database, clock)).lookUp(hash, "bea");
        const all = await idsOf(100);
        newest = all.find((id) => !ids.includes(id));
        ids = all;
        await segmentsWritten(database, Array(ids.length - 1).fill(1));
      } while (ids[0] === newest);
      expect(ids).toEqual(ids.toSorted().reverse());
      expect(await idsOf(1)).toEqual(ids.slice(0, 1));
    },
  );

  databaseTest(
    "D-1.3 pruned accesses are gone with their segments, and those behind them are still found",
    async (database) => {
      const { clock, first, lookUpMany } = await setScene(database);
      await lookUpMany(first, 3 * SEGMENT_CALLS);
      clock.advance(DAY_MS);
      await lookUpMany(first, BATCH_CALLS);
      await segmentsWritten(database, [SEGMENT_CALLS, 2 * SEGMENT_CALLS, 3 * SEGMENT_CALLS]);
      const [head] = await first.parts.audit.heads();
      const chainId = head?.statement.chainId ?? "";
      // Within a segment, and within a batch.
      const checkpoint = { chainId, seq: 850, hash: "h", at: "2026-03-02T00:00:00.000Z" };
      await first.parts.audit.prune({ statement: checkpoint, signature: "s" });
      await segmentsWritten(database, [2 * SEGMENT_CALLS, 3 * SEGMENT_CALLS]);
      const expected = await expectedIds(database, await namedTimes(database, 10));
      expect(await allIds(first, "bea", 3)).toEqual(expected);
      expect(expected.map((id) => Number(id.split("-")[1]))).toEqual([
        1811, 1711, 1611, 1511, 1411, 1311, 1211, 1111, 1011, 911,
      ]);
      expect((await first.parts.audit.accessLog("cyd", PAGE)).length).toBe(3);
    },
  );

  databaseTest(
    "what another process has left is listed once, also while it goes on",
    async (database) => {
      const { clock, first, hash, lookUpMany } = await setScene(database);
      await lookUpMany(first, BATCH_CALLS);
      const others = await Promise.all([1, 2, 3, 4].map(() => openInstance(database, clock)));
      let isOver = false;
      const goingOn = (async () => {
        // Fewer than make a segment of its own.
        for (let i = 0; i < 400 && !isOver; i++) await first.lookUp(hash, "ana");
      })();
      for (const other of others) await lookUpMany(other, 8 * BATCH_CALLS);
      isOver = true;
      await goingOn;
      const [head] = await database.db
        .collection(LEDGER)
        .find(HEADS)
        .sort({ chainNumber: 1 })
        .toArray();
      const segments = database.db.collection("repsync_audit_segments");
      const listed = await segments.countDocuments({
        chainId: chainOf(head),
      });
      expect([1, 2, 3, 4]).toContain(listed);
    },
  );

  databaseTest("D-5.5 damaged records keep nobody from seeing the others", async (database) => {
    const { clock, first, lookUpMany } = await setScene(database);
    const blocks = database.db.collection(LEDGER);
    await lookUpMany(first, 300);
    const all = await blocks.find(BLOCKS).sort({ _id: 1 }).toArray();
    const odd = [{ records: 5 }, { records: [{ subjectHmac: 7 }], at: 5 }, { records: [] }];
    for (const [i, { _id, ...block }] of all.entries()) {
      await blocks.updateOne({ _id }, { $set: odd[i] as Document });
      const other = await openInstance(database, clock);
      await lookUpMany(other, 100);
      // Two of the first three, and one of each instance since.
      expect((await other.parts.audit.accessLog("bea", PAGE)).length).toBe(2 + i + 1);
      await blocks.replaceOne({ _id }, block);
    }
  });
});

function bitsIn(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
}
