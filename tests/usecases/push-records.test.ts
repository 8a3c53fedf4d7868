import { describe, expect, test } from "bun:test";
import { SystemTimer } from "../../src/adapters/system/system.ts";
import { AppError } from "../../src/domain/shared/errors.ts";
import type { JsonValue } from "../../src/domain/shared/json.ts";
import { parseJson } from "../../src/domain/shared/json.ts";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import { pullPage } from "../../src/usecases/sync/pages/pull-page.ts";
import { pushRecords } from "../../src/usecases/sync/pages/push-records.ts";
import { ownDocuments } from "../support/memory/documents.ts";
import { MemoryTables } from "../support/memory/tables.ts";
import { MemoryLogger } from "../support/memory-logger.ts";
import { LISTINGS, makeRegistry } from "../support/rows/make-table.ts";
import { readPage } from "../support/rows/read-rows.ts";
import { runParts } from "../support/run-parts.ts";
import { FakeClock } from "../support/time/fake-clock.ts";

/** A deployment with the table `items`. */
async function deploy(entry: TableEntry, storage = new MemoryTables(new FakeClock())) {
  const registry = makeRegistry({ items: entry });
  const table = registry.get("items")!;
  await storage.prepare([table]);
  const logger = new MemoryLogger();
  const clock = new FakeClock();
  const timer = new SystemTimer();
  const deps = {
    ...runParts(ownDocuments(clock, storage)),
    ...{ tables: storage, clock, timer, logger, registry, maxPageRows: 5000 },
  };
  return {
    storage,
    logger,
    push: (records: readonly JsonValue[], syncTimestamp: string | null = null) =>
      pushRecords(deps, { table, records, integrity: "no_checksum", syncTimestamp }),
    rows: async () => {
      const query = { since: null, offset: null, limit: null };
      return (await pullPage(deps, "items", query)).records;
    },
  };
}

const COUNTERS: TableEntry = {
  upsert_key: ["k"],
  columns: {
    id: { type: "integer" },
    k: { type: "text" },
    a: { type: "integer" },
    b: { type: "integer" },
  },
};

