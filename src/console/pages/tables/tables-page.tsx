import type { ListedTable } from "../../api/interface.ts";
import { type Column, countColumn, DataTable } from "../../components/data-table.tsx";
import { EmptyState, Loaded, ResourceView, StatusBadge } from "../../components/notes.tsx";
import { useReply } from "../../state/use-service.ts";
import { ImportPage } from "./import-page.tsx";
import { FROM_FILE, FROM_FILE_ADDRESS, NewTable } from "./new-table.tsx";
import { ALL_TABLES, IMPORT, RowPage, tableAddress } from "./row-page.tsx";
import { TableRows } from "./table-rows.tsx";

/** The tables of the registry, also with synchronization disabled; the rows of `table`, or its row with the key `row`. D-9.4, D-14.5. */
export function TablesPage({ table, row }: Readonly<Record<string, string>>) {
  if (table === undefined) return <Tables />;
  if (table === FROM_FILE) return <NewTable />;
  return <OneTable name={table} row={row ?? null} />;
}

function OneTable({ name, row }: { readonly name: string; readonly row: string | null }) {
  const tables = useReply("get /api/v1/sync/tables", {});
  const listed = tables.data?.tables.find(({ table }) => table === name) ?? null;
  if (tables.data !== null && listed === null)
    return <EmptyState title="There is no such table">{ALL_TABLES}</EmptyState>;
  if (row === null) return <TableRows table={name} listed={listed} />;
  const Page = row === IMPORT ? ImportPage : RowPage;
  return (
    <ResourceView resource={tables} name="the table">
      {() => listed !== null && <Page listed={listed} row={row} />}
    </ResourceView>
  );
}

function Tables() {
  return (
    <Loaded from="get /api/v1/sync/tables" name="the tables" isPolled>
      {(data) => (
        <>
          <p>
            <a href={FROM_FILE_ADDRESS}>Import a file</a> to make a table of it
          </p>
          <DataTable
            caption="Tables of the registry"
            isCaptionHidden
            columns={COLUMNS}
            rows={data.tables}
            keyOf={({ table }) => table}
          />
        </>
      )}
    </Loaded>
  );
}

const COLUMNS: readonly Column<ListedTable>[] = [
  {
    title: "Table",
    isHeader: true,
    cell: (listed) => (
      <>
        <a href={tableAddress(listed.table)}>
          <bdi>{listed.table}</bdi>
        </a>{" "}
        {ownerBadge(listed)}
      </>
    ),
  },
  countColumn("Rows", ({ rows }) => rows, "not known"),
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

/** The owner of a one-way table; a warning for a table that a run in both directions cannot move. D-11.9. */
function ownerBadge({ direction, timestamp_column: time }: ListedTable) {
  if (direction === "push") return <StatusBadge tone="idle" text="one way, owned here" />;
  if (direction === "pull") return <StatusBadge tone="idle" text="one way, owned by the remote" />;
  return time === null ? <StatusBadge tone="warning" text="no owner" /> : null;
}
