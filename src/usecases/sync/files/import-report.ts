// The report of an import: counts, and failures and warnings by line and column. D-10.3.
import { isRawNumber, type JsonValue } from "../../../domain/shared/json.ts";
import { cutText } from "../../../domain/shared/text.ts";
import {
  type ImportChange,
  type ImportFailure,
  type ImportResult,
  type ImportWarning,
  NOTHING_IMPORTED,
} from "../../../domain/sync/run/import-events.ts";

/** The most warnings, and the most failures, that are listed; all are counted. */
const MAX_TOLD = 1_000;
/** The most rows of a dry run whose changes are listed. */
const MAX_CHANGES = 20;
/** The length of a listed value, in characters. */
const MAX_VALUE_CHARS = 200;

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

export class ImportReport {
  counts = NOTHING_IMPORTED;
  readonly table: string;
  readonly isDryRun: boolean;
  readonly warnings = new ProblemList<ImportWarning>();
  readonly failures = new ProblemList<ImportFailure>();
  /** Rows removed as they are not in the file; null where that was not asked for, or not reached. */
  removed: number | null = null;
  readonly #changes: ImportChange[] = [];

  constructor(table: string, isDryRun: boolean) {
    this.table = table;
    this.isDryRun = isDryRun;
  }

  /** Adds a warning on the whole file. */
  addNote(message: string): void {
    this.warnings.add({ line: 1, column: null, value: null, message });
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

/** The value as it is listed; as JSON text where JavaScript has no form of its own. */
function shownValue(value: JsonValue): JsonValue {
  if (value === null || typeof value === "boolean" || typeof value === "number") return value;
  if (typeof value === "string") return cutText(value.toWellFormed(), MAX_VALUE_CHARS);
  return isRawNumber(value) ? value.rawJSON : cutText(JSON.stringify(value), MAX_VALUE_CHARS);
}