describe("pushRecords()", () => {
  test("S-4.2.6 pushRecords() answers with a message when there are no records", async () => {
    const { push } = await deploy(COUNTERS);
    expect(await push([])).toEqual({
      isCommitted: true,
      result: { table: "items", upserted: 0, message: "No records to sync" },
    });
  });

  test("S-1.2, S-4.2.12 pushRecords() inserts new rows and updates those with the same key", async () => {
    const { push, rows } = await deploy(COUNTERS);
    await push([{ k: "x", a: 1, b: 1 }]);
    const { isCommitted, result } = await push([
      { k: "x", a: 2, b: 2 },
      { k: "y", a: 3 },
    ]);
    expect(isCommitted).toBe(true);
    expect(JSON.stringify(result)).toBe(
      '{"table":"items","received":2,"upserted":2,"integrity":"no_checksum"}',
    );
    expect(await rows()).toEqual([
      { id: null, k: "x", a: 2, b: 2 },
      { id: null, k: "y", a: 3, b: null },
    ]);
  });

  test("S-4.2.9 __all__ updates every column but the key and id", async () => {
    const { push, rows } = await deploy({ ...COUNTERS, update_columns: "__all__" });
    await push([{ id: 1, k: "x", a: 1, b: 1 }]);
    await push([{ id: 2, k: "x", a: 2, b: 2 }]);
    expect(await rows()).toEqual([{ id: 1, k: "x", a: 2, b: 2 }]);
  });

  test("S-4.2.9 a list updates the listed columns", async () => {
    const { push, rows } = await deploy({ ...COUNTERS, update_columns: ["b"] });
    await push([{ k: "x", a: 1, b: 1 }]);
    await push([
      { k: "x", a: 2, b: 2 },
      { k: "y", a: 2, b: 2 },
    ]);
    expect(await rows()).toEqual([
      { id: null, k: "x", a: 1, b: 2 },
      { id: null, k: "y", a: 2, b: 2 },
    ]);
  });

  test("S-4.2.9, D-3.6.1 an empty list ignores rows whose key exists, and counts them", async () => {
    const { push, rows } = await deploy({ ...COUNTERS, update_columns: [] });
    await push([{ k: "x", a: 1, b: 1 }]);
    const { result } = await push([
      { k: "x", a: 2, b: 2 },
      { k: "y", a: 2, b: 2 },
      { k: "y", a: 3, b: 3 },
    ]);
    expect(result).toMatchObject({ received: 3, upserted: 3 });
    expect(await rows()).toEqual([
      { id: null, k: "x", a: 1, b: 1 },
      { id: null, k: "y", a: 2, b: 2 },
    ]);
  });

  test("S-4.2.7 a missing field becomes null, in an existing row too", async () => {
    const { push, rows } = await deploy(COUNTERS);
    await push([{ k: "x", a: 1, b: 1 }]);
    await push([{ k: "x", a: 2 }]);
    expect(await rows()).toEqual([{ id: null, k: "x", a: 2, b: null }]);
  });

  test("S-4.2.7 an auto-incrementing id that is sent is ignored", async () => {
    const { push, rows } = await deploy(LISTINGS);
    await push([
      { id: 70, shop: "s", sku: "a" },
      { id: 70, shop: "s", sku: "b" },
    ]);
    expect((await rows()).map((row) => row.id)).toEqual([1, 2]);
  });

  test("D-2.2.5 a record without a column with serialize: false leaves it as it is", async () => {
    const { storage, push } = await deploy(LISTINGS);
    await push([{ shop: "s", sku: "a", price: "1", secret: "x" }]);
    await push([{ shop: "s", sku: "a", price: "2" }]);
    const open = makeRegistry({
      items: { ...LISTINGS, columns: { ...LISTINGS.columns, secret: { type: "text" } } },
    });
    await storage.prepare([open.get("items")!]);
    const query = { sinceTime: null, offsetRows: 0, limitRows: 10 };
    const { rows } = await readPage(storage, open.get("items")!, query);
    expect(rows).toMatchObject([{ price: "2", secret: "x" }]);
  });

  test("S-4.2.10, D-3.5.5, D-3.5.6 a failing record is listed and stops no other", async () => {
    const { push, rows } = await deploy(COUNTERS);
    const records = parseJson('[{"k":"x","a":1},7,{"a":2},{"k":"y","a":[]},{"k":"z","a":3}]');
    const { isCommitted, result } = await push(records as JsonValue[]);
    expect(isCommitted).toBe(true);
    expect(result).toEqual({
      table: "items",
      received: 5,
      upserted: 2,
      integrity: "no_checksum",
      errors: [
        "k=null: record is not an object",
        "k=null: k is part of the key and must not be missing or null",
        "k=y: a must not be an object or an array",
      ],
      errorCount: 3,
    });
    expect((await rows()).map((row) => row.k)).toEqual(["x", "z"]);
  });

  test("S-4.2.10 a push whose every record fails is committed with none", async () => {
    const { push, rows } = await deploy(COUNTERS);
    expect(await push([null, {}])).toMatchObject({
      isCommitted: true,
      result: { received: 2, upserted: 0, errorCount: 2 },
    });
    expect(await rows()).toEqual([]);
  });

  test("S-4.2.10 records that the store refuses are listed in the order of the request", async () => {
    const { push, rows, storage } = await deploy(COUNTERS);
    storage.refuse = (_, { a }) => (a === 13 ? "Value refused" : null);
    const { result } = await push([
      { k: "x", a: 13 },
      { a: 1 },
      { k: "y", a: 1 },
      { k: "z", a: 13 },
    ]);
    expect(result).toMatchObject({ received: 4, upserted: 1, errorCount: 3 });
    expect(result.errors).toEqual([
      "k=x: Value refused",
      "k=null: k is part of the key and must not be missing or null",
      "k=z: Value refused",
    ]);
    expect((await rows()).map((row) => row.k)).toEqual(["y"]);
  });

  test("D-3.6 the same key twice acts as if written one by one in order", async () => {
    const { push, rows } = await deploy({ ...COUNTERS, update_columns: ["b"] });
    const { result } = await push([
      { k: "x", a: 1, b: 1 },
      { k: "x", a: 2, b: 2 },
      { k: "x", a: 3, b: 3 },
    ]);
    expect(result).toMatchObject({ received: 3, upserted: 3 });
    expect(await rows()).toEqual([{ id: null, k: "x", a: 1, b: 3 }]);
  });

  test.each(["commit_failed", "store_unavailable"] as const)(
    "S-4.2.11 pushRecords() reports that nothing was committed: %s",
    async (kind) => {
      const { storage, logger, push, rows } = await deploy(COUNTERS);
      storage.failure = new AppError(kind, `Disk is full ${"x".repeat(200)}`);
      expect(await push([{ k: "x" }])).toEqual({
        isCommitted: false,
        result: { table: "items", upserted: 0, error: `Disk is full ${"x".repeat(187)}` },
      });
      expect(logger.lines).toMatchObject([{ level: "error", cause: storage.failure }]);
      storage.failure = null;
      expect(await rows()).toEqual([]);
    },
  );

  test("S-4.2.11 pushRecords() lets a bug through instead of showing its text", async () => {
    const { push, storage } = await deploy(COUNTERS);
    storage.refuse = () => {
      throw new TypeError("undefined is not a function");
    };
    await expect(push([{ k: "x" }])).rejects.toThrow(TypeError);
  });

  test("D-3.7 sync_timestamp stands in the log line and changes no row", async () => {
    const { logger, push, rows } = await deploy(LISTINGS);
    await push([{ shop: "s", sku: "a" }], "2024-02-03T04:05:06Z");
    expect(logger.lines).toEqual([
      {
        level: "info",
        message: "Push committed",
        fields: {
          table: "items",
          received: 1,
          upserted: 1,
          errorCount: undefined,
          integrity: "no_checksum",
          sync_timestamp: "2024-02-03T04:05:06Z",
        },
      },
    ]);
    expect(await rows()).toMatchObject([{ shop: "s", sku: "a", updated_at: null }]);
  });

  test("D-3.9 with conflict: newer an older record leaves the row as it is and counts", async () => {
    const { push, rows } = await deploy({ ...LISTINGS, conflict: "newer" });
    const record = (price: string, updated_at: string | null) => ({
      shop: "s",
      sku: "a",
      price,
      updated_at,
    });
    const pushed = async (price: string, updated_at: string | null) => {
      expect((await push([record(price, updated_at)])).result).toMatchObject({ upserted: 1 });
      return (await rows())[0]?.price;
    };
    expect(await pushed("1", null)).toBe("1");
    expect(await pushed("2", "yesterday")).toBe("2");
    expect(await pushed("3", "2024-01-02T00:00:00Z")).toBe("3");
    expect(await pushed("4", "2024-01-01T23:59:59.999999Z")).toBe("3");
    expect(await pushed("5", null)).toBe("3");
    expect(await pushed("6", "2024-01-02 01:00:00+01:00")).toBe("6");
    expect(await pushed("7", "2024-01-02T00:00:00.000001Z")).toBe("7");
  });

  test("D-3.3 rows that were pulled and are pushed again stay as they are", async () => {
    const text =
      '[{"shop":"s","sku":"a","price":1.10,"views":9007199254740993,"active":"yes",' +
      '"listed_on":"2024-02-03T23:00:00-08:00","updated_at":"2024-02-03 04:05:06.1234569",' +
      '"extra":{"n":1.0,"big":12345678901234567890}},' +
      '{"shop":1.50,"sku":true,"price":"n/a","views":"many","active":[],"listed_on":5,' +
      '"updated_at":"soon","extra":"x"}]';
    const { push, rows } = await deploy(LISTINGS);
    await push(parseJson(text) as JsonValue[]);
    const pulled = JSON.stringify(await rows());
    expect(pulled).toBe(
      '[{"id":2,"shop":1.50,"sku":true,"price":"n/a","views":"many","active":false,' +
        '"listed_on":5,"updated_at":"soon","extra":"x"},' +
        '{"id":1,"shop":"s","sku":"a","price":"1.10","views":"9007199254740993","active":true,' +
        '"listed_on":"2024-02-03","updated_at":"2024-02-03T04:05:06.123456Z",' +
        '"extra":{"n":1.0,"big":12345678901234567890}}]',
    );
    await push(parseJson(pulled) as JsonValue[]);
    expect(JSON.stringify(await rows())).toBe(pulled);
  });
});
