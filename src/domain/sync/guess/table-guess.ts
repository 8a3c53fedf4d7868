// Guesses a table of the registry from its records. D-10.2. Every value is read, not a sample, and a type is guessed only where
// every value keeps its meaning and its digits: nobody can know which month `01/03/2026` is. A time of creation is no timestamp
// column: rows that change later would never travel.
import { AppError } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import { MAX_COLUMNS } from "../../shared/limits.ts";
import { columnNameOf, wordsOfName } from "../table/names.ts";
import type { ColumnEntry, TableEntry } from "../table/registry-schema.ts";
import type { ColumnType } from "../table/table.ts";
import { ColumnGuess, type ValueForm } from "./column-guess.ts";
import { type KeyCandidate, type KeyColumn, KeyGuess } from "./key-guess.ts";

/** What a database says of a table. */
export interface Declaration {
  readonly columns: readonly {
    readonly name: string;
    /** As it was written, such as `VARCHAR(20)`; empty for none. */
    readonly type: string;
    readonly isNotNull: boolean;
  }[];
  /** Its primary key, else a unique index without empty values; empty for none. */
  readonly key: readonly string[];
}

/** The guess, and what it rests on. */
export interface GuessedTable {
  readonly name: string;
  readonly records: number;
  /** Null when no columns identify a row. */
  readonly entry: TableEntry | null;
  /** In the order of the file. */
  readonly columns: readonly {
    readonly name: string;
    readonly type: ColumnType;
    readonly reason: string;
  }[];
  /** Why this key; null without one. */
  readonly keyReason: string | null;
  /** Fields that no column can be made of. */
  readonly leftOut: readonly string[];
}

const CHANGE =
  /^(?:last_)?(?:updated?|modified|changed?|edited|modification)(?:_(?:at|on|date|time|timestamp|utc|ts))*$/;
const DATE_OF_CHANGE =
  /^(?:date|time|ts|timestamp)_(?:of_)?(?:last_)?(?:updated?|modified|changed?|edited)$/;
const RECORDED =
  /^(?:timestamp|ts|mtime|at|(?:event|recorded|measured|logged|occurred)_(?:at|on|time))$/;

const KEY_TYPES: readonly ColumnType[] = ["text", "integer", "bigint", "datetime", "date"];
const DECLARED_KEY_TYPES: readonly ColumnType[] = [...KEY_TYPES, "boolean"];

/** Gathers what the records of one table are like. */
export class TableGuess {
  readonly #name: string;
  readonly #form: ValueForm;
  readonly #declaration: Declaration | null;
  /** By the name in the file; null for a field that is left out. */
  readonly #columns = new Map<string, ColumnGuess | null>();
  readonly #key: KeyGuess;
  #records = 0;

  constructor(name: string, form: ValueForm, declaration: Declaration | null = null) {
    this.#name = name;
    this.#form = form;
    this.#declaration = declaration;
    this.#key = new KeyGuess(name);
    for (const column of declaration?.columns ?? []) this.#addColumn(column.name, column.type);
  }

  /** Throws `file_failed` when the fields make no columns. */
  add(record: JsonObject, line: number): void {
    this.#records++;
    for (const [field, value] of Object.entries(record)) {
      const column = this.#columns.get(field);
      if (column === undefined) this.#addColumn(field)?.add(value, line);
      else column?.add(value, line);
    }
    this.#key.add(record);
  }

  finish(): GuessedTable {
    const known = [...this.#columns].flatMap(([field, guess]) =>
      guess === null ? [] : [{ field, guess, type: guess.type() }],
    );
    const key = this.#declaredKey() ?? this.#key.best(this.#keyColumns());
    const keyed = new Set(key?.columns);
    const columns: Record<string, ColumnEntry> = {};
    for (const { field, guess, type } of known) {
      const isNotNull = keyed.has(field) || this.#isDeclaredNotNull(field);
      columns[guess.name] = isNotNull ? { type, nullable: false } : { type };
    }
    const timestamp = timestampColumnOf(
      known
        .filter(({ field }) => !keyed.has(field))
        .map(({ guess, type }) => ({ name: guess.name, type })),
    );
    const upsertKey = (key?.columns ?? []).map((field) => this.#columns.get(field)?.name ?? field);
    return {
      name: this.#name,
      records: this.#records,
      entry:
        key === null
          ? null
          : {
              ...(timestamp === null ? {} : { timestamp_column: timestamp }),
              upsert_key: upsertKey,
              columns,
            },
      columns: known.map(({ guess, type }) => ({
        name: guess.name,
        type,
        reason: guess.reason(this.#records),
      })),
      keyReason: key?.reason ?? null,
      leftOut: [...this.#columns].flatMap(([field, guess]) => (guess === null ? [field] : [])),
    };
  }

  #addColumn(field: string, declared = ""): ColumnGuess | null {
    if (this.#columns.size >= MAX_COLUMNS) {
      const limit = `more than ${MAX_COLUMNS} columns, which a table cannot have`;
      throw new AppError("file_failed", `"${this.#name}" has ${limit}`);
    }
    const name = columnNameOf(field);
    for (const [otherField, other] of this.#columns) {
      if (name === null || other?.name.toLowerCase() !== name.toLowerCase()) continue;
      throw new AppError(
        "file_failed",
        `"${otherField}" and "${field}" would be one column, ${name}: give one of them another name`,
      );
    }
    const guess = name === null ? null : new ColumnGuess(name, this.#form, declared);
    this.#columns.set(field, guess);
    return guess;
  }

  #isDeclaredNotNull(field: string): boolean {
    return this.#declaration?.columns.some((c) => c.name === field && c.isNotNull) ?? false;
  }

  /** Where its types may be in a key. */
  #declaredKey(): KeyCandidate | null {
    const columns = this.#declaration?.key ?? [];
    const types = columns.map((field) => this.#columns.get(field)?.type());
    const isUsable = types.every((type) => type !== undefined && DECLARED_KEY_TYPES.includes(type));
    if (columns.length === 0 || !isUsable) return null;
    return { columns, rank: 0, reason: "the database declares it" };
  }

  /** Columns that every record has, of a type that a key may have. */
  #keyColumns(): KeyColumn[] {
    return [...this.#columns].flatMap(([field, guess]) => {
      const type = guess?.type();
      if (guess === null || type === undefined || !KEY_TYPES.includes(type)) return [];
      const isTime = type === "date" || type === "datetime";
      return guess.values === this.#records ? [{ name: field, isTime }] : [];
    });
  }
}

/** The most believed of the columns with times; null when no name says so. A time of creation does not change. */
function timestampColumnOf(
  columns: readonly { readonly name: string; readonly type: ColumnType }[],
): string | null {
  const times = columns.filter(({ type }) => type === "datetime" || type === "date");
  for (const type of ["datetime", "date"]) {
    for (const pattern of [CHANGE, DATE_OF_CHANGE, RECORDED]) {
      const found = times.find((c) => c.type === type && pattern.test(wordsOfName(c.name)));
      if (found !== undefined) return found.name;
    }
  }
  return null;
}
