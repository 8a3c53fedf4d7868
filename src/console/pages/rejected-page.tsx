import type { RejectedRecord } from "../api/interface.ts";
import { ActionButton } from "../components/buttons.tsx";
import { ConfirmButton } from "../components/confirm-dialog.tsx";
import { FieldsTable } from "../components/data-table.tsx";
import type { Options } from "../components/form.tsx";
import { type ListDescription, ListPage } from "../components/list-page.tsx";
import { EmptyState, Facts, Loaded, PageHead } from "../components/notes.tsx";
import {
  counted,
  FieldsText,
  keyText,
  LongText,
  shortened,
  TimeText,
} from "../components/text.tsx";
import { queryValue } from "../state/router.ts";
import { change } from "../state/use-service.ts";
import { useTableNames } from "./runs/run-state.tsx";

const WAITING = "A record that an end rejects waits here, and the next run tries it again first.";

const REJECTED: ListDescription<"get /api/v1/sync/rejected"> = {
  from: "get /api/v1/sync/rejected",
  caption: "Rejected records",
  limit: 20,
  pollMs: 10_000,
  keyOf: ({ id }) => id,
  columns: [
    {
      title: "Record",
      isHeader: true,
      cell: ({ id, table, key }) => (
        <>
          <a href={`/console/rejected/${encodeURIComponent(id)}`}>
            <bdi>{table}</bdi>
          </a>
          <FieldsText fields={key} maxChars={40} />
        </>
      ),
    },
    { title: "Reason", cell: (record) => <Reason record={record} /> },
    { title: "Actions", cell: (record) => <RejectedActions record={record} /> },
  ],
  empty: ["Nothing was rejected", WAITING],
  unmatched: ["Nothing of this table was rejected", WAITING],
};

/** Records that one end rejected, or the one of `id`. D-9.4. */
export function RejectedPage({ id }: Readonly<Record<string, string>>) {
  if (id === undefined) return <RejectedList />;
  return <RejectedDetail id={id} />;
}

function RejectedList() {
  // The address may name a table before the tables are loaded.
  const names = [...new Set([...useTableNames(), queryValue("table")])].filter(Boolean);
  const options: Options = [["", "All tables"], ...names];
  return <ListPage list={{ ...REJECTED, filters: [{ name: "table", label: "Table", options }] }} />;
}

function Reason({ record }: { readonly record: RejectedRecord }) {
  const { message, direction, attempts, last_at: lastAt } = record;
  return (
    <>
      <LongText text={message} />
      <div class="quiet small">
        Rejected {direction === "push" ? "there" : "here"}, {counted(attempts, "try", "tries")}, the
        last <TimeText at={lastAt} />
      </div>
    </>
  );
}

const OUTCOMES = {
  written: "It was written",
  rejected: "It was rejected again",
  dropped: "It was dropped: the row here stays",
} as const;

function RejectedDetail({ id }: { readonly id: string }) {
  const gone = (
    <EmptyState title="This record waits no more">It was written or dropped.</EmptyState>
  );
  return (
    <>
      <PageHead back={<a href="/console/rejected">All rejected records</a>} shown={id} />
      <Loaded
        from="get /api/v1/sync/rejected/{id}"
        options={{ path: { id } }}
        name="the rejected record"
        missing={gone}
      >
        {(data) => (
          <>
            <div class="card">
              <p>
                <strong>
                  <LongText text={data.message} />
                </strong>
              </p>
              <Facts
                facts={[
                  ["Table", <bdi>{data.table}</bdi>],
                  ["Key", <FieldsText fields={data.key} />],
                  ["Rejected", data.direction === "push" ? "there" : "here"],
                  ["Tries", data.attempts.toLocaleString()],
                  ["First tried", <TimeText at={data.first_at} />],
                  ["Last tried", <TimeText at={data.last_at} />],
                ]}
              />
              <RejectedActions record={data} />
            </div>
            {data.record === null ? (
              <EmptyState title="The record is gone">
                It was removed where it comes from. Drop it here.
              </EmptyState>
            ) : (
              <FieldsTable caption="The record" fields={data.record} />
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

function RejectedActions({ record }: { readonly record: RejectedRecord }) {
  const { id, table, key } = record;
  const text = shortened(keyText(key), 80);
  const of = `${table} ${text}`;
  const path = { id };
  return (
    <div class="row-actions">
      <ActionButton
        of={of}
        onPress={() =>
          change(
            "post /api/v1/sync/rejected/{id}/retry",
            { path },
            (reply) => OUTCOMES[reply.status],
          )
        }
      >
        Try again
      </ActionButton>
      <ConfirmButton
        name="Drop"
        of={of}
        question={`Drop the rejected record ${text} of “${table}”?`}
        onConfirm={() => change("delete /api/v1/sync/rejected/{id}", { path }, "It was dropped")}
      >
        <p>No run tries it again until it changes where it comes from.</p>
      </ConfirmButton>
    </div>
  );
}
