import { useEffect } from "preact/hooks";
import type { CompareRun } from "../api/interface.ts";
import { request } from "../api/request.ts";
import { useResource } from "../api/use-resource.ts";
import { EmptyState } from "../components/empty-state.tsx";
import { ResourceView } from "../components/resource-view.tsx";
import { queryValue } from "../state/router.ts";
import { setTitle } from "../state/use-page-visit.ts";
import { CompareForm } from "./compare/compare-form.tsx";
import { CompareOutcome } from "./compare/compare-outcome.tsx";
import { RepairForm } from "./compare/repair-form.tsx";
import { CancelRun } from "./runs/cancel-run.tsx";
import { LiveProgress } from "./runs/live-progress.tsx";
import { RunFailure } from "./runs/run-failure.tsx";
import { useRunProgress } from "./runs/use-run-progress.ts";

/** Compares a table here with the remote's, and repairs it. The address names the comparison that is shown. D-9.4. */
export function ComparePage() {
  const runId = queryValue("run");
  return (
    <>
      <CompareForm />
      {runId === "" ? (
        <EmptyState title="No comparison is shown">
          <p>
            Choose a table and start. Earlier comparisons are among the{" "}
            <a href="/console/runs">runs</a>.
          </p>
        </EmptyState>
      ) : (
        <Comparison key={runId} runId={runId} />
      )}
    </>
  );
}

function Comparison({ runId }: { readonly runId: string }) {
  const run = useResource((signal) =>
    request("get /api/v1/sync/runs/{run_id}", { path: { run_id: runId }, signal }),
  );
  const { progress } = useRunProgress(runId);
  const { reload } = run;
  useEffect(() => {
    if (progress.isFinished) void reload();
  }, [progress.isFinished]);
  const table = run.data?.kind === "compare" ? run.data.table : "";
  useEffect(() => setTitle("Compare", table), [table]);
  return (
    <ResourceView resource={run} name="the comparison">
      {(data) =>
        data.kind === "compare" ? (
          <>
            {data.status === "running" && (
              <section class="card" aria-labelledby="under-way">
                <div class="card-head">
                  <h2 id="under-way">
                    {data.repair === null ? "Comparing " : "Repairing "}
                    <bdi class="value">{data.table}</bdi>
                  </h2>
                  <CancelRun runId={runId} onEnd={reload} />
                </div>
                <LiveProgress progress={progress} />
              </section>
            )}
            <RunFailure run={data} />
            <CompareOutcome run={data} progress={progress}>
              {isRepairable(data) && <RepairForm run={data} />}
            </CompareOutcome>
          </>
        ) : (
          <p>This run is no comparison.</p>
        )
      }
    </ResourceView>
  );
}

/** Whether it found something, and has not repaired it. */
function isRepairable(run: CompareRun): boolean {
  if (run.status !== "success" && run.status !== "partial") return false;
  return run.repair === null && run.different + run.missing_here + run.missing_there > 0;
}
