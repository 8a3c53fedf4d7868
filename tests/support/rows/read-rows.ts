// The ways to read a table, in the shortest words for tests.
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type {
  KeyRange,
  RowPosition,
  RowsPage,
  TableStore,
} from "../../../src/ports/tables/table-store.ts";

/** Which rows of a table a page at an offset holds. */
export interface PageQuery {
  readonly sinceTime: string | null;
  readonly offsetRows: number;
  readonly limitRows: number;
  readonly maxJsonBytes?: number;
}

export type CountedPage = Pick<RowsPage<number>, "rows" | "totalRows">;

type Pages = Pick<TableStore, "page">;

/** A page at an offset, with its total. */
export async function readPage(
  tables: Pages,
  table: Table,
  { offsetRows, ...query }: PageQuery,
): Promise<CountedPage> {
  const asked = { from: { offsetRows }, ...query, hasTotal: true } as const;
  const { rows, totalRows } = await tables.page(table, asked);
  return { rows, totalRows };
}

/** What runs move of the rows after a position. */
export async function readAfter(
  tables: Pages,
  table: Table,
  query: {
    readonly after: RowPosition | null;
    readonly sinceTime: string | null;
    readonly limitRows: number;
  },
): Promise<readonly Row[]> {
  const { after, ...rest } = query;
  return (await tables.page(table, { from: { after }, ...rest, columns: "sent" })).rows;
}

/** What runs move of the rows in a range of keys. */
export async function readKeyRange(
  tables: Pages,
  table: Table,
  from: KeyRange,
  limitRows: number,
): Promise<readonly Row[]> {
  return (await tables.page(table, { from, limitRows, columns: "sent" })).rows;
}
