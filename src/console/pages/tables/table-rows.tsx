import { useEffect, useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import { type Resource, useResource } from "../../api/use-resource.ts";
import { ActionForm } from "../../components/action-form.tsx";
import type { Column } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { Field } from "../../components/field.tsx";
import { ListView } from "../../components/list-view.tsx";
import { counted } from "../../components/numbers.ts";
import { queryValue, setQuery } from "../../state/router.ts";
import { setTitle } from "../../state/use-page-visit.ts";
import { CopyRows } from "./copy-rows.tsx";
import { type Fields, ValueText } from "./value-text.tsx";

const PAGE_SIZE = 50;

/** The rows of a table in pages, with what the address says as filter. */
export function TableRows({ table }: { readonly table: string }) {
  const filter = { key: queryValue("key"), since: queryValue("since") };
  const query = { ...filter, cursor: queryValue("cursor") };
  const rows = useResource(
    (signal) =>
      request("get /api/v1/sync/rows/{table_name}", {
        path: { table_name: table },
        query: { limit: PAGE_SIZE, ...given(query) },
        signal,
      }),
    { key: JSON.stringify(query) },
  );
  useEffect(() => setTitle("Tables", table), [table]);
  const items = rows.data?.items ?? [];
  return (
    <>
      <p>
        <a href="/console/tables">All tables</a>
      </p>
      <h2>
        <bdi class="value">{table}</bdi>
      </h2>
      <RowFilter key={JSON.stringify(filter)} filter={filter} />
      <div class="toolbar">
        <p class="quiet" role="status">
          {rows.data !== null && counted(rows.data.total, "row")}
        </p>
        {items.length > 0 && <CopyRows rows={items} />}
      </div>
      <ListView
        resource={numbered(rows)}
        caption={`Rows of ${table}`}
        isCaptionHidden
        isDense
        columns={columnsOf(items)}
        keyOf={({ number }) => number}
        empty={<NoRows isFiltered={filter.key + filter.since !== ""} table={table} />}
      />
    </>
  );
}

interface NumberedRow {
  readonly number: number;
  readonly row: Fields;
}

/** Rows by their place on the page: what their key is only the registry knows. */
function numbered<Page extends { readonly items: readonly Fields[] }>(rows: Resource<Page>) {
  const { data } = rows;
  if (data === null) return { ...rows, data };
  return { ...rows, data: { ...data, items: data.items.map((row, number) => ({ number, row })) } };
}

function columnsOf(rows: readonly Fields[]): readonly Column<NumberedRow>[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return names.map((name) => ({
    title: name,
    cell: ({ row }) => <ValueText value={row[name]} />,
  }));
}

/** What is not empty. */
function given(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
}

/** Shows what the address says, and changes it. */
function RowFilter({
  filter,
}: {
  readonly filter: { readonly key: string; readonly since: string };
}) {
  const [key, setKey] = useState(filter.key);
  const [since, setSince] = useState(filter.since);
  return (
    <ActionForm
      name="Search"
      isRow
      onSubmit={async () => setQuery({ key, since: since.trim(), cursor: "" })}
    >
      {() => (
        <>
          <Field
            label="Key"
            hint='Exact; a key of several columns as {"shop": "a", "sku": "b"}'
            value={key}
            onValue={setKey}
            hints={{ spellcheck: false, autocapitalize: "none" }}
          />
          <Field
            label="Since"
            hint="Changed at or after, such as 2026-01-31T12:00:00Z"
            value={since}
            onValue={setSince}
            hints={{ spellcheck: false }}
          />
        </>
      )}
    </ActionForm>
  );
}

function NoRows({ isFiltered, table }: { readonly isFiltered: boolean; readonly table: string }) {
  if (isFiltered) {
    return (
      <EmptyState title="No row fits">
        <p>
          <a href={`/console/tables/${encodeURIComponent(table)}`}>Show all rows</a>
        </p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="This table has no rows">
      <p>
        <a href="/console/runs">Start a pull</a>, or import a file with <code>repsync import</code>.
      </p>
    </EmptyState>
  );
}
