import { describe, expect, test } from "bun:test";
import { SystemTimer } from "../../src/adapters/system/system.ts";
import type { JsonValue } from "../../src/domain/shared/json.ts";
import type { PageQuery } from "../../src/domain/sync/rows/page.ts";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import { pullPage } from "../../src/usecases/sync/pages/pull-page.ts";
import { pushRecords } from "../../src/usecases/sync/pages/push-records.ts";
import { ownDocuments } from "../support/memory/documents.ts";
import { openMemoryTables } from "../support/memory/tables.ts";
import { MemoryLogger } from "../support/memory-logger.ts";
import { LISTINGS, makeRegistry } from "../support/rows/make-table.ts";
import { runParts } from "../support/run-parts.ts";
import { FakeClock } from "../support/time/fake-clock.ts";

const NOTHING: PageQuery = { since: null, offset: null, limit: null };

/** Pulls a page of a table that holds what pushing these records left in it. */
async function pullAfterPush(
  entry: TableEntry,
  records: readonly JsonValue[],
  query: Partial<PageQuery> = {},
) {
  const registry = makeRegistry({ items: entry });
  const table = registry.get("items")!;
  const storage = await openMemoryTables([table]);
  const write = { logger: new MemoryLogger(), clock: new FakeClock(), timer: new SystemTimer() };
  const documents = ownDocuments(write.clock, storage);
  const deps = { ...runParts(documents), tables: storage, ...write, registry, maxPageRows: 5000 };
  const push = { table, records, integrity: "no_checksum", syncTimestamp: null } as const;
  expect((await pushRecords(deps, push)).result.errorCount).toBeUndefined();
  return await pullPage(deps, "items", { ...NOTHING, ...query });
}

/** What one column of the page holds, in the order of the page. */
async function pulledValues(
  entry: TableEntry,
  pushed: { column: string; records: readonly JsonValue[]; query?: Partial<PageQuery> },
): Promise<JsonValue[]> {
  const page = await pullAfterPush(entry, pushed.records, pushed.query);
  return page.records.map((row) => row[pushed.column] ?? null);
}

