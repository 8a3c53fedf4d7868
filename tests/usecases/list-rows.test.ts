// How far one request looks through a table.
import { describe, expect, test } from "bun:test";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import type { Row } from "../../src/domain/sync/table/table.ts";
import type { TableStore } from "../../src/ports/tables/table-store.ts";
import { type ListRowsQuery, listRows } from "../../src/usecases/sync/pages/list-rows.ts";
import { openMemoryTables } from "../support/memory/tables.ts";
import { makeRegistry } from "../support/rows/make-table.ts";
import { FakeClock } from "../support/time/fake-clock.ts";

const ENTRY: TableEntry = {
  upsert_key: ["k"],
  columns: { k: { type: "integer" }, v: { type: "text" } },
};

/** A list of a table in which each page takes `pageMs`; `onPage` is called before each. */
async function openList(rows: readonly Row[], { pageMs = 0, onPage = (_: number) => {} } = {}) {
  const registry = makeRegistry({ items: ENTRY });
  const table = registry.get("items")!;
  const storage = await openMemoryTables([table]);
  for (const row of rows) storage.writeOwn(table, row);
  const clock = new FakeClock();
  const lengths: number[] = [];
  const page: TableStore["page"] = async (of, query) => {
    onPage(lengths.length);
    const read = await storage.page(of, query);
    lengths.push(read.rows.length);
    clock.advance(pageMs);
    return read;
  };
  const tables = { page, byKeys: storage.byKeys.bind(storage) } as TableStore;
  const list = (query: ListRowsQuery) => listRows({ registry, tables, clock }, "items", query);
  return { list, lengths, storage, table };
}

const numbered = (count: number, v: (k: number) => string = () => "no") =>
  Array.from({ length: count }, (_, k) => ({ k, v: v(k) }));

describe("listRows()", () => {
  test("D-14.5 a filtered list looks for 300 ms a request, and goes on where it was", async () => {
    const rows = numbered(8_000, (k) => (k === 7_999 ? "Yes" : "no"));
    const { list, lengths } = await openList(rows, { pageMs: 100 });
    const first = await list({ where: ["v:yes"] });
    expect([first.items, first.total]).toEqual([[], null]);
    expect(lengths).toEqual([250, 500, 1_000]);
    const parts = [first];
    while (parts.at(-1)?.nextCursor) {
      parts.push(await list({ where: ["v:yes"], cursor: parts.at(-1)?.nextCursor ?? null }));
    }
    expect(parts.flatMap(({ items }) => items)).toEqual([{ k: 7_999, v: "Yes" }]);
    expect(parts).toHaveLength(5);
  });

  test("D-14.5 a filter that names the whole key looks at that row only", async () => {
    const { list, lengths } = await openList(numbered(8_000), { pageMs: 100 });
    const found = { table: "items", items: [{ k: 7_999, v: "no" }], nextCursor: null, total: 1 };
    expect(await list({ where: ["k:7999"] })).toEqual(found);
    expect(await list({ where: ["v:N", "k:7999"] })).toEqual(found);
    for (const where of [["k:8000"], ["k:7999", "v:yes"], ["k:7999", "k:1"]]) {
      expect(await list({ where })).toEqual({ ...found, items: [], total: 0 });
    }
    expect(lengths).toEqual([]);
  });

  test("D-14.5 a full page ends behind its last row, whichever have changed meanwhile", async () => {
    const rows = numbered(600, (k) => (k % 3 === 0 ? "yes" : "no"));
    const opened = await openList(rows, {
      onPage: (n) => {
        // Before the page is read anew as far as it fits.
        if (n === 1) opened.storage.writeOwn(opened.table, { k: 1, v: "yes" });
      },
    });
    const first = await opened.list({ where: ["v:yes"], limit: "4" });
    expect(first.items.map(({ k }) => k)).toEqual([0, 1, 3, 6]);
    const rest = await opened.list({ where: ["v:yes"], cursor: first.nextCursor, limit: "1000" });
    expect(rest.items[0]).toEqual({ k: 9, v: "yes" });
    expect([rest.items.length, rest.nextCursor]).toEqual([197, null]);
  });

  test("D-14.5 a filtered page has 4 MiB of rows at most, and one row at least", async () => {
    const large = "yes".padEnd(3 * 1024 * 1024, "x");
    const { list } = await openList(numbered(4, () => large));
    const keys: unknown[] = [];
    for (let cursor: string | null = null, parts = 1; ; parts++) {
      const part = await list({ where: ["v:YES"], cursor });
      keys.push(...part.items.map(({ k }) => k));
      cursor = part.nextCursor;
      if (cursor !== null) continue;
      expect([keys, parts]).toEqual([[0, 1, 2, 3], 4]);
      return;
    }
  });
});
