// The report of an import on the command line, and its questions before its first row and before it removes others. D-10.3, D-14.7.
import { AppError } from "../../domain/shared/errors.ts";
import { countOf, formatCount } from "../../domain/shared/text.ts";
import type { ImportWarning } from "../../domain/sync/run/import-events.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import { ImportReport, type ProblemList } from "../../usecases/sync/files/import-report.ts";
import { rowsElsewhere } from "../../usecases/sync/shared/read-remote-status.ts";
import type { SyncDeps } from "../../usecases/sync/shared/sync-deps.ts";
import type { CommandTools } from "../command-runner.ts";
import type { Output } from "../output.ts";
import { confirm } from "../prompts.ts";

export class ToldReport extends ImportReport {
  /** Warnings and failures on standard error. */
  tellProblems(output: Output): void {
    const { failed } = this.counts;
    if (this.warnings.count > 0) {
      output.warn(`${countOf(this.warnings.count, "warning")}:`);
      output.warn(...linesOf(this.warnings, (warning) => withValue(warning)));
    }
    if (failed > 0) {
      output.tellError(`${countOf(failed, "record")} failed:`);
      output.tellError(
        ...linesOf(this.failures, ({ key, ...failure }) => {
          return `${key === null ? "" : `${key}: `}${withValue(failure)}`;
        }),
      );
    }
  }

  /** Tells what an import did that ends before its file. */
  tellHowFar(output: Output): void {
    const { written, lastLine } = this.counts;
    if (lastLine === 0) return;
    const done = this.isDryRun ? "read" : "written";
    output.tellError(
      `${countOf(written, "row")} ${done}, up to line ${formatCount(lastLine)}, before this failure; ` +
        "importing the file again is safe",
    );
  }

  /** The result of an import that reached the end of its file, in a line. */
  summary(): string {
    const { counts, removed } = this;
    const done = this.isDryRun ? "would be imported" : "imported";
    const fates = (["new", "changed", "same"] as const).filter((fate) => counts[fate] > 0);
    const listed = fates.map((fate) => `${formatCount(counts[fate])} ${fate}`).join(", ");
    const detail = listed === "" ? "" : `: ${listed}`;
    const { written, deleted } = counts;
    const left =
      deleted === 0 ? "" : `, ${formatCount(deleted)} deleted since the file was written`;
    const gone = `; ${formatCount(removed ?? 0)} ${this.isDryRun ? "would be removed" : "removed"}`;
    const line = `${this.table}: ${countOf(written, "row")} ${done}${detail}${left}`;
    return removed === null ? line : `${line}${gone}`;
  }
}

function linesOf<Problem extends ImportWarning>(
  list: ProblemList<Problem>,
  lineOf: (problem: Problem) => string,
): string[] {
  const untold = list.count - list.told.length;
  const more = untold > 0 ? [`  and ${formatCount(untold)} more`] : [];
  return [...list.told.map((one) => `  line ${one.line}: ${lineOf(one)}`), ...more];
}

/** A message with the value that it is about, which a whole record has none of. */
function withValue({ column, value, message }: Omit<ImportWarning, "line">): string {
  return column === null || value === null ? message : `${message}: ${JSON.stringify(value)}`;
}

/**
 * Says that rows of a stamped table are at the remote and none here. Throws `invalid_request` where somebody is asked and does not
 * want to import; of a dry run nobody is.
 */
export async function warnOfRemoteRows(
  { output }: CommandTools,
  table: Table,
  { sync, isDryRun }: { readonly sync: SyncDeps; readonly isDryRun: boolean },
): Promise<void> {
  const text = await rowsElsewhere(sync, table);
  if (text === null) return;
  const pull = `repsync sync pull ${table.name}`;
  if (isDryRun || !output.isTerminal)
    output.warn(`${text}: ${pull} fetches them, with their times`);
  else if (!(await confirm(`${text}. Import all the same?`))) {
    throw new AppError("invalid_request", "Nothing was imported", { hint: `Run ${pull}` });
  }
}

/** Asks on a terminal; else the limit of the table is enough. */
export async function mayRemove(
  { output }: CommandTools,
  table: Table,
  rows: number,
): Promise<boolean> {
  if (!output.isTerminal) return true;
  return await confirm(`${countOf(rows, "row")} of "${table.name}" not in the file. Remove?`);
}
