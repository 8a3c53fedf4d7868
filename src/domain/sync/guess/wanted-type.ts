// A type that somebody wants for a column: counts the values that an import would fail, by the import's own conversion. D-14.1.
import type { JsonValue } from "../../shared/json.ts";
import { markedValue, readCsvField } from "../rows/csv-fields.ts";
import { importValue } from "../rows/import-value.ts";
import type { ColumnType } from "../table/column-types.ts";
import type { Column, EpochUnit, FileForm } from "../table/table.ts";

/** The number of values that a type does not understand, and the first of them, for people. */
export interface Misfits {
  readonly count: number;
  readonly text: string;
  readonly line: number;
}

/** The ways to read values. Which one counts is known after the last value. */
type Reading = "plain" | "key" | EpochUnit;

const READINGS: Partial<Record<ColumnType, readonly Reading[]>> = {
  bigint: ["plain", "key"],
  datetime: ["plain", "seconds", "milliseconds"],
};

export class WantedType {
  readonly type: ColumnType;
  /** The form of fields; null for values that have types of their own. */
  readonly #files: FileForm | null;
  readonly #misfits = new Map<Reading, Misfits>();

  constructor(type: ColumnType, files: FileForm | null) {
    this.type = type;
    this.#files = files;
  }

  /** `text` shows the value to people. */
  add(value: Exclude<JsonValue, null>, text: string, line: number): void {
    for (const reading of READINGS[this.type] ?? ["plain"]) {
      if (this.#isTaken(value, reading)) continue;
      const before = this.#misfits.get(reading) ?? { count: 0, text, line };
      this.#misfits.set(reading, { ...before, count: before.count + 1 });
    }
  }

  /** `epoch` is the unit of numbers that are times. */
  misfits(isKey: boolean, epoch: EpochUnit | null): Misfits | null {
    const reading = (isKey ? "key" : epoch) ?? "plain";
    const isOther = READINGS[this.type]?.includes(reading) === true;
    return this.#misfits.get(isOther ? reading : "plain") ?? null;
  }

  #isTaken(value: Exclude<JsonValue, null>, reading: Reading): boolean {
    const column: Column = {
      name: "",
      type: this.type,
      nullable: true,
      maxLength: null,
      serialize: true,
      autoIncrement: false,
      isKey: reading === "key",
    };
    const isEpoch = reading === "seconds" || reading === "milliseconds";
    const epoch = new Map(isEpoch ? [[column.name, reading]] : []);
    const field = this.#files !== null && typeof value === "string" ? value : null;
    const read =
      this.#files === null || field === null ? value : readCsvField(column, field, this.#files);
    if (read === undefined) return false;
    const rule = { timestampColumn: null, files: { epoch } };
    const imported = importValue(rule, column, read, markedValue(field) !== undefined);
    return imported.problem === null && imported.oddity === null;
  }
}
