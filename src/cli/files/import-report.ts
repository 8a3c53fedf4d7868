// The report of an import on the command line, and its questions. D-10.3, D-14.7.
import { AppError } from "../../domain/shared/errors.ts";
import { countOf, formatCount } from "../../domain/shared/text.ts";
import type { ImportWarning } from "../../domain/sync/run/import-events.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import { ImportReport, type ProblemList } from "../../usecases/sync/files/import-file.ts";
import type { SyncDeps } from "../../usecases/sync/shared/sync-deps.ts";
import { rowsElsewhere } from "../../usecases/sync/shared/sync-status.ts";
import type { Output } from "../output.ts";
import { confirm } from "../prompts.ts";

export class ToldReport extends ImportReport {
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

  /** Tells how far an import came that failed. `isAppending`: the file numbers its rows anew each time. */
  tellHowFar(output: Output, isAppending: boolean): void {
    const { written, lastLine } = this.counts;
    if (lastLine === 0) return;
    const done = this.isDryRun ? "read" : "written";
    const again =
      isAppending && !this.isDryRun
        ? "the whole file again would add them once more: import the rest alone"
        : "importing the file again is safe";
    output.tellError(
      `${countOf(written, "row")} ${done}, up to line ${formatCount(lastLine)}, before this failure; ${again}`,
    );
  }

  /** The result of an import, in a line. */
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

/** A message with its value; a whole record has none. */
function withValue({ column, value, message }: Omit<ImportWarning, "line">): string {
  return column === null || value === null ? message : `${message}: ${JSON.stringify(value)}`;
}

/**
 * Warns of rows of a stamped table at the remote while there are none here. On a terminal it asks, except in a dry run; throws
 * `invalid_request` for a no.
 */
export async function warnOfRemoteRows(
  output: Output,
  table: Table,
  sync: SyncDeps,
  isDryRun: boolean,
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

/** Asks on a terminal; elsewhere the limit of the table is enough. */
export async function mayRemove(output: Output, table: Table, rows: number): Promise<boolean> {
  if (!output.isTerminal) return true;
  return await confirm(`${countOf(rows, "row")} of "${table.name}" not in the file. Remove?`);
}
