// Common parts of runs and comparisons: their work in words, how far they have come, the way to cancel them, why they failed.
import type { Run } from "../../api/interface.ts";
import { asRequestError, RequestError } from "../../api/request-error.ts";
import { reloadShown, useReply } from "../../api/use-resource.ts";
import { ActionButton, ErrorNote } from "../../components/buttons.tsx";
import { ProgressBar, type Tone } from "../../components/notes.tsx";
import { counted } from "../../components/text.tsx";
import { change } from "../../state/use-action.ts";
import type { Transfer, WatchedRun } from "./use-watched-run.ts";

/** The progress of a run: the transfer under way as a bar. */
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
      // The run has ended meanwhile.
      if (asRequestError(failure).status !== 409) throw failure;
      await reloadShown();
    }
  }

  return <ActionButton onPress={cancel}>Cancel</ActionButton>;
}

/** Advice while synchronization is disabled. */
export const ENABLE_SYNC = (
  <>
    Set <code>SYNC_ENABLED=true</code> and <code>SYNC_API_KEY</code>, and start the service again.
  </>
);

/** Why a run failed, or is not whole, and what to do. */
export function RunFailure({ run }: { readonly run: Run }) {
  if (run.error !== undefined) {
    const failure = new RequestError(0, { detail: run.error, hint: adviceOn(run) });
    return <ErrorNote error={failure} />;
  }
  if (run.kind === "compare" || run.error_count === 0) return null;
  return (
    <p class="note warning">
      Some records were rejected.{" "}
      <a href="/console/rejected">See why, and try again or drop them</a>
    </p>
  );
}

/** The page of one run. */
export function runAddress(runId: string): string {
  return `/console/runs/${encodeURIComponent(runId)}`;
}

const DIRECTIONS = { push: "Push", pull: "Pull", both: "Push and pull" } as const;

/** The text of a run's work: `Pull, full`, `Comparison with repair by push`. */
export function workText(run: Run): string {
  if (run.kind === "compare") {
    return run.repair === null ? "Comparison" : `Comparison, repair by ${run.repair}`;
  }
  const words: string[] = [DIRECTIONS[run.direction]];
  if (run.full_sync) words.push("full");
  if (run.dry_run) words.push("dry run");
  return words.join(", ");
}

/** Behind what a run does: the table, where it is one. */
export function OfTable({ run }: { readonly run: Run }) {
  const [table, ...others] = tablesOf(run);
  if (table === undefined || others.length > 0) return null;
  return (
    <>
      {" of "}
      <bdi>{table}</bdi>
    </>
  );
}

/** The tables of the registry; none before they are loaded, and while sync is disabled. */
export function useTableNames(): readonly string[] {
  return useReply("get /api/v1/sync/status", {}).data?.tables ?? [];
}

/** The tables of a run; none before one has begun. */
export function tablesOf(run: Run): readonly string[] {
  return run.kind === "compare" ? [run.table] : Object.keys(run.tables);
}

const TRIGGERS = {
  api: "interface",
  stream: "interface, stream",
  cli: "command line",
  schedule: "schedule",
} as const;

/** The text of who or what started a run. */
export function triggerText(run: Run): string {
  return TRIGGERS[run.trigger];
}

/** The colour of a state. */
export function toneOf(status: Run["status"]): Tone {
  return ({ running: "busy", success: "good", partial: "warning", failed: "bad" } as const)[status];
}

/** Advice after an error beside the error's own. */
function adviceOn(run: Run): string {
  if (run.error?.startsWith("Cancelled")) {
    return "What was moved before stays. Start it again: it goes on where it stopped.";
  }
  if (run.kind === "compare") return "Start the comparison again when that is mended.";
  return "What was moved before stays. Start it again when that is mended: it goes on where it stopped.";
}

/** The text of an ended run's result: `12 pushed, 3 rejected`. */
export function outcomeText(run: Run): string {
  const parts: (readonly [number, string])[] =
    run.kind === "compare"
      ? [
          [run.matched, "equal"],
          [run.different, "different"],
          [run.missing_here, "missing here"],
          [run.missing_there, "missing there"],
          [run.repaired ?? 0, "repaired"],
        ]
      : [
          [run.total_pushed, "pushed"],
          [run.total_pulled, "pulled"],
          [run.changed, "changed"],
          [run.kept, "kept"],
          [run.error_count, "rejected"],
        ];
  const told = parts.filter(([count]) => count > 0);
  if (told.length === 0) return "nothing to do";
  return told.map(([count, what]) => `${count.toLocaleString()} ${what}`).join(", ");
}
