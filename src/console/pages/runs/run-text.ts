// Runs in words.
import type { Run } from "../../api/interface.ts";
import type { Tone } from "../../components/notes.tsx";

/** The page of one run. */
export function runAddress(runId: string): string {
  return `/console/runs/${encodeURIComponent(runId)}`;
}

const DIRECTIONS = { push: "Push", pull: "Pull", both: "Push and pull" } as const;

/** What a run does: `Pull, full`, `Comparison with repair by push`. */
export function workText(run: Run): string {
  if (run.kind === "compare") {
    return run.repair === null ? "Comparison" : `Comparison, repair by ${run.repair}`;
  }
  const words: string[] = [DIRECTIONS[run.direction]];
  if (run.full_sync) words.push("full");
  if (run.dry_run) words.push("dry run");
  return words.join(", ");
}

/** The tables of a run; null while none has begun. */
export function tablesOf(run: Run): readonly string[] {
  return run.kind === "compare" ? [run.table] : Object.keys(run.tables);
}

const TRIGGERS = {
  api: "interface",
  stream: "interface, stream",
  cli: "command line",
  schedule: "schedule",
} as const;

/** Who or what started a run. */
export function triggerText(run: Run): string {
  return TRIGGERS[run.trigger];
}

/** The colour of a state. */
export function toneOf(status: Run["status"]): Tone {
  return ({ running: "busy", success: "good", partial: "warning", failed: "bad" } as const)[status];
}

/** What helps after an error beside what the error itself says. */
export function adviceOn(run: Run): string {
  if (run.error?.startsWith("Cancelled")) {
    return "What was moved before stays. Start it again: it goes on where it stopped.";
  }
  if (run.kind === "compare") return "Start the comparison again when that is mended.";
  return "What was moved before stays. Start it again when that is mended: it goes on where it stopped.";
}

/** What a run that has ended did: `12 pushed, 3 rejected`. */
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
