import { useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import { asRequestError, type RequestError } from "../../api/request-error.ts";
import { ActionButton } from "../../components/action-button.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { say } from "../../state/messages.ts";

/** Ends a run or a comparison before its next write. Busy until it has ended. D-7.8. */
export function CancelRun({
  runId,
  onEnd,
}: {
  readonly runId: string;
  readonly onEnd?: () => unknown;
}) {
  const [error, setError] = useState<RequestError | null>(null);

  async function cancel() {
    setError(null);
    try {
      await request("post /api/v1/sync/runs/{run_id}/cancel", { path: { run_id: runId } });
      say("It was cancelled");
    } catch (failure) {
      const problem = asRequestError(failure);
      // It has ended meanwhile.
      if (problem.status !== 409) setError(problem);
    }
    await onEnd?.();
  }

  return (
    <div class="cancel">
      <ActionButton onPress={cancel}>Cancel</ActionButton>
      <ErrorNote error={error} />
    </div>
  );
}
