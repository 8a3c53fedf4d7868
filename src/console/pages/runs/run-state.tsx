// What runs and comparisons show alike: how far they have come, the way to cancel them, and why they failed.
import type { Run } from "../../api/interface.ts";
import { asRequestError } from "../../api/request-error.ts";
import { reloadShown } from "../../api/use-resource.ts";
import { ActionButton } from "../../components/buttons.tsx";
import { ProgressBar } from "../../components/notes.tsx";
import { counted } from "../../components/text.tsx";
import { change } from "../../state/use-action.ts";
import { adviceOn } from "./run-text.ts";
import type { Transfer, WatchedRun } from "./use-watched-run.ts";

/** How far a run has come: the transfer under way as a bar. */
export function LiveProgress({ watched }: { readonly watched: WatchedRun }) {
  const { transfers, comparison, retry } = watched;
  const underWay = transfers.findLast(({ status }) => status === "running");
  const ended = transfers.length - (underWay === undefined ? 0 : 1);
  return (
    <>
      {comparison !== null && (
        <ProgressBar
          label="Comparing"
          done={comparison.rows}
          total={comparison.total}
          text={`${counted(comparison.rows, "row")} looked at`}
        />
      )}
      {underWay !== undefined && (
        <ProgressBar
          key={`${underWay.direction} ${underWay.table}`}
          label={`${underWay.direction === "push" ? "Push" : "Pull"} of ${underWay.table}`}
          done={underWay.moved}
          total={underWay.total}
          text={transferText(underWay)}
        />
      )}
      {comparison === null && underWay === undefined && (
        <ProgressBar label="Under way" done={0} total={null} text="Getting ready" />
      )}
      {ended > 0 && <p class="quiet">{counted(ended, "part")} done before</p>}
      {retry !== null && (
        <p class="note warning" role="status">
          Waiting for the remote: <bdi>{retry}</bdi>
        </p>
      )}
    </>
  );
}

function transferText({ moved, total, rowsPerSecond }: Transfer): string {
  const text = `${moved.toLocaleString()} of ${counted(Math.max(total, moved), "row")}`;
  return rowsPerSecond === null ? text : `${text}, ${rowsPerSecond.toLocaleString()} rows/s`;
}

/** Ends a run, a comparison or an import before its next write. Busy until it has ended. D-7.8. */
export function CancelRun({ runId }: { readonly runId: string }) {
  const path = { run_id: runId };

  async function cancel() {
    try {
      await change("post /api/v1/sync/runs/{run_id}/cancel", { path }, "It was cancelled");
    } catch (failure) {
      // It has ended meanwhile.
      if (asRequestError(failure).status !== 409) throw failure;
      await reloadShown();
    }
  }

  return <ActionButton onPress={cancel}>Cancel</ActionButton>;
}

/** Why a run failed, or is not whole, and what to do. */
export function RunFailure({ run }: { readonly run: Run }) {
  if (run.error !== undefined) {
    return (
      <div class="note bad">
        <p>
          <bdi>{run.error}</bdi>
        </p>
        <p>{adviceOn(run)}</p>
      </div>
    );
  }
  if (run.kind === "compare" || run.error_count === 0) return null;
  return (
    <p class="note warning">
      Some records were rejected.{" "}
      <a href="/console/rejected">See why, and try again or drop them</a>
    </p>
  );
}
