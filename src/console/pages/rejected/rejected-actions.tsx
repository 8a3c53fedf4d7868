import type { RejectedRecord } from "../../api/interface.ts";
import { request } from "../../api/request.ts";
import { useAction } from "../../api/use-action.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { ConfirmButton } from "../../components/confirm-dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { say } from "../../state/messages.ts";
import { keyText } from "../tables/value-text.tsx";

const SHOWN_CHARS = 80;

const OUTCOMES = {
  written: "It was written",
  rejected: "It was rejected again",
  dropped: "It was dropped: the row here stays",
} as const;

/** What can be done about a rejected record. */
export function RejectedActions({
  record,
  onDone,
}: {
  readonly record: RejectedRecord;
  /** Called after something was done. */
  readonly onDone: () => unknown;
}) {
  const { id, table, key } = record;
  const whole = keyText(key);
  const text = whole.length > SHOWN_CHARS ? `${whole.slice(0, SHOWN_CHARS)}…` : whole;
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
        <ActionButton of={`${table} ${text}`} isBusy={retry.isBusy} onPress={retry.run}>
          Try again
        </ActionButton>
        <ConfirmButton
          name="Drop"
          of={`${table} ${text}`}
          question={`Drop the rejected record ${text} of “${table}”?`}
          onConfirm={drop}
        >
          <p>No run tries it again until it changes where it comes from.</p>
        </ConfirmButton>
      </div>
    </>
  );
}
