import { request, type Schema } from "../../api/request.ts";
import { useResource } from "../../api/use-resource.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ResourceView } from "../../components/resource-view.tsx";

const POLL_MS = 15_000;

type ListedTable = Schema<"ListedTable">;

/** Every table of the registry with its columns and rows, with sync disabled too. */
export function TableList() {
  const tables = useResource((signal) => request("get", "/api/v1/sync/tables", { signal }), {
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
    cell: ({ table }) => (
      <a href={`/console/tables/${encodeURIComponent(table)}`}>
        <bdi class="value">{table}</bdi>
      </a>
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

function Names({ names }: { readonly names: readonly string[] }) {
  return <bdi class="value">{names.join(", ")}</bdi>;
}
