import { useRef } from "preact/hooks";
import type { ListedTable, RequestOptions, RowList } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import type { Column } from "../../components/data-table.tsx";
import { NAME_HINTS, type Options } from "../../components/form.tsx";
import { type Filter, type ListDescription, ListPage } from "../../components/list-page.tsx";
import { PageHead } from "../../components/notes.tsx";
import { type Fields, isBlank, ValueText, valueText } from "../../components/text.tsx";
import { queryValues } from "../../state/router.ts";
import { ALL_TABLES, IMPORT, rowAddress, tableAddress } from "./row-page.tsx";
import { chosenColumns, namesIn, RowTools } from "./row-tools.tsx";

const FROM = "get /api/v1/sync/rows/{table_name}";
type Rows = ListDescription<typeof FROM>;

const FILTERS: readonly Filter[] = [
  {
    name: "key",
    label: "Key",
    hint: 'Exact; a key of several columns as {"shop": "a", "sku": "b"}',
    hints: NAME_HINTS,
  },
  {
    name: "since",
    label: "Since",
    hint: "Changed at or after, such as 2026-01-31T12:00:00Z",
    hints: { spellcheck: false },
    toAddress: (typed) => typed.trim(),
  },
];

const FROM_END = ["-key", "Key, from the end"] as const;
const BY_TIME: Options = [
  ["", "Time, oldest first"],
  ["-time", "Time, newest first"],
];

interface TableRowsProps {
  readonly table: string;
  /** Null until it is loaded. */
  readonly listed: ListedTable | null;
}

/** The rows of a table, filtered as the address says. */
export function TableRows({ table, listed }: TableRowsProps) {
  const isStopped = useRef(false);
  const list: Rows = {
    from: FROM,
    caption: `Rows of ${table}`,
    isCaptionHidden: true,
    isDense: true,
    limit: 50,
    filters: [...FILTERS, orderOf(listed)],
    query: { where: queryValues("where") },
    read: (options, show) => lookThrough(options, show, isStopped),
    // Only the registry knows the key.
    keyOf: (row, position) => (listed === null ? position : rowAddress(listed, row)),
    columns: (rows) => columnsOf(rows, listed),
    empty: [
      "This table has no rows",
      <>
        <a href="/console/runs">Start a pull</a>, or{" "}
        <a href={tableAddress(table, IMPORT)}>import a file</a>.
      </>,
    ],
    unmatched: ["No row fits", <a href={tableAddress(table)}>Show all rows</a>],
  };
  return (
    <>
      <PageHead back={ALL_TABLES} shown={table}>
        <bdi>{table}</bdi>
      </PageHead>
      <ListPage
        list={list}
        path={{ table_name: table }}
        tools={(found) => (
          <RowTools
            table={table}
            columns={Object.keys(listed?.columns ?? {})}
            found={found}
            onStop={() => (isStopped.current = true)}
          />
        )}
      />
    </>
  );
}

/** Looks for filtered rows until the page is full, and shows them as they are found. */
async function lookThrough(
  options: RequestOptions<typeof FROM>,
  show: (soFar: RowList) => void,
  isStopped: { current: boolean },
): Promise<RowList> {
  isStopped.current = false;
  const { query } = options;
  const wanted = query.limit ?? 0;
  let part = await request(FROM, options);
  const items = [...part.items];
  while (part.total === null && part.next_cursor !== null && items.length < wanted) {
    if (isStopped.current) break;
    show({ ...part, items: [...items] });
    const next = { ...query, cursor: part.next_cursor, limit: wanted - items.length };
    part = await request(FROM, { ...options, query: next });
    items.push(...part.items);
  }
  return { ...part, items };
}

/** Until the table is loaded, any order of the address counts. */
function orderOf(listed: ListedTable | null): Filter {
  const hasTime = listed?.timestamp_column !== null;
  const options: Options = hasTime
    ? [...BY_TIME, ["key", "Key"], FROM_END]
    : [["", "Key"], FROM_END];
  return { name: "order", label: "Order", options };
}

/** The first column of the key links to the row's page. */
function columnsOf(rows: readonly Fields[], listed: ListedTable | null): readonly Column<Fields>[] {
  const known = listed === null ? namesIn(rows) : Object.keys(listed.columns);
  const shown = chosenColumns(known);
  const [first] = listed?.upsert_key ?? [];
  const names = first === undefined || shown.includes(first) ? shown : [first, ...shown];
  return names.map((title) => ({
    title,
    isHeader: title === first,
    cell: (row) =>
      listed !== null && title === first ? (
        <RowLink address={rowAddress(listed, row)} value={row[title]} />
      ) : (
        <ValueText value={row[title]} />
      ),
  }));
}

/** A long value stands beside the link, which must not hold a button. */
function RowLink({ address, value }: { readonly address: string; readonly value: unknown }) {
  const text = valueText(value);
  if (text.length <= LINK_CHARS && !isBlank(text)) {
    return (
      <a href={address}>
        <ValueText value={value} />
      </a>
    );
  }
  return (
    <>
      <a href={address}>Open</a> <ValueText value={value} />
    </>
  );
}

const LINK_CHARS = 100;
