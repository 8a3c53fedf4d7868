import { request, type Schema } from "../../api/request.ts";
import { useResource } from "../../api/use-resource.ts";
import { type Column, DataTable } from "../../components/data-table.tsx";
import { ResourceView } from "../../components/resource-view.tsx";
import { SyncDisabled } from "./sync-disabled.tsx";
import { useSyncStatus } from "./use-sync-status.ts";

const POLL_MS = 15_000;

interface TableRow {
  readonly table: string;
  /** -1 when it could not be counted. */
  readonly count: number;
  /** Null before they are loaded; none of an empty table, as its rows tell them. */
  readonly columns: readonly string[] | null;
}

/** Every table with its columns and rows. */
export function TableList() {
  const status = useSyncStatus(POLL_MS);
  const names = status.data?.tables ?? [];
  const columns = useResource(
    async (signal) => {
      const found = names.map(async (name) => [name, await columnsOf(name, signal)] as const);
      return new Map(await Promise.all(found));
    },
    { key: JSON.stringify(names) },
  );
  return (
    <ResourceView resource={status} name="the tables">
      {(data) => (
        <DataTable
          caption="Tables of the registry"
          isCaptionHidden
          columns={COLUMNS}
          rows={rowsOf(data, columns.data)}
          keyOf={({ table }) => table}
          empty={<SyncDisabled />}
        />
      )}
    </ResourceView>
  );
}

async function columnsOf(table: string, signal: AbortSignal): Promise<readonly string[]> {
  const path = { table_name: table };
  const { items } = await request("get", "/api/v1/sync/rows/{table_name}", {
    ...{ path, query: { limit: 1 }, signal },
  });
  return Object.keys(items[0] ?? {});
}

function rowsOf(
  { tables, table_counts: counts }: Schema<"SyncStatus">,
  columns: ReadonlyMap<string, readonly string[]> | null,
): readonly TableRow[] {
  return tables.map((table) => ({
    ...{ table, count: counts[table] ?? -1 },
    columns: columns?.get(table) ?? null,
  }));
}

const COLUMNS: readonly Column<TableRow>[] = [
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
    cell: ({ count }) => (count < 0 ? "not known" : count.toLocaleString()),
  },
  {
    title: "Columns",
    cell: ({ columns }) => (
      <span class="fields">
        {columns?.map((name) => (
          <span key={name}>{name}</span>
        ))}
        {columns?.length === 0 && <span class="quiet">No rows yet</span>}
      </span>
    ),
  },
];
