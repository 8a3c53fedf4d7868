import { RunDetail } from "./runs/run-detail.tsx";
import { RunHistory } from "./runs/run-history.tsx";
import { StartRun } from "./runs/start-run.tsx";

/** Runs of synchronization: start one, watch those under way, see what they did. `run`: the id of one. D-9.4. */
export function RunsPage({ run }: Readonly<Record<string, string>>) {
  if (run !== undefined) return <RunDetail runId={run} />;
  return (
    <>
      <StartRun />
      <RunHistory />
    </>
  );
}
