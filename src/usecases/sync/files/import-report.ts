// The report of an import: counts, and the values that could not be read, by line and column. D-10.3.
import { isRawNumber, type JsonValue } from "../../../domain/shared/json.ts";
import { cutText } from "../../../domain/shared/text.ts";
import {
  type ImportChange,
  type ImportFailure,
  type ImportResult,
  type ImportWarning,
  NOTHING_IMPORTED,
} from "../../../domain/sync/run/import-events.ts";

/** Warnings that are listed, and failures; the others are counted. */
const MAX_TOLD = 1_000;
/** Rows of a dry run that are listed with what would change. */
const MAX_CHANGES = 20;
/** Length of a value that is told, in characters. */
const MAX_VALUE_CHARS = 200;

/** Warnings or failures: the first ones, and the number of all. */
export class ProblemList<Problem extends ImportWarning> {
  readonly told: Problem[] = [];
  count = 0;

  add(problem: Problem): void {
    this.count++;
    if (this.told.length < MAX_TOLD) {
      this.told.push({ ...problem, value: shownValue(problem.value) });
    }
  }
}

/** Gathers what one import has to tell. */
export class ImportReport {
  counts = NOTHING_IMPORTED;
  readonly table: string;
  readonly isDryRun: boolean;
  readonly warnings = new ProblemList<ImportWarning>();
  readonly failures = new ProblemList<ImportFailure>();
  /** Rows that went as the file does not have them; null where that was not asked for, or not come to. */
  removed: number | null = null;
  readonly #changes: ImportChange[] = [];

  constructor(table: string, isDryRun: boolean) {
    this.table = table;
    this.isDryRun = isDryRun;
  }

  addChange(change: ImportChange): void {
    if (this.#changes.length < MAX_CHANGES) this.#changes.push(change);
  }

  result(): ImportResult {
    return {
      table: this.table,
      dryRun: this.isDryRun,
      ...this.counts,
      failures: this.failures.told,
      warnings: this.warnings.told,
      warningCount: this.warnings.count,
      ...(this.removed === null ? {} : { removed: this.removed }),
      ...(this.isDryRun ? { changes: this.#changes } : {}),
    };
  }
}

/** The value as far as it is told; what JavaScript has no form of its own for, as its JSON text. */
function shownValue(value: JsonValue): JsonValue {
  if (value === null || typeof value === "boolean" || typeof value === "number") return value;
  if (typeof value === "string") return cutText(value.toWellFormed(), MAX_VALUE_CHARS);
  return isRawNumber(value) ? value.rawJSON : cutText(JSON.stringify(value), MAX_VALUE_CHARS);
}