describe("pullPage()", () => {
  test("S-4.1.1 pullPage() refuses a table that is not in the registry", async () => {
    const registry = makeRegistry({});
    const deps = { registry, tables: await openMemoryTables([]), maxPageRows: 5000 };
    for (const tableName of ["orders", "", "__proto__", "constructor", "PROFILES", "profiles "]) {
      const pull = pullPage(deps, tableName, NOTHING);
      await expect(pull).rejects.toMatchObject({ name: "AppError", kind: "unknown_table" });
    }
  });

  test("S-1.1, S-2.2 pullPage() serves the rows of a table in pages", async () => {
    const records = ["a", "b", "c"].map((sku) => ({ shop: "s", sku, price: "1.50", secret: "x" }));
    const first = await pullAfterPush(LISTINGS, records, { limit: "2" });
    expect(first).toMatchObject({ table: "items", since: null, count: 2, total: 3 });
    expect(first).toMatchObject({ offset: 0, limit: 2, hasMore: true, nextOffset: 2 });
    const last = await pullAfterPush(LISTINGS, records, { limit: "2", offset: "2" });
    expect(last).toMatchObject({ count: 1, total: 3, hasMore: false, nextOffset: null });
    expect(last.records).toEqual([
      {
        id: 3,
        shop: "s",
        sku: "c",
        price: "1.50",
        views: null,
        active: null,
        listed_on: null,
        updated_at: null,
        extra: null,
      },
    ]);
  });

  test("D-2.2.5 pullPage() shows no column with serialize: false", async () => {
    const page = await pullAfterPush(LISTINGS, [{ shop: "s", sku: "a", secret: "x" }]);
    expect(JSON.stringify(page)).not.toContain("secret");
  });

  test("S-4.1.2, D-3.1 pullPage() orders by timestamp, then by the upsert key", async () => {
    const times = {
      e: "2024-01-02",
      d: "2024-01-01T12:00:00.000001Z",
      c: "2024-01-01 13:00:00+01:00",
      b: "2024-01-01T12:00:00Z",
      a: "2024-01-03",
    };
    const records = Object.entries(times).map(([sku, updated_at]) => ({
      shop: "s",
      sku,
      updated_at,
    }));
    expect(await pulledValues(LISTINGS, { column: "sku", records })).toEqual([
      "b",
      "c",
      "d",
      "e",
      "a",
    ]);
  });

  test("D-3.1.2, D-3.1.3 pullPage() puts null and unparseable timestamps first, by key", async () => {
    const times = {
      f: "2024-01-01",
      d: "yesterday",
      b: null,
      c: 5,
      a: "2024-02-30",
      e: "0001-01-01",
    };
    const records = Object.entries(times).map(([sku, updated_at]) => ({
      shop: "s",
      sku,
      updated_at,
    }));
    const order = ["a", "b", "c", "d", "e", "f"];
    expect(await pulledValues(LISTINGS, { column: "sku", records })).toEqual(order);
    const query = { since: "0001-01-01" };
    expect(await pulledValues(LISTINGS, { column: "sku", records, query })).toEqual(["e", "f"]);
  });

  test("D-3.1.1 pullPage() orders text keys by their UTF-8 bytes", async () => {
    const entry: TableEntry = { upsert_key: ["k"], columns: { k: { type: "text" } } };
    const ordered = ["", "A", "Z", "a", "ab", "é", "日", "\uffff", "😀"];
    const records = ordered.toReversed().map((k) => ({ k }));
    expect(await pulledValues(entry, { column: "k", records })).toEqual(ordered);
  });

  test("D-3.1.1 pullPage() orders number keys by value", async () => {
    const ordered = [-20, -3, 0, 4, 10, 300];
    const records = ordered.toReversed().map((k) => ({ k }));
    const keyed = (type: "integer" | "bigint"): TableEntry => ({
      upsert_key: ["k"],
      columns: { k: { type } },
    });
    expect(await pulledValues(keyed("integer"), { column: "k", records })).toEqual(ordered);
    expect(await pulledValues(keyed("bigint"), { column: "k", records })).toEqual(
      ordered.map(String),
    );
  });

  test("D-3.1.1 pullPage() orders by several key columns in the order of upsert_key", async () => {
    const columns = { a: { type: "text" }, z: { type: "integer" } } as const;
    const records = [
      { a: "x", z: 2 },
      { a: "y", z: 1 },
      { a: "y", z: 2 },
      { a: "x", z: 1 },
    ];
    const rows = (await pullAfterPush({ upsert_key: ["z", "a"], columns }, records)).records;
    expect(rows.map(({ a, z }) => `${z} ${a}`)).toEqual(["1 x", "1 y", "2 x", "2 y"]);
  });

  test("S-1.6, S-4.1 pullPage() with since gives only rows at or after it", async () => {
    const records = ["2024-01-01", "2024-01-02", "2024-01-03"].map((updated_at, i) => ({
      shop: "s",
      sku: `${i}`,
      updated_at,
    }));
    const pulled = (since: string) =>
      pulledValues(LISTINGS, { column: "sku", records, query: { since } });
    expect(await pulled("2024-01-02T00:00:00Z")).toEqual(["1", "2"]);
    expect(await pulled("2024-01-02T01:00:00+01:00")).toEqual(["1", "2"]);
    expect(await pulled("2024-01-02T00:00:00.000001Z")).toEqual(["2"]);
    expect(await pulled("2025-01-01")).toEqual([]);
    expect(await pulled("last week")).toEqual(["0", "1", "2"]);
    expect(await pulled("")).toEqual(["0", "1", "2"]);
  });

  test("S-4.1 pullPage() counts in total only what matches since", async () => {
    const records = [1, 2, 3, 4].map((n) => ({
      shop: "s",
      sku: `${n}`,
      updated_at: `2024-01-0${n}`,
    }));
    const query = { since: "2024-01-02", limit: "2" };
    expect(await pullAfterPush(LISTINGS, records, query)).toMatchObject({
      since: "2024-01-02",
      count: 2,
      total: 3,
      hasMore: true,
      nextOffset: 2,
    });
  });

  test("S-4.1 pullPage() caps a page at the configured maximum", async () => {
    const registry = makeRegistry({});
    const storage = await openMemoryTables(registry.values());
    const deps = { registry, tables: storage, maxPageRows: 10 };
    const query = { ...NOTHING, limit: "11" };
    expect((await pullPage(deps, "profiles", query)).limit).toBe(10);
  });
});
