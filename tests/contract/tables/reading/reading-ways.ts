// The tables of the suites of reading, and every way to read their rows in the order of the table and in that of the key.
import { expect } from "bun:test";
import type { RowOrder } from "../../../../src/domain/sync/by-hand/shown-rows.ts";
import type { ColumnValue, Row, Table } from "../../../../src/domain/sync/table/table.ts";
import type { PageStart, RowsPage, TableStore } from "../../../../src/ports/tables/table-store.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readAfter } from "../../../support/rows/read-rows.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import type { RunStorage } from "../../../support/run-parts.ts";
import { asWrites } from "../table-under-test.ts";

/** What the suites of reading look at. */
export type ReadingParts = Pick<RunStorage, "tables" | "documents" | "close">;

export const EVENTS = makeTable(
  {
    timestamp_column: "at",
    upsert_key: ["name"],
    columns: { name: { type: "text" }, at: { type: "datetime" } },
  },
  "events",
);

export const DAYS = makeTable(
  {
    timestamp_column: "day",
    upsert_key: ["name"],
    columns: { name: { type: "text" }, day: { type: "date" } },
  },
  "days",
);

export const PLAIN = makeTable(
  {
    upsert_key: ["shop", "number"],
    columns: { number: { type: "bigint" }, note: { type: "text" }, shop: { type: "text" } },
  },
  "plain",
);

/** A page as a walk has read it. */
interface Walked {
  readonly last: Row | null;
  readonly rows: number;
  readonly cursor: string | null;
}

/** Where the next page of a walk begins. */
const WAYS: Readonly<
  Record<"offset" | "cursor" | "position" | "key", (walked: Walked) => PageStart>
> = {
  offset: ({ rows }) => ({ offsetRows: rows }),
  cursor: ({ cursor }) => ({ cursor }),
  position: ({ last }) => ({ after: last }),
  key: ({ last }) => ({ afterKey: last, throughKey: null }),
};

interface WalkQuery {
  readonly sinceTime?: string | null;
  /** Absent: 3. */
  readonly limitRows?: number;
  readonly maxJsonBytes?: number;
  /** Only at a cursor. */
  readonly order?: RowOrder;
}

/** All rows, page by page, each from the end of the one before, in one of the ways. */
export async function walk(
  tables: Pick<TableStore, "page">,
  table: Table,
  way: keyof typeof WAYS,
  query: WalkQuery = {},
): Promise<Row[]> {
  const walked: Row[] = [];
  for (let cursor: string | null = null; ; ) {
    const from: PageStart = WAYS[way]({ last: walked.at(-1) ?? null, rows: walked.length, cursor });
    const page: RowsPage = await tables.page(table, { limitRows: 3, ...query, from });
    walked.push(...page.rows);
    cursor = page.cursor;
    expect(cursor?.length ?? 0).toBeLessThanOrEqual(4_000);
    if (page.rows.length === 0 || (way === "cursor" && cursor === null)) return walked;
    if (walked.length > 1_000) throw new Error("The walk comes to no end");
  }
}

/** The rows in the order of the table: at offsets, at cursors and after positions, which all give the same. */
export async function readInOrder(
  { tables }: Pick<ReadingParts, "tables">,
  table: Table,
  query: WalkQuery = {},
): Promise<Row[]> {
  const rows = await walk(tables, table, "offset", query);
  for (const way of ["cursor", "position"] as const) {
    expect(JSON.stringify(await walk(tables, table, way, query))).toBe(JSON.stringify(rows));
  }
  return rows;
}

/** Prepares a table that has these rows, each written after the one before. */
export async function prepared(
  storage: ReadingParts,
  table: Table,
  rows: readonly Row[],
): Promise<void> {
  await storage.tables.prepare([table]);
  await write(storage, table, rows);
}

export async function write(
  storage: ReadingParts,
  table: Table,
  rows: readonly Row[],
): Promise<void> {
  expect((await writeTo(storage, table, asWrites(rows))).failures).toEqual([]);
}

/** Names of the events that `page() after a row` gives. */
export async function namesOfEvents(
  storage: ReadingParts,
  query: Partial<Parameters<typeof readAfter>[2]>,
): Promise<ColumnValue[]> {
  const everything = { after: null, sinceTime: null, limitRows: 100 };
  const rows = await readAfter(storage.tables, EVENTS, { ...everything, ...query });
  return rows.map((row) => row["name"] ?? null);
}
