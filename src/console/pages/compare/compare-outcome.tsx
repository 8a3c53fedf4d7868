import type { ComponentChildren } from "preact";
import { Facts } from "../../components/facts.tsx";
import { counted } from "../../components/numbers.ts";
import type { RunProgress } from "../runs/run-progress.ts";
import type { Run } from "../runs/run-text.ts";
import { Differences } from "./differences.tsx";

type CompareRun = Extract<Run, { readonly kind: "compare" }>;

/** What a comparison found: counts, and the rows that differ. */
export function CompareOutcome({
  run,
  progress,
  children,
}: {
  readonly run: CompareRun;
  readonly progress: RunProgress;
  /** What to do about it, before the rows. */
  readonly children?: ComponentChildren;
}) {
  const differences = progress.comparison?.differences ?? [];
  const hasEnded = run.status === "success" || run.status === "partial";
  const isEqual = run.different + run.missing_here + run.missing_there === 0;
  return (
    <>
      {hasEnded && (
        <div class="card">
          <Facts
            facts={[
              ["Equal", counted(run.matched, "row")],
              ["Different", counted(run.different, "row")],
              ["Missing here", counted(run.missing_here, "row")],
              ["Missing there", counted(run.missing_there, "row")],
              run.repaired === undefined ? null : ["Repaired", counted(run.repaired, "row")],
              run.kept === undefined ? null : ["Kept as they are", counted(run.kept, "row")],
              run.erased === undefined ? null : ["Of erased people", counted(run.erased, "row")],
            ]}
          />
        </div>
      )}
      {hasEnded && isEqual && (
        <p class="note note-good">Both ends have the same rows. There is nothing to repair.</p>
      )}
      {children}
      <Differences differences={differences} run={run} />
    </>
  );
}
