// Turns records of a file into rows. D-10.3, D-14.7. A push takes a value that does not fit its type as it came, as programs know
// what they send. Files are made by people and spreadsheets: here such a value fails its record, unless the import is lax. So
// does an empty part of a key, which is nearly always a gap.
import { AppError } from "../../../domain/shared/errors.ts";
import {
  isJsonObject,
  isNumber,
  type JsonObject,
  type JsonValue,
  numberText,
} from "../../../domain/shared/json.ts";
import { MAX_JSON_VALUES } from "../../../domain/shared/limits.ts";
import { fieldOddity, importValue } from "../../../domain/sync/rows/import-value.ts";
import { valuesOf } from "../../../domain/sync/rows/page-size.ts";
import type { RecordProblem } from "../../../domain/sync/run/import-events.ts";
import { matchColumn } from "../../../domain/sync/table/names.ts";
import {
  type ColumnValue,
  ROW_NUMBER,
  type Row,
  type Table,
} from "../../../domain/sync/table/table.ts";
import type { FileFormat, FoundRecord } from "../../../ports/files.ts";
import type { TableStore } from "../../../ports/tables/table-store.ts";

/** A record to write; or `row` is null and there are problems. */
interface ReadRecord {
  readonly row: Row | null;
  /** The record with the names of the table's columns. */
  readonly record: JsonValue;
  readonly problems: readonly RecordProblem[];
  /** Values that are written as they came, as they do not fit the type of their column. */
  readonly oddities: readonly RecordProblem[];
  /** Fields without a column that were not told before. */
  readonly leftOut: readonly RecordProblem[];
}

/** Unknown fields that are told once; later ones are told with each record. */
const MAX_TOLD_NAMES = 10_000;

interface ReadingRules {
  /** True: a value that does not fit the type of its column is written as it came. */
  readonly isLax: boolean;
  /** Numbers for the column `row` of records without one; null where they have keys of their own. */
  readonly numbers: RowNumbers | null;
}

export class RecordReader {
  readonly #table: Table;
  readonly #rules: ReadingRules;
  readonly #told = new Set<string>();

  constructor(table: Table, rules: ReadingRules) {
    this.#table = table;
    this.#rules = rules;
  }

