// Guesses a table of the registry from its records. D-10.2. Every value is read, not a sample, and a type is guessed only where
// every value keeps its meaning and its digits: nobody can know which month `01/03/2026` is. A time of creation is no timestamp
// column: rows that change later would never travel.
import { AppError } from "../../shared/errors.ts";
import type { JsonObject } from "../../shared/json.ts";
import { MAX_COLUMNS } from "../../shared/limits.ts";
import { countOf, formatCount } from "../../shared/text.ts";
import { type ColumnType, KEY_TYPES } from "../table/column-types.ts";
import { columnNameOf, registryNameOf, wordsOfName } from "../table/names.ts";
import { canBeStamped, stampedEntry } from "../table/registry-entries.ts";
import type { ColumnEntry, ImportEntry, TableEntry } from "../table/registry-schema.ts";
import { fileFormOf, ROW_NUMBER } from "../table/table.ts";
import { ColumnGuess, type ColumnHints } from "./column-guess.ts";
import { type KeyCandidate, type KeyColumn, KeyGuess, nameKey, type Repeats } from "./key-guess.ts";
import type { Misfits, ValueForm } from "./value-kind.ts";

export interface Declaration {
  readonly columns: readonly {
    readonly name: string;
    /** The type as it was written, such as `VARCHAR(20)`; empty for none. */
    readonly type: string;
    readonly isNotNull: boolean;
  }[];
  /** Its primary key, else a unique index without empty values; empty for none. */
  readonly key: readonly string[];
}

/** Wishes for the guess. D-14.1. */
export interface GuessWishes {
  /** Columns, by their names in the file or the registry; null for a guess. */
  readonly key: readonly string[] | null;
  /** A column; null for none, undefined for a guess. */
  readonly timestamp?: string | null;
  readonly types: ReadonlyMap<string, ColumnType>;
  readonly files: ImportEntry;
}

export const NO_WISHES: GuessWishes = { key: null, types: new Map(), files: {} };

/** The guess, and what it rests on. */
export interface GuessedTable {
  readonly name: string;
  readonly records: number;
  /** Null when no columns identify a row. */
  readonly entry: TableEntry | null;
  readonly columns: readonly {
    readonly name: string;
    readonly type: ColumnType;
    readonly reason: string;
    /** Values that an import by the guess fails. */
    readonly misfits: Misfits | null;
  }[];
  /** Why this key; null without one. */
  readonly keyReason: string | null;
  /** Why no column of the file is the timestamp column; null where one is. */
  readonly timelessReason: string | null;
  /** Doubts that somebody should look at first. */
  readonly warnings: readonly string[];
  /** Fields that no column can be made of. */
  readonly leftOut: readonly string[];
}

const CHANGE =
  /^(?:last_)?(?:updated?|modified|changed?|edited|modification)(?:_(?:at|on|date|time|timestamp|utc|ts))*$/;
const DATE_OF_CHANGE =
  /^(?:date|time|ts|timestamp)_(?:of_)?(?:last_)?(?:updated?|modified|changed?|edited)$/;
const CHANGES = [CHANGE, DATE_OF_CHANGE];
const TIME_TYPES: readonly ColumnType[] = ["datetime", "date"];

const DECLARED = "the database declares it";
const ROW_COLUMN: ColumnEntry = { type: "integer", nullable: false };
const NUMBERED: KeyCandidate = {
  columns: [ROW_NUMBER],
  rank: 0,
  reason: "rows are numbered",
  isByValues: false,
};

/** A boolean is part of a key only where a database declares it. */
const GUESSED_KEY_TYPES: readonly ColumnType[] = KEY_TYPES.filter((type) => type !== "boolean");

interface FieldGuess {
  readonly field: string;
  readonly guess: ColumnGuess;
}

/** A field that becomes a column of the table. */
interface KnownColumn extends FieldGuess {
  readonly type: ColumnType;
}

/** Gathers what the records of one table are like. */
export class TableGuess {
  readonly #name: string;
  readonly #hints: ColumnHints;
  readonly #declaration: Declaration | null;
  readonly #wishes: GuessWishes;
  readonly #isNumbered: boolean;
  /** Columns by their names in the file; null for a field that is left out. */
  readonly #columns = new Map<string, ColumnGuess | null>();
  readonly #key: KeyGuess;
  #records = 0;

