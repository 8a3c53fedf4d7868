import type { SyncRun } from "../../api/interface.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { bytesText, durationText } from "../../components/text.tsx";

type TableResult = SyncRun["tables"][string];

interface ResultRow extends TableResult {
  readonly table: string;
}

/** What a run did, table by table. */
export function TableResults({
  tables,
}: {
  readonly tables: Readonly<Record<string, TableResult>>;
}) {
  const rows = Object.entries(tables).map(([table, result]) => ({ table, ...result }));
  const warnings = rows.flatMap(({ table, warnings: texts }) =>
    texts.map((text) => ({ table, text })),
  );
  if (rows.length === 0) return null;
  const hasDeletes = rows.some((row) => row.deleted_here + row.deleted_there > 0);
  return (
    <>
      <DataTable
        caption="Results by table"
        columns={hasDeletes ? [...COLUMNS, ...DELETES] : COLUMNS}
        rows={rows}
        keyOf={({ table }) => table}
      />
      {warnings.length > 0 && (
        <div class="note warning">
          <ul>
            {warnings.map(({ table, text }) => (
              <li key={`${table} ${text}`}>
                <bdi>{table}</bdi>: <bdi>{text}</bdi>
              </li>
            ))}
          </ul>
        </div>
      )}
    </>
  );
}

const COLUMNS: readonly Column<ResultRow>[] = [
  { title: "Table", isHeader: true, cell: ({ table }) => <bdi>{table}</bdi> },
  number("Pushed", ({ pushed }) => pushed),
  number("Pulled", ({ pulled }) => pulled),
  number("Changed", ({ changed }) => changed),
  number("Kept", ({ kept }) => kept),
  {
    title: "Rejected",
    isNumber: true,
    cell: ({ table, error_count: count }) =>
      count === 0 ? (
        "0"
      ) : (
        <a href={`/console/rejected?${new URLSearchParams({ table })}`}>{count.toLocaleString()}</a>
      ),
  },
  number("Rows here", ({ count_here: count }) => count),
  number("Rows there", ({ count_there: count }) => count),
  {
    title: "Sent, of",
    isNumber: true,
    cell: ({ bytes_compressed: sent, bytes_uncompressed: whole }) =>
      `${bytesText(sent)} of ${bytesText(whole)}`,
  },
  { title: "Took", isNumber: true, cell: ({ duration_ms: took }) => durationText(took) },
];

/** Shown where there are any. */
const DELETES: readonly Column<ResultRow>[] = [
  number("Deleted here", ({ deleted_here: count }) => count),
  number("Deleted there", ({ deleted_there: count }) => count),
];

function number(title: string, count: (row: ResultRow) => number | null): Column<ResultRow> {
  return { title, isNumber: true, cell: (row) => count(row)?.toLocaleString() ?? "–" };
}