  /** The problem of a field without a column, once for the whole file; then null. */
  unknownField(name: string): RecordProblem | null {
    if (this.#told.has(name)) return null;
    if (this.#told.size < MAX_TOLD_NAMES) this.#told.add(name);
    return { column: name, value: null, message: `There is no column "${name}"; left out` };
  }

  read(found: FoundRecord): ReadRecord {
    const { record } = found;
    const { numbers, isLax } = this.#rules;
    const number = numbers?.next(found);
    if (found.problem !== null) return failed(record, found.problem);
    if (!isJsonObject(record)) return failed(record, "record is not an object");
    // The record itself does not count.
    if (valuesOf(record) - 1 > MAX_JSON_VALUES) {
      return { ...failed(null, `has more than ${MAX_JSON_VALUES} values`), record };
    }
    const { fields: own, unknown } = this.#nameFields(record);
    const isNumbered = number === undefined || Object.hasOwn(own, ROW_NUMBER);
    const fields = isNumbered ? own : { ...own, [ROW_NUMBER]: number };
    const problems: RecordProblem[] = [];
    const oddities: RecordProblem[] = [];
    const row: Record<string, ColumnValue> = {};
    for (const column of this.#table.pushColumns) {
      const { name } = column;
      const isGiven = Object.hasOwn(fields, name);
      if (!isGiven && !column.serialize) continue;
      const value = isGiven ? (fields[name] ?? null) : null;
      const isExact = found.exact?.includes(name) ?? false;
      const imported = importValue(this.#table, column, value, isExact);
      if (imported.problem !== null) {
        problems.push({ column: name, value, message: `${name} ${imported.problem}` });
        continue;
      }
      row[name] = imported.value;
      const oddity = found.odd?.includes(name) ? fieldOddity(column) : imported.oddity;
      if (oddity !== null) oddities.push({ column: name, value, message: `${name} ${oddity}` });
    }
    const leftOut = unknown
      .map((name) => this.unknownField(name))
      .filter((field) => field !== null);
    if (problems.length > 0 || (!isLax && oddities.length > 0)) {
      // Nothing of the record is written, so every oddity is a problem.
      const all = [...problems, ...oddities];
      return { row: null, record: fields, problems: all, oddities: [], leftOut };
    }
    const written = oddities.map(({ message, ...odd }) => ({
      ...odd,
      message: `${message}; written as it came`,
    }));
    return { row, record: fields, problems: [], oddities: written, leftOut };
  }

  /** The fields by the names of their columns, and the names that no column has. */
  #nameFields(record: JsonObject): { fields: JsonObject; unknown: readonly string[] } {
    let known = 0;
    for (const { name } of this.#table.pushColumns) if (Object.hasOwn(record, name)) known++;
    const names = Object.keys(record);
    if (names.length === known) return { fields: record, unknown: [] };
    const fields: Record<string, JsonValue> = {};
    const unknown: string[] = [];
    for (const name of names) {
      const column = matchColumn(this.#table, name);
      const own = column?.name ?? name;
      const isTaken = own !== name && (Object.hasOwn(record, own) || Object.hasOwn(fields, own));
      if (column === null || isTaken) unknown.push(name);
      else fields[own] = record[name] ?? null;
    }
    return { fields, unknown };
  }
}

function failed(record: JsonValue, message: string): ReadRecord {
  return {
    row: null,
    record,
    oddities: [],
    leftOut: [],
    problems: [{ column: null, value: record, message }],
  };
}

/** Records are numbered by line, by place, or from a number on. */
type Numbering = "line" | "place" | number;

/** Numbers for records without a key of their own, in the column `row`. D-14.1. */
export class RowNumbers {
  readonly #by: Numbering;
  #place = 0;

  constructor(by: Numbering) {
    this.#by = by;
  }

  /** True where the same file again gives the same numbers. */
  get isByPlace(): boolean {
    return typeof this.#by === "string";
  }

  next({ line }: FoundRecord): number {
    this.#place++;
    if (this.#by === "line") return line;
    return this.#by === "place" ? this.#place : this.#by + this.#place;
  }
}

/** Throws `invalid_request` for a table whose rows have keys of their own. */
export function requireNumbered({ files }: Table, option: string): void {
  if (files.numberRows) return;
  throw new AppError("invalid_request", `${option} is for tables whose rows are numbered`);
}

/** Null for a table whose records have keys of their own. `appendTo`: the table behind whose rows to number on. */
export async function numbersOf(
  table: Table,
  format: FileFormat | "sqlite",
  appendTo: { readonly tables: TableStore | null } | null,
): Promise<RowNumbers | null> {
  if (!table.files.numberRows) return null;
  if (appendTo === null) return new RowNumbers(format === "json" ? "place" : "line");
  const { tables } = appendTo;
  return new RowNumbers(tables === null ? 0 : await greatestRow(tables, table));
}

/** The greatest number of a row, 0 in an empty table, by halving steps. */
async function greatestRow(tables: TableStore, table: Table): Promise<number> {
  const firstAfter = async (number: number): Promise<number | null> => {
    const from = { afterKey: { [ROW_NUMBER]: number }, throughKey: null };
    const { rows } = await tables.page(table, { from, limitRows: 1, columns: "sent" });
    const value = rows[0]?.[ROW_NUMBER] ?? null;
    return isNumber(value) ? Number(numberText(value)) : null;
  };
  let known = (await firstAfter(0)) ?? 0;
  for (let step = known; known > 0 && step >= 1; ) {
    const next = await firstAfter(known + step - 1);
    if (next === null) step = Math.floor(step / 2);
    else [known, step] = [next, Math.max(step, next)];
  }
  return known;
}
