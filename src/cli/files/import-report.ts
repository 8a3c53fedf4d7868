// What an import tells: counts, and what could not be read, by line and column. D-10.3.
import { isRawNumber, type JsonValue } from "../../domain/shared/json.ts";
import { cutText } from "../../domain/shared/text.ts";
import type { Table } from "../../domain/sync/table/table.ts";
import {
  type ImportFailure,
  type ImportWarning,
  NOTHING_IMPORTED,
} from "../../usecases/sync/files/import-rows.ts";
import { countOf, formatCount, type Output } from "../output.ts";

/** Warnings that are listed, and failures; the others are counted. */
const MAX_TOLD = 1_000;
/** Length of a value that is told, in characters. */
const MAX_VALUE_CHARS = 200;

/** Warnings or failures: the first ones, and the number of all. */
class ProblemList<Problem extends ImportWarning> {
  readonly told: Problem[] = [];
  count = 0;

  add(problem: Problem): void {
    this.count++;
    if (this.told.length < MAX_TOLD) {
      this.told.push({ ...problem, value: shownValue(problem.value) });
    }
  }

  lines(lineOf: (problem: Problem) => string): string[] {
    const untold = this.count - this.told.length;
    const more = untold > 0 ? [`  and ${formatCount(untold)} more`] : [];
    return [...this.told.map((one) => `  line ${one.line}: ${lineOf(one)}`), ...more];
  }
}

/** Gathers what one import has to tell. */
export class ImportReport {
  counts = NOTHING_IMPORTED;
  readonly #table: Table;
  readonly #isDryRun: boolean;
  readonly #warnings = new ProblemList<ImportWarning>();
  readonly #failures = new ProblemList<ImportFailure>();

  constructor(table: Table, isDryRun: boolean) {
    this.#table = table;
    this.#isDryRun = isDryRun;
  }

  addWarning(warning: ImportWarning): void {
    this.#warnings.add(warning);
  }

  addFailure(failure: ImportFailure): void {
    this.#failures.add(failure);
  }

  /** Warnings and failures on standard error. */
  tellProblems(output: Output): void {
    const { failed } = this.counts;
    if (this.#warnings.count > 0) {
      output.warn(`${countOf(this.#warnings.count, "warning")}:`);
      output.warn(...this.#warnings.lines((warning) => withValue(warning)));
    }
    if (failed > 0) {
      output.tellError(`${countOf(failed, "record")} failed:`);
      output.tellError(
        ...this.#failures.lines(({ key, ...failure }) => {
          return `${key === null ? "" : `${key}: `}${withValue(failure)}`;
        }),
      );
    }
  }

  /** Of an import that ends before its file: what it did. */
  tellHowFar(output: Output): void {
    const { written, lastLine } = this.counts;
    if (lastLine === 0) return;
    const done = this.#isDryRun ? "read" : "written";
    output.tellError(
      `${countOf(written, "row")} ${done}, up to line ${formatCount(lastLine)}, before this failure; ` +
        "importing the file again is safe",
    );
  }

  /** What an import that reached the end of its file did, in a line. */
  summary(): string {
    const { counts } = this;
    const done = this.#isDryRun ? "would be imported" : "imported";
    const fates = (["new", "changed", "same"] as const).filter((fate) => counts[fate] > 0);
    const listed = fates.map((fate) => `${formatCount(counts[fate])} ${fate}`).join(", ");
    const detail = listed === "" ? "" : `: ${listed}`;
    const { written, deleted } = counts;
    const left =
      deleted === 0 ? "" : `, ${formatCount(deleted)} deleted since the file was written`;
    return `${this.#table.name}: ${countOf(written, "row")} ${done}${detail}${left}`;
  }

  toJson(): object {
    return {
      table: this.#table.name,
      dryRun: this.#isDryRun,
      ...this.counts,
      failures: this.#failures.told,
      warnings: this.#warnings.told,
      warningCount: this.#warnings.count,
    };
  }
}

/** A message with the value that it is about, which a whole record has none of. */
function withValue({ column, value, message }: Omit<ImportWarning, "line">): string {
  return column === null || value === null ? message : `${message}: ${JSON.stringify(value)}`;
}

/** The value as far as it is told; what JavaScript has no form of its own for, as its JSON text. */
function shownValue(value: JsonValue): JsonValue {
  if (value === null || typeof value === "boolean" || typeof value === "number") return value;
  if (typeof value === "string") return cutText(value.toWellFormed(), MAX_VALUE_CHARS);
  return isRawNumber(value) ? value.rawJSON : cutText(JSON.stringify(value), MAX_VALUE_CHARS);
}
