import type { RejectedRecord } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { useResource } from "../../api/use-resource.ts";
import type { Column } from "../../components/data-table.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { SelectField } from "../../components/field.tsx";
import { ListView } from "../../components/list-view.tsx";
import { LongText } from "../../components/long-text.tsx";
import { counted } from "../../components/numbers.ts";
import { TimeText } from "../../components/time-text.tsx";
import { queryValue, setQuery } from "../../state/router.ts";
import { useTableNames } from "../tables/use-sync-status.ts";
import { FieldsText } from "../tables/value-text.tsx";
import { RejectedActions } from "./rejected-actions.tsx";

const PAGE_SIZE = 20;
const POLL_MS = 10_000;

/** The rejected records, the newest first, of the table that the address names. */
export function RejectedList() {
  const [table, cursor] = [queryValue("table"), queryValue("cursor")];
  const names = useTableNames();
  const rejected = useResource(
    (signal) =>
      request("get /api/v1/sync/rejected", {
        query: {
          limit: PAGE_SIZE,
          ...(table === "" ? {} : { table }),
          ...(cursor === "" ? {} : { cursor }),
        },
        signal,
      }),
    { key: `${table} ${cursor}`, pollMs: POLL_MS },
  );
  const known = table === "" || names.includes(table) ? names : [...names, table];
  return (
    <>
      <div class="form-row">
        <SelectField
          label="Table"
          value={table}
          onValue={(value) => setQuery({ table: value, cursor: "" })}
          options={[["", "All tables"], ...known.map((name) => [name, name] as const)]}
        />
      </div>
      <ListView
        resource={rejected}
        caption="Rejected records"
        columns={columns(rejected.reload)}
        keyOf={({ id }) => id}
        empty={
          <EmptyState
            title={table === "" ? "Nothing was rejected" : "Nothing of this table was rejected"}
          >
            <p>A record that an end rejects waits here, and the next run tries it again first.</p>
          </EmptyState>
        }
      />
    </>
  );
}

function columns(onDone: () => unknown): readonly Column<RejectedRecord>[] {
  return [
    {
      title: "Record",
      isHeader: true,
      cell: ({ id, table, key }) => (
        <>
          <a href={`/console/rejected/${encodeURIComponent(id)}`}>
            <bdi class="value">{table}</bdi>
          </a>
          <FieldsText fields={key} maxChars={40} />
        </>
      ),
    },
    { title: "Reason", cell: (record) => <Reason record={record} /> },
    {
      title: "Actions",
      cell: (record) => <RejectedActions record={record} onDone={onDone} />,
    },
  ];
}

function Reason({ record }: { readonly record: RejectedRecord }) {
  const { message, direction, attempts, last_at: lastAt } = record;
  return (
    <>
      <LongText text={message} />
      <p class="quiet row-note">
        Rejected {direction === "push" ? "there" : "here"}, {counted(attempts, "try", "tries")}, the
        last <TimeText at={lastAt} />
      </p>
    </>
  );
}
