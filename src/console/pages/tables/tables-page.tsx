import type { TableList } from "../../api/interface.ts";
import { useReply } from "../../api/use-resource.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ResourceView, StatusBadge } from "../../components/notes.tsx";
import { TableRows } from "./table-rows.tsx";

const POLL_MS = 15_000;

type ListedTable = TableList["tables"][number];

/** The tables of the registry, with sync disabled too, and the rows of one. `table`: its name. D-9.4. */
export function TablesPage({ table }: Readonly<Record<string, string>>) {
  return table === undefined ? <Tables /> : <TableRows table={table} />;
}

function Tables() {
  const tables = useReply("get /api/v1/sync/tables", {}, POLL_MS);
  return (
    <ResourceView resource={tables} name="the tables">
      {(data) => (
        <DataTable
          caption="Tables of the registry"
          isCaptionHidden
          columns={COLUMNS}
          rows={data.tables}
          keyOf={({ table }) => table}
        />
      )}
    </ResourceView>
  );
}

const COLUMNS: readonly Column<ListedTable>[] = [
  {
    title: "Table",
    isHeader: true,
    cell: (listed) => (
      <>
        <a href={`/console/tables/${encodeURIComponent(listed.table)}`}>
          <bdi>{listed.table}</bdi>
        </a>{" "}
        <OwnerBadge listed={listed} />
      </>
    ),
  },
  {
    title: "Rows",
    isNumber: true,
    cell: ({ rows }) => (rows === null ? "not known" : rows.toLocaleString()),
  },
  { title: "Key", cell: ({ upsert_key: key }) => <bdi>{key.join(", ")}</bdi> },
  {
    title: "Columns",
    cell: ({ columns }) => (
      <span class="fields">
        {Object.entries(columns).map(([name, { type, nullable }]) => (
          <span key={name}>
            <bdi>{name}</bdi>{" "}
            <span class="quiet">
              {type}
              {nullable ? "" : ", never null"}
            </span>
          </span>
        ))}
      </span>
    ),
  },
];

/** Who owns a table that goes one way; a warning at one that only push and pull by themselves can move. D-11.9. */
function OwnerBadge({
  listed: { direction, timestamp_column: time },
}: {
  readonly listed: ListedTable;
}) {
  if (direction === "push") return <StatusBadge tone="idle" text="one way, owned here" />;
  if (direction === "pull") return <StatusBadge tone="idle" text="one way, owned by the remote" />;
  return time === null ? <StatusBadge tone="warning" text="no owner" /> : null;
}
