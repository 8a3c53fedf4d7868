import { useEffect, useState } from "preact/hooks";
import type { RejectedRecord } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { useReply } from "../../api/use-resource.ts";
import { ActionButton } from "../../components/buttons.tsx";
import { ConfirmButton } from "../../components/confirm-dialog.tsx";
import { FieldsTable } from "../../components/data-table.tsx";
import { EmptyState, ErrorNote, Facts, ResourceView } from "../../components/notes.tsx";
import { FieldsText, keyText, LongText, shortened, TimeText } from "../../components/text.tsx";
import { say } from "../../state/messages.ts";
import { useAction } from "../../state/use-action.ts";
import { setTitle } from "../../state/use-page-visit.ts";

const OUTCOMES = {
  written: "It was written",
  rejected: "It was rejected again",
  dropped: "It was dropped: the row here stays",
} as const;

/** One rejected record: the reason, and all of its fields. */
export function RejectedDetail({ id }: { readonly id: string }) {
  const rejected = useReply("get /api/v1/sync/rejected/{id}", { path: { id } });
  const [isOver, setOver] = useState(false);
  useEffect(() => setTitle("Rejected", id), [id]);

  async function afterAction() {
    await rejected.reload();
    setOver(true);
  }

  const isGone = rejected.error?.status === 404;
  return (
    <>
      <p>
        <a href="/console/rejected">All rejected records</a>
      </p>
      {isGone ? (
        <EmptyState title={isOver ? "It waits no more" : "This record waits no more"}>
          <p>It was written or dropped.</p>
        </EmptyState>
      ) : (
        <ResourceView resource={rejected} name="the rejected record">
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
                <RejectedActions record={data} onDone={afterAction} />
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
        </ResourceView>
      )}
    </>
  );
}

interface ActionsProps {
  readonly record: RejectedRecord;
  /** Called after something was done. */
  readonly onDone: () => unknown;
}

/** What can be done about a rejected record. */
export function RejectedActions({ record, onDone }: ActionsProps) {
  const { id, table, key } = record;
  const text = shortened(keyText(key), 80);
  const of = `${table} ${text}`;
  const retry = useAction(async () => {
    const { status } = await request("post /api/v1/sync/rejected/{id}/retry", { path: { id } });
    say(OUTCOMES[status]);
    await onDone();
  });

  async function drop() {
    await request("delete /api/v1/sync/rejected/{id}", { path: { id } });
    say("It was dropped");
    await onDone();
  }

  return (
    <>
      <ErrorNote error={retry.error} />
      <div class="row-actions">
        <ActionButton of={of} isBusy={retry.isBusy} onPress={retry.run}>
          Try again
        </ActionButton>
        <ConfirmButton
          name="Drop"
          of={of}
          question={`Drop the rejected record ${text} of “${table}”?`}
          onConfirm={drop}
        >
          <p>No run tries it again until it changes where it comes from.</p>
        </ConfirmButton>
      </div>
    </>
  );
}
