import type { RejectedRecord } from "../../api/interface.ts";
import { ActionButton } from "../../components/buttons.tsx";
import { ConfirmButton } from "../../components/confirm-dialog.tsx";
import { FieldsTable } from "../../components/data-table.tsx";
import { EmptyState, Facts, Loaded, PageHead } from "../../components/notes.tsx";
import { FieldsText, keyText, LongText, shortened, TimeText } from "../../components/text.tsx";
import { change } from "../../state/use-action.ts";

const OUTCOMES = {
  written: "It was written",
  rejected: "It was rejected again",
  dropped: "It was dropped: the row here stays",
} as const;

/** One rejected record: the reason, and all of its fields. */
export function RejectedDetail({ id }: { readonly id: string }) {
  const gone = (
    <EmptyState title="This record waits no more">
      <p>It was written or dropped.</p>
    </EmptyState>
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
                <p>It was removed where it comes from. Drop it here.</p>
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

/** What can be done about a rejected record. */
export function RejectedActions({ record }: { readonly record: RejectedRecord }) {
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
