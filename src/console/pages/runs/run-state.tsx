// What pages of runs and comparisons share.
import type { Run } from "../../api/interface.ts";
import { asRequestError, RequestError } from "../../api/request-error.ts";
import { ActionButton, ErrorNote } from "../../components/buttons.tsx";
import { ProgressBar, type Tone } from "../../components/notes.tsx";
import { counted } from "../../components/text.tsx";
import { change, reloadShown, useReply } from "../../state/use-service.ts";
import type { Transfer, WatchedRun } from "./use-watched-run.ts";

/** The running transfer as a bar. */
export function LiveProgress({ watched }: { readonly watched: WatchedRun }) {
  const { transfers, comparison, retry } = watched;
  const underWay = transfers.findLast(({ status }) => status === "running");
  const ended = transfers.length - (underWay === undefined ? 0 : 1);
  return (
    <>
      {underWay !== undefined ? (
        <ProgressBar
          key={`${underWay.direction} ${underWay.table}`}
          label={`${DIRECTIONS[underWay.direction]} of ${underWay.table}`}
          done={underWay.moved}
          total={underWay.total}
          text={transferText(underWay)}
        />
      ) : (
        <ProgressBar
          label={comparison === null ? "Under way" : "Comparing"}
          done={comparison?.rows ?? 0}
          total={comparison?.total ?? null}
          text={
            comparison === null ? "Getting ready" : `${counted(comparison.rows, "row")} looked at`
          }
        />
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

/** Ends a run, a comparison or an import before its next write, and is busy until then. D-7.8. */
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

export const ENABLE_SYNC = (
  <>
    Set <code>SYNC_ENABLED=true</code> and <code>SYNC_API_KEY</code>, and start the service again.
  </>
);

/** Why a run failed, or is incomplete, and what to do. */
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

export function runAddress(runId: string): string {
  return `/console/runs/${encodeURIComponent(runId)}`;
}

const DIRECTIONS = { push: "Push", pull: "Pull", both: "Push and pull" } as const;

/** `Pull, full`, `Comparison, repair by push` */
export function workText(run: Run): string {
  if (run.kind === "compare") {
    return run.repair === null ? "Comparison" : `Comparison, repair by ${run.repair}`;
  }
  const words: string[] = [DIRECTIONS[run.direction]];
  if (run.full_sync) words.push("full");
  if (run.dry_run) words.push("dry run");
  return words.join(", ");
}

/** The table of a run of one table. */
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

/** None before they are loaded, and while synchronization is disabled. */
export function useTableNames(): readonly string[] {
  return useReply("get /api/v1/sync/status", {}).data?.tables ?? [];
}

/** None before the first table has begun. */
export function tablesOf(run: Run): readonly string[] {
  return run.kind === "compare" ? [run.table] : Object.keys(run.tables);
}

export const TRIGGERS: Readonly<Record<Run["trigger"], string>> = {
  api: "interface",
  stream: "interface, stream",
  cli: "command line",
  schedule: "schedule",
};

export function toneOf(status: Run["status"]): Tone {
  return ({ running: "busy", success: "good", partial: "warning", failed: "bad" } as const)[status];
}

/** Advice about a failed run. */
function adviceOn({ error, kind }: Run): string {
  const when = error?.startsWith("Cancelled") ? "" : " when that is mended";
  if (kind === "compare" && when !== "") return `Start the comparison again${when}.`;
  return `What was moved before stays. Start it again${when}: it goes on where it stopped.`;
}

/** Rows by what became of them; undefined where the run does not tell. */
export function countsOf(
  run: Run,
): readonly (readonly [name: string, count: number | undefined])[] {
  if (run.kind === "sync") {
    return [
      ["Pushed", run.total_pushed],
      ["Pulled", run.total_pulled],
      ["Changed", run.changed],
      ["Kept", run.kept],
      ["Rejected", run.error_count],
    ];
  }
  return [
    ["Equal", run.matched],
    ["Different", run.different],
    ["Missing here", run.missing_here],
    ["Missing there", run.missing_there],
    ["Repaired", run.repaired],
    ["Kept as they are", run.kept],
    ["Of erased people", run.erased],
  ];
}

/** `12 pushed, 3 rejected` */
export function outcomeText(run: Run): string {
  const told = countsOf(run).flatMap(([name, count = 0]) =>
    count === 0 ? [] : [`${count.toLocaleString()} ${name.toLowerCase()}`],
  );
  return told.join(", ") || "nothing to do";
}
