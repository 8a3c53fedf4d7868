// Rows that other tools wrote, and what does not fit one document.

import { describe, expect } from "bun:test";
import { Decimal128, type Document, Double, Long, ObjectId } from "mongodb";
import type { Row } from "../../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readAfter, readKeyRange, readPage } from "../../../support/rows/read-rows.ts";
import { commitAlone, writeTo } from "../../../support/rows/write-to.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { databaseTest as it } from "../support.ts";

const EVENTS = makeTable(
  {
    timestamp_column: "at",
    upsert_key: ["shop", "n"],
    columns: { shop: { type: "text" }, n: { type: "integer" }, at: { type: "datetime" } },
  },
  "events",
);

/** Values as tools write them, of every place in the order of BSON. */
const VALUES = [
  undefined,
  null,
  1704067200,
  new Double(1.5),
  Long.fromString("9007199254740993"),
  Decimal128.fromString("1e40"),
  "",
  "2024-01-01T00:00:00",
  "2024-01-01T00:00:00Z",
  "2024-01-01 00:00:00",
  "tomorrow",
  { a: 1 },
  { json: "5" },
  new ObjectId("0123456789abcdef01234567"),
  false,
  new Date("2024-01-01T00:00:00Z"),
  /^a/,
];

describe.skipIf(!mongoAvailable)("MongoDB: rows of other tools, read for runs", () => {
  for (const limitRows of [1, 2, 5]) {
    it(`D-4.6 page() after a row gives each row once, ${limitRows} at a time, whatever its time is`, async (database) => {
      const storage = await database.open();
      await storage.tables.prepare([EVENTS]);
      const documents = [0, 1, 2].flatMap((n) => VALUES.map((at, i) => withTime(at, n * 100 + i)));
      await database.db.collection("events").insertMany(documents);
      const query = { sinceTime: null, limitRows };
      const rows = await walk((after) => readAfter(storage.tables, EVENTS, { ...query, after }));
      const page = { sinceTime: null, offsetRows: 0, limitRows: 100 };
      expect(rows).toEqual((await readPage(storage.tables, EVENTS, page)).rows);
      expect(rows.length).toBe(documents.length);
      const since = { sinceTime: "2024-01-01T00:00:00Z", limitRows };
      const later = await walk((after) => readAfter(storage.tables, EVENTS, { ...since, after }));
      expect(new Set(later.map(({ n }) => Number(n) % 100))).toEqual(new Set([7, 8, 10, 15]));
      expect(later.length).toBe(12);
      expect(await storage.tables.count(EVENTS, { sinceTime: since.sinceTime, hasKey: true })).toBe(
        12,
      );
    });
  }

  it("D-4.6 rows are read on from by keys of any type", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([EVENTS]);
    const keys = VALUES.filter((value) => value !== undefined && value !== null);
    const documents = keys.flatMap((shop) => keys.map((n) => ({ shop, n, at: null })));
    await database.db.collection("events").insertMany(documents);
    const range = (limitRows: number) =>
      walk((afterKey) =>
        readKeyRange(storage.tables, EVENTS, { afterKey, throughKey: null }, limitRows),
      );
    const rows = await range(1000);
    expect(rows.length).toBe(documents.length);
    expect(await range(7)).toEqual(rows);
    for (const [i, row] of rows.entries()) {
      if (i % 10 !== 0) continue;
      const bounds = { afterKey: row, throughKey: rows[i + 3] ?? null };
      const part = await readKeyRange(storage.tables, EVENTS, bounds, 1000);
      expect(part).toEqual(rows.slice(i + 1, rows[i + 3] === undefined ? undefined : i + 4));
    }
  });

  it("D-4.6, D-14.5 rows without a key, or with a list in it, are left out", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([EVENTS]);
    await database.db
      .collection("events")
      .insertMany([
        { shop: "a", at: "2024-01-01T00:00:00" },
        { n: 1, at: "2024-01-01T00:00:00" },
        { shop: null, n: 2, at: null },
        { at: null },
        { shop: ["a", "c"], n: 3, at: null },
        { shop: "b", n: 4, at: "2024-01-01T00:00:00" },
      ]);
    const row = { shop: "b", n: 4, at: "2024-01-01T00:00:00Z" };
    const query = { after: null, sinceTime: null, limitRows: 10 };
    expect(await readAfter(storage.tables, EVENTS, query)).toEqual([row]);
    for (const order of ["key", "-key", "-time"] as const) {
      const page = { from: { cursor: null }, order, limitRows: 10 };
      expect((await storage.tables.page(EVENTS, page)).rows).toEqual([row]);
    }
    const range = { afterKey: null, throughKey: null };
    expect(await readKeyRange(storage.tables, EVENTS, range, 10)).toEqual([row]);
    for (const throughKey of [
      { shop: null, n: 2 },
      { shop: "a", n: 3 },
    ]) {
      const through = { afterKey: null, throughKey };
      expect(await readKeyRange(storage.tables, EVENTS, through, 10)).toEqual([]);
    }
    const keys = [{ shop: "a", n: 3 }, { shop: "a" }, { n: 1 }, row];
    expect(await storage.tables.byKeys(EVENTS, keys, "sent")).toEqual([row]);
    expect(
      await storage.tables.count(EVENTS, { sinceTime: "2024-01-01T00:00:00Z", hasKey: true }),
    ).toBe(1);
  });

  it("D-4.6 reads look at no more of an index than they give back", async (database) => {
    const storage = await database.open();
    await storage.tables.prepare([EVENTS]);
    const rows = Array.from({ length: 2_000 }, (_, n) => ({
      shop: `shop ${n % 3}`,
      n,
      at: n < 1_000 ? null : `2024-01-01T00:00:${10 + (n % 50)}Z`,
    }));
    const writes = rows.map((row, index) => ({ index, row }));
    await writeTo(storage, EVENTS, writes);
    await database.db.command({ profile: 2 });
    const after = { shop: "shop 0", n: 999, at: null };
    const sinceTime = "2024-01-01T00:00:30Z";
    await readAfter(storage.tables, EVENTS, { after, sinceTime: null, limitRows: 10 });
    await readAfter(storage.tables, EVENTS, { after, sinceTime, limitRows: 10 });
    await readAfter(storage.tables, EVENTS, {
      after: rows[1_900] as Row,
      sinceTime,
      limitRows: 10,
    });
    await readKeyRange(storage.tables, EVENTS, { afterKey: after, throughKey: null }, 10);
    await readKeyRange(storage.tables, EVENTS, { afterKey: null, throughKey: after }, 10);
    await storage.tables.byKeys(EVENTS, rows.slice(100, 110), "sent");
    await database.db.command({ profile: 0 });
    const reads = await database.db
      .collection("system.profile")
      .find({ "command.find": "events" }, { sort: { ts: 1 } })
      .toArray();
    // Each of the first three looks for BSON dates before.
    expect(reads.length).toBe(9);
    for (const { keysExamined, docsExamined, hasSortStage } of reads) {
      expect(keysExamined).toBeLessThanOrEqual(21);
      expect(docsExamined).toBeLessThanOrEqual(11);
      expect(hasSortStage).toBeUndefined();
    }
  });
});

