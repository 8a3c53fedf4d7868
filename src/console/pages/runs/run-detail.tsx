import { useEffect } from "preact/hooks";
import { request } from "../../api/request.ts";
import { useResource } from "../../api/use-resource.ts";
import { ErrorNote } from "../../components/error-note.tsx";
import { Facts } from "../../components/facts.tsx";
import { counted, durationText } from "../../components/numbers.ts";
import { StatusBadge } from "../../components/status-badge.tsx";
import { TimeText } from "../../components/time-text.tsx";
import { setTitle } from "../../state/use-page-visit.ts";
import { CompareOutcome } from "../compare/compare-outcome.tsx";
import { CancelRun } from "./cancel-run.tsx";
import { DryRunOutcome } from "./dry-run-outcome.tsx";
import { LiveProgress } from "./live-progress.tsx";
import { RunFailure } from "./run-failure.tsx";
import { RunLines } from "./run-lines.tsx";
import type { RunProgress } from "./run-progress.ts";
import { type Run, toneOf, triggerText, workText } from "./run-text.ts";
import { TableResults } from "./table-results.tsx";
import { useRunProgress } from "./use-run-progress.ts";

/** One run or comparison at its own address, while it is under way and after. */
export function RunDetail({ runId }: { readonly runId: string }) {
  const { data, error, reload } = useResource((signal) =>
    request("get /api/v1/sync/runs/{run_id}", { path: { run_id: runId }, signal }),
  );
  const { progress, error: streamError } = useRunProgress(runId);
  useEffect(() => setTitle("Runs", runId), [runId]);
  // Told the end, and told again after the service was away.
  useEffect(() => {
    if (progress.isFinished || (error !== null && progress.lines.length > 0)) void reload();
  }, [progress.isFinished, progress.lines.length > 0]);

  // A dry run is in no list once it has ended; what it told is.
  const isGone = error?.status === 404;
  const isDryRunGone = isGone && progress.lines.length > 0;
  return (
    <>
      <p>
        <a href="/console/runs">All runs</a>
      </p>
      {!isDryRunGone && <ErrorNote error={error ?? streamError} {...(isGone ? GONE : {})} />}
      {data !== null && !isGone && (
        <ShownRun run={data} progress={progress} onEnd={() => void reload()} />
      )}
      {isDryRunGone && <DryRunOutcome progress={progress} />}
      <RunLines lines={progress.lines} />
    </>
  );
}

const GONE = { advice: "The last 1,000 runs are kept." };

interface ShownRunProps {
  readonly run: Run;
  readonly progress: RunProgress;
  readonly onEnd: () => void;
}

function ShownRun({ run, progress, onEnd }: ShownRunProps) {
  const isRunning = run.status === "running";
  return (
    <>
      <div class="card">
        <div class="card-head">
          <h2>{workText(run)}</h2>
          {isRunning && <CancelRun runId={run.run_id} onEnd={onEnd} />}
        </div>
        {isRunning && <LiveProgress progress={progress} />}
        <Facts
          facts={[
            ["Status", <StatusBadge key="s" tone={toneOf(run.status)} text={run.status} />],
            ["Started", <TimeText key="t" at={run.started_at} />],
            run.finished_at === null
              ? null
              : ["Finished", <TimeText key="f" at={run.finished_at} />],
            isRunning ? null : ["Took", durationText(run.duration_ms)],
            ["Started by", triggerText(run)],
            ...(run.kind === "compare" || isRunning ? [] : totals(run)),
            ["Id", <code key="id">{run.run_id}</code>],
          ]}
        />
      </div>
      <RunFailure run={run} />
      {run.kind === "compare" ? (
        <CompareOutcome run={run} progress={progress} />
      ) : (
        <TableResults tables={run.tables} />
      )}
    </>
  );
}

function totals(run: Extract<Run, { readonly kind: "sync" }>): [string, string][] {
  return [
    ["Pushed", counted(run.total_pushed, "row")],
    ["Pulled", counted(run.total_pulled, "row")],
    ["Changed", counted(run.changed, "row")],
  ];
}
