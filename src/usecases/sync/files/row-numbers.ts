// Numbers for records without a key of their own, in the column `row`. D-14.1.
import { AppError } from "../../../domain/shared/errors.ts";
import { isNumber, numberText } from "../../../domain/shared/json.ts";
import { ROW_NUMBER, type Row, type Table } from "../../../domain/sync/table/table.ts";
import type { FileFormat, FoundRecord } from "../../../ports/files.ts";
import type { TableStore } from "../../../ports/tables/table-store.ts";

/** Records are numbered by line, by place, or from a number on. */
type Numbering = "line" | "place" | number;

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
    const [row] = rows;
    return row === undefined ? null : numberOf(row);
  };
  let known = (await firstAfter(0)) ?? 0;
  for (let step = known; known > 0 && step >= 1; ) {
    const next = await firstAfter(known + step - 1);
    if (next === null) step = Math.floor(step / 2);
    else [known, step] = [next, Math.max(step, next)];
  }
  return known;
}

function numberOf(row: Row): number | null {
  const value = row[ROW_NUMBER] ?? null;
  return isNumber(value) ? Number(numberText(value)) : null;
}
