import type { TableList as Tables } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { useResource } from "../../api/use-resource.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";

const POLL_MS = 15_000;

type ListedTable = Tables["tables"][number];

/** Every table of the registry with its columns and rows, with sync disabled too. */
export function TableList() {
  const tables = useResource((signal) => request("get /api/v1/sync/tables", { signal }), {
    pollMs: POLL_MS,
  });
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
          <bdi class="value">{listed.table}</bdi>
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
  { title: "Key", cell: ({ upsert_key: key }) => <Names names={key} /> },
  {
    title: "Columns",
    cell: ({ columns }) => (
      <span class="fields">
        {Object.entries(columns).map(([name, { type, nullable }]) => (
          <span key={name}>
            <bdi class="value">{name}</bdi>{" "}
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

function Names({ names }: { readonly names: readonly string[] }) {
  return <bdi class="value">{names.join(", ")}</bdi>;
}
