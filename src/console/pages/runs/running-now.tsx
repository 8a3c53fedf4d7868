import { ErrorNote } from "../../components/error-note.tsx";
import { CancelRun } from "./cancel-run.tsx";
import { LiveProgress } from "./live-progress.tsx";
import { type Run, runAddress, tablesOf, workText } from "./run-text.ts";
import { useRunProgress } from "./use-run-progress.ts";

/** A browser opens few connections to one service, and each run that is watched takes one. */
const MAX_WATCHED = 2;

/** The runs under way, wherever they were started. */
export function RunningNow({ runs }: { readonly runs: readonly Run[] }) {
  return (
    <>
      {runs.slice(0, MAX_WATCHED).map((run) => (
        <RunningRun key={run.run_id} run={run} />
      ))}
    </>
  );
}

function RunningRun({ run }: { readonly run: Run }) {
  const { progress, error } = useRunProgress(run.run_id);
  const tables = tablesOf(run);
  return (
    <section class="card" aria-label={`Under way: ${workText(run)}`}>
      <div class="card-head">
        <h2>
          <a href={runAddress(run.run_id)}>{workText(run)}</a>
          {tables.length === 1 && (
            <>
              {" of "}
              <bdi class="value">{tables[0]}</bdi>
            </>
          )}
        </h2>
        <CancelRun runId={run.run_id} />
      </div>
      <ErrorNote error={error} />
      <LiveProgress progress={progress} />
    </section>
  );
}