describe.skipIf(!mongoAvailable)("MongoDB: rejected records", () => {
  it("D-4.6 a record larger than any document is noted, replaced and dropped", async (database) => {
    const storage = await database.open();
    const { rejected } = storage;
    const items = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } });
    await storage.tables.prepare([items]);
    const text = "a😀é".repeat(2_500_000);
    const refusal = {
      table: "a",
      direction: "pull",
      key: { k: 1 },
      ...{ fingerprint: "f", lastAtMs: 1 },
    } as const;
    const query = { table: "a", direction: null, limit: 10, behindId: null };
    const parts = database.db.collection("repsync_rejected_texts");
    const large = { ...refusal, record: { k: 1, text }, message: "Too large" };
    await commitAlone(storage, items, { rejected: [large] });
    const [entry] = await rejected.list(query);
    expect(entry?.record?.["text"] === text).toBe(true);
    expect(await parts.countDocuments()).toBe(11);
    const small = { ...refusal, record: { k: 1 }, message: "Small" };
    await commitAlone(storage, items, { rejected: [small] });
    expect((await rejected.list(query))[0]).toMatchObject({ record: { k: 1 }, attempts: 2 });
    expect(await parts.countDocuments()).toBe(1);
    const accepted = { table: "a", direction: "pull", keys: [{ k: 1 }] } as const;
    await commitAlone(storage, items, { accepted });
    expect(await parts.countDocuments()).toBe(0);
  });

  it("D-4.8 a lease that was given up leaves no document", async (database) => {
    const { leases } = await database.open();
    const lease = await leases.acquire({ name: "sync run 1", holder: "1", ttlMs: 60_000 });
    if ("release" in lease) await lease.release();
    expect(await database.db.collection("repsync_leases").countDocuments()).toBe(0);
  });

  it("D-2.4 a key too wide for an index is told with its table", async (database) => {
    const { tables } = await database.open();
    const names = Array.from({ length: 33 }, (_, i) => `k${i}`);
    const columns = Object.fromEntries(names.map((name) => [name, { type: "text" } as const]));
    const wide = makeTable({ upsert_key: names, columns }, "wide");
    await expect(tables.prepare([wide])).rejects.toMatchObject({
      kind: "schema_conflict",
      message: expect.stringContaining('Table "wide": its order has 33 columns'),
    });
  });
});

function withTime(at: unknown, n: number): Document {
  return { shop: "s", n, ...(at === undefined ? {} : { at }) };
}

async function walk(read: (after: Row | null) => Promise<readonly Row[]>): Promise<Row[]> {
  const walked: Row[] = [];
  for (;;) {
    const rows = await read(walked.at(-1) ?? null);
    if (rows.length === 0) return walked;
    walked.push(...rows);
    if (walked.length > 1000) throw new Error("The walk comes to no end");
  }
}