  constructor(
    name: string,
    form: ValueForm,
    declaration: Declaration | null = null,
    wishes: GuessWishes = NO_WISHES,
  ) {
    this.#name = name;
    this.#hints = { form, files: fileFormOf(wishes.files) };
    this.#declaration = declaration;
    this.#wishes = wishes;
    this.#isNumbered = wishes.files.number_rows === true;
    const key = this.#isNumbered ? [ROW_NUMBER] : wishes.key;
    this.#key = new KeyGuess(
      name,
      key === null ? null : (field) => key.some((one) => this.#isMeant(field, one)),
      declaration?.key,
    );
    for (const column of declaration?.columns ?? []) this.#addColumn(column.name, column.type);
  }

  declare(fields: readonly string[]): void {
    for (const field of fields) if (!this.#columns.has(field)) this.#addColumn(field);
  }

  /** Throws `file_failed` when the fields make no columns. */
  add(record: JsonObject, line: number): void {
    this.#records++;
    for (const [field, value] of Object.entries(record)) {
      const column = this.#columns.get(field);
      if (column === undefined) this.#addColumn(field)?.add(value, line);
      else column?.add(value, line);
    }
    this.#key.add(record, line);
  }

  /** Guesses, in steps. Throws `invalid_request` for wishes about columns that are missing. */
  *finish(): Generator<undefined, GuessedTable, undefined> {
    const { types, timestamp: wanted } = this.#wishes;
    for (const name of types.keys()) this.#find(name).guess.ask();
    // A file with a column of numbers is not numbered anew.
    const numbers = this.#isNumbered ? this.#named(ROW_NUMBER) : null;
    numbers?.guess.ask();
    const asked = typeof wanted === "string" ? this.#find(wanted).guess : null;
    if (asked !== null && !TIME_TYPES.includes(asked.type())) asked.ask();
    const known = [...this.#columns].flatMap(([field, guess]) =>
      guess === null ? [] : [{ field, guess, type: guess.type() }],
    );
    const chosen = this.#isNumbered ? NUMBERED : yield* this.#chooseKey();
    const key = numbers === null ? chosen : { ...NUMBERED, columns: [numbers.field] };
    const keyed = new Set(key?.columns);
    const own = known.filter(({ guess }) => guess !== numbers?.guess);
    const columns = this.#columnEntries(own, keyed);
    const others = known.filter(({ field }) => !keyed.has(field)).map(({ guess }) => guess);
    const timestamp = wanted === undefined ? timestampColumnOf(others) : (asked?.name ?? null);
    const upsertKey = (key?.columns ?? []).map((field) => this.#columns.get(field)?.name ?? field);
    const importOf = this.#importEntry(known);
    const entry: TableEntry = {
      ...(timestamp === null ? {} : { timestamp_column: timestamp }),
      upsert_key: upsertKey,
      ...(Object.keys(importOf).length === 0 ? {} : { import: importOf }),
      columns,
    };
    const isStamped = timestamp === null && wanted !== null && canBeStamped(entry);
    return {
      name: this.#name,
      records: this.#records,
      entry: key === null ? null : isStamped ? stampedEntry(this.#name, entry) : entry,
      columns: known.map(({ guess, type }) => ({
        name: guess.name,
        type,
        reason: guess.reason(this.#records),
        misfits: guess.misfits(type),
      })),
      keyReason: key?.reason ?? null,
      timelessReason: timestamp === null ? timelessReason(others, wanted === null) : null,
      warnings: yield* this.#warnings(key),
      leftOut: [...this.#columns].flatMap(([field, guess]) => (guess === null ? [field] : [])),
    };
  }

  #columnEntries(
    known: readonly KnownColumn[],
    keyed: ReadonlySet<string>,
  ): Record<string, ColumnEntry> {
    const entries = known.map(({ field, guess, type }): [string, ColumnEntry] => {
      if (keyed.has(field)) guess.beKey();
      const isNotNull = keyed.has(field) || this.#isDeclaredNotNull(field);
      return [guess.name, isNotNull ? { type, nullable: false } : { type }];
    });
    const number: [string, ColumnEntry][] = this.#isNumbered ? [[ROW_NUMBER, ROW_COLUMN]] : [];
    return Object.fromEntries([...number, ...entries]);
  }

  #importEntry(known: readonly KnownColumn[]): ImportEntry {
    const headers = known.filter(({ field, guess }) => field !== guess.name);
    const epochs = known.flatMap(({ guess }) => {
      const unit = guess.type() === "datetime" ? guess.epoch() : null;
      return unit === null ? [] : [[guess.name, unit] as const];
    });
    // JSON is UTF-8 unless an import says otherwise.
    const { encoding, ...files } = this.#wishes.files;
    return {
      ...files,
      ...(encoding === undefined || this.#hints.form !== "field" ? {} : { encoding }),
      ...(headers.length === 0
        ? {}
        : { columns: Object.fromEntries(headers.map(({ field, guess }) => [guess.name, field])) }),
      ...(epochs.length === 0 ? {} : { epoch: Object.fromEntries(epochs) }),
    };
  }

  *#chooseKey(): Generator<undefined, KeyCandidate | null, undefined> {
    const { key } = this.#wishes;
    if (key !== null) {
      const columns = key.map((name) => this.#find(name).field);
      return { columns, rank: 0, reason: "as asked", isByValues: false };
    }
    const declared = this.#declaredKey();
    if (declared !== null) return declared;
    if (this.#records > 0) return yield* this.#key.best(this.#keyColumns());
    return this.#declaration === null ? nameKey(this.#name, [...this.#columns.keys()]) : null;
  }

  *#warnings(key: KeyCandidate | null): Generator<undefined, string[], undefined> {
    const warnings: string[] = [];
    if (key === NUMBERED) {
      return ["rows are numbered by their lines: for a file that is read in once, or only grows"];
    }
    const isGiven = this.#isNumbered || this.#wishes.key !== null || key?.reason === DECLARED;
    if (key !== null && isGiven) {
      const repeats = yield* this.#key.repeats(key.columns);
      if (repeats !== null) warnings.push(`${namesOf(repeats)} ${strayText(repeats)}`);
      return warnings;
    }
    if (key?.isByValues === true) {
      const basis = this.#records === 0 ? "the header alone" : countOf(this.#records, "record");
      warnings.push(
        `the key ${namesOf(key)} is a guess from ${basis}: look at it, or name another`,
      );
    }
    for (const field of key === null ? yield* this.#key.distinct() : []) {
      const { name = field } = this.#columns.get(field) ?? {};
      const type = this.#columns.get(field)?.type();
      if (type !== "numeric" && type !== "real") continue;
      const way = `try the type ${name}=text and the key ${name}`;
      warnings.push(`${name} tells rows apart, but no key may be ${type}: ${way}`);
    }
    for (const near of yield* this.#key.nearly()) {
      warnings.push(`${namesOf(near)} would do as the key, but ${strayText(near)}`);
    }
    return warnings;
  }

  #isMeant(field: string, name: string): boolean {
    return (
      field === name || columnNameOf(field) === name || this.#columns.get(field)?.name === name
    );
  }

  #named(name: string): FieldGuess | null {
    for (const [field, guess] of this.#columns) {
      if (guess !== null && this.#isMeant(field, name)) return { field, guess };
    }
    return null;
  }

  /** The column that somebody names. Throws `invalid_request`. */
  #find(name: string): FieldGuess {
    const found = this.#named(name);
    if (found !== null) return found;
    const names = [...this.#columns.values()].flatMap((guess) => guess?.name ?? []).join(", ");
    throw new AppError(
      "invalid_request",
      `"${this.#name}" has no column "${name}"; it has ${names}`,
    );
  }

  #addColumn(field: string, declared = ""): ColumnGuess | null {
    if (this.#columns.size >= MAX_COLUMNS) {
      const limit = `more than ${MAX_COLUMNS} columns, which a table cannot have`;
      throw new AppError("file_failed", `"${this.#name}" has ${limit}`);
    }
    const isForeign = field !== "" && registryNameOf(field) === null;
    const near = isForeign ? `column_${this.#columns.size + 1}` : columnNameOf(field);
    const isNumber = this.#isNumbered && near?.toLowerCase() === ROW_NUMBER;
    const name = isNumber ? ROW_NUMBER : near;
    for (const [otherField, other] of this.#columns) {
      if (name === null || other?.name.toLowerCase() !== name.toLowerCase()) continue;
      const text = `"${otherField}" and "${field}" would be one column, ${name}`;
      throw new AppError("file_failed", text, { hint: "Give one of them another name" });
    }
    const wanted = name === null ? null : this.#wantedType(field, name);
    const guess =
      name === null ? null : new ColumnGuess(name, { ...this.#hints, declared, wanted });
    this.#columns.set(field, guess);
    return guess;
  }

  /** The type that `finish` may ask for. */
  #wantedType(field: string, name: string): ColumnType | null {
    const { types, timestamp } = this.#wishes;
    const isMeant = (one: string) => one === name || this.#isMeant(field, one);
    if (this.#isNumbered && isMeant(ROW_NUMBER)) return "integer";
    const [, type = null] = [...types].findLast(([one]) => isMeant(one)) ?? [];
    const isTime = type !== null && TIME_TYPES.includes(type);
    return typeof timestamp === "string" && isMeant(timestamp) && !isTime ? "datetime" : type;
  }

  #isDeclaredNotNull(field: string): boolean {
    return this.#declaration?.columns.some((c) => c.name === field && c.isNotNull) ?? false;
  }

  /** The key that the database declares; null where its types may not be in a key. */
  #declaredKey(): KeyCandidate | null {
    const columns = this.#declaration?.key ?? [];
    const types = columns.map((field) => this.#columns.get(field)?.type());
    const isUsable = types.every((type) => type !== undefined && KEY_TYPES.includes(type));
    if (columns.length === 0 || !isUsable) return null;
    return { columns, rank: 0, reason: DECLARED, isByValues: false };
  }

  /** Columns that every record has, of a type that a key may have. */
  #keyColumns(): KeyColumn[] {
    return [...this.#columns].flatMap(([field, guess]) => {
      const type = guess?.type();
      if (guess === null || type === undefined || !GUESSED_KEY_TYPES.includes(type)) return [];
      const isTime = type === "date" || type === "datetime";
      return guess.values === this.#records ? [{ name: field, isTime }] : [];
    });
  }
}

function namesOf({ columns }: { readonly columns: readonly string[] }): string {
  return columns.join(", ");
}

/** The clause about records that keep columns from being a key. */
function strayText({ columns, count, lines }: Repeats): string {
  const value = columns.length === 1 ? "a value" : "values";
  const subject =
    count === 1 ? "1 record lacks or repeats" : `${formatCount(count)} records lack or repeat`;
  const more = count > lines.length ? " and more" : "";
  return `${subject} ${value}: line ${lines.join(", ")}${more}`;
}

/** The column named as the time of a change, a datetime before a date; null for none. Creation and events do not change. */
function timestampColumnOf(columns: readonly ColumnGuess[]): string | null {
  for (const type of TIME_TYPES) {
    const times = columns.filter((column) => column.type() === type);
    const found = CHANGES.flatMap(
      (pattern) => times.find(({ name }) => isNamed(name, pattern)) ?? [],
    );
    if (found[0] !== undefined) return found[0].name;
  }
  return null;
}

function timelessReason(columns: readonly ColumnGuess[], isWanted: boolean): string {
  if (isWanted) return "you asked for none";
  const named = columns.find(({ name }) => CHANGES.some((pattern) => isNamed(name, pattern)));
  const misfits = named?.misfits("datetime") ?? null;
  if (named === undefined) return "no column is named as the time of a change";
  if (misfits === null) return `${named.name} is named as a time, but has no values`;
  const way = "named as the timestamp it is taken all the same, and an import fails those rows";
  return `${named.name} is named as a time, but ${named.fitText(misfits, "none")}; ${way}`;
}

function isNamed(name: string, pattern: RegExp): boolean {
  return pattern.test(wordsOfName(name));
}
