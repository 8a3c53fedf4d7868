// Gathers what the values of a column look like, and says which type fits all of them.
import { isSameDecimal, parseDecimal, parseInt64 } from "../../shared/decimal.ts";
import { isRawNumber, type JsonValue, numberText, parseJson } from "../../shared/json.ts";
import { parseDate, parseDateTime } from "../../shared/time.ts";
import { wordsOfName } from "../table/names.ts";
import type { ColumnType } from "../table/table.ts";

/** How the values of a file are written: as fields without types, as JSON, or as SQLite holds them. */
export type ValueForm = "field" | "json" | "sqlite";

/**
 * - `bit`: 0 or 1, which is a whole number or a boolean. `flag`: true, false. `word`: yes, no, on, off, y, n, t, f.
 * - `integer`: a whole number that every program reads exactly; `bigint`: one within ±(2^63-1); `huge`: one beyond it.
 * - `decimal`: a number with a fraction; `float`: one that is a double to the last digit, as measurements are written.
 * - `date`, `datetime`: as ISO 8601 writes them. `json`: an object or array. `text`: all else.
 */
type ValueKind =
  | "bit"
  | "flag"
  | "word"
  | "integer"
  | "bigint"
  | "huge"
  | "decimal"
  | "float"
  | "date"
  | "datetime"
  | "json"
  | "text";

interface FirstValue {
  readonly text: string;
  /** Of its record. */
  readonly line: number;
}

const FLAG_NAME =
  /^(?:is|has|can|was|should|allow|allows|enable|use)_|(?:^|_)(?:active|enabled|disabled|deleted|verified|public|private|visible|hidden|archived|published|approved|confirmed|available|done|completed|flag|in_stock|paid|admin|subscribed)$/;
const PAIRS: readonly (readonly [string, string])[] = [
  ["yes", "no"],
  ["y", "n"],
  ["on", "off"],
  ["t", "f"],
];
/** A date as many countries write it, which could be read in two ways. */
const FOREIGN_DATE = /^"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b/;
const EXAMPLE_CHARS = 40;

const FLAG = /^(?:true|false)$/i;
const WORD = /^(?:yes|no|on|off|y|n|t|f)$/i;
/** Leading zeros and a plus sign mean a code or a telephone number. */
const WHOLE = /^(?:0|-?[1-9]\d*)$/;
const NUMBER = /^-?(?:0|[1-9]\d*)?(?:\.\d*)?(?:[eE][+-]?\d+)?$/;
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** A decimal with so many digits was made by a program from a double. */
const DOUBLE_DIGITS = 16;

const NUMBERS: readonly ValueKind[] = ["bit", "integer", "bigint", "huge", "decimal", "float"];
const FLAGS: readonly ValueKind[] = ["flag", "word", "bit"];

export class ColumnGuess {
  /** In the registry. */
  readonly name: string;
  readonly #form: ValueForm;
  /** What the database declares, in capitals; empty elsewhere. */
  readonly #declared: string;
  readonly #firsts = new Map<ValueKind, FirstValue>();
  readonly #words = new Set<string>();
  /** Of values that have a type of their own. */
  readonly #types = new Set<string>();
  #values = 0;

  constructor(name: string, form: ValueForm, declared = "") {
    this.name = name;
    this.#form = form;
    this.#declared = declared.toUpperCase();
  }

  /** Adds the value of a record; null for none. */
  add(value: JsonValue, line: number): void {
    if (value === null || (value === "" && this.#form === "field")) return;
    this.#values++;
    const kind = this.#kindOf(value);
    if (kind === "word" && typeof value === "string") this.#words.add(value.toLowerCase());
    if (!this.#firsts.has(kind)) this.#firsts.set(kind, { text: exampleOf(value), line });
  }

  #kindOf(value: Exclude<JsonValue, null>): ValueKind {
    if (this.#form === "field" && typeof value === "string") {
      // A field of an export that holds JSON.
      const marked = value.startsWith("\\") ? jsonOf(value.slice(1)) : null;
      return marked === null ? kindOfField(value) : kindOfJson(marked);
    }
    this.#types.add(isRawNumber(value) ? "number" : typeof value);
    return kindOfJson(value);
  }

  /** Values that are not empty. */
  get values(): number {
    return this.#values;
  }

  /** The type that reads every value as it is. */
  type(): ColumnType {
    if (this.#values === 0) return this.#declaredType();
    if (this.#isFlags()) return "boolean";
    if (this.#all(NUMBERS)) return this.#numberType();
    if (this.#types.size > 1) return "json";
    if (this.#all(["date"])) return "date";
    if (this.#all(["date", "datetime"])) return "datetime";
    return this.#all(["json"]) ? "json" : "text";
  }

  /** What the guess rests on, for people. */
  reason(records: number): string {
    if (this.#values === 0) return "no values";
    const first = [...this.#firsts.values()][0];
    const odd = this.#oddest();
    const foreign = this.#firsts.get("text");
    const lacking = records - this.#values;
    const empty = lacking > 0 ? `, empty in ${lacking}` : "";
    if (odd !== null) return `because of ${odd.text} in line ${odd.line}${empty}`;
    if (foreign !== undefined && FOREIGN_DATE.test(foreign.text)) {
      return `because ${foreign.text} is not written like 2026-01-31${empty}`;
    }
    return `such as ${first?.text ?? ""}${empty}`;
  }

  #all(kinds: readonly ValueKind[]): boolean {
    return [...this.#firsts.keys()].every((kind) => kinds.includes(kind));
  }

  #isFlags(): boolean {
    if (!this.#all(FLAGS)) return false;
    const isNamed = FLAG_NAME.test(wordsOfName(this.name));
    if (this.#form === "sqlite") return this.#declared.startsWith("BOOL");
    if (this.#form === "json") return this.#all(["flag"]);
    if (isNamed || this.#all(["flag"])) return true;
    if (this.#all(["bit"])) return false;
    return PAIRS.every(([yes, no]) => this.#words.has(yes) === this.#words.has(no));
  }

  #numberType(): ColumnType {
    const has = (kind: ValueKind) => this.#firsts.has(kind);
    if (this.#form === "sqlite") {
      if (/DEC|NUM|MONEY/.test(this.#declared)) return "numeric";
      // SQLite holds doubles.
      if (/REAL|FLOA|DOUB/.test(this.#declared) || has("decimal") || has("float")) return "real";
    }
    if (has("huge") || has("decimal")) return "numeric";
    if (has("float")) return has("bigint") ? "numeric" : "real";
    return has("bigint") || this.#declared === "BIGINT" ? "bigint" : "integer";
  }

  /** Of a column of which only the declaration is known. */
  #declaredType(): ColumnType {
    const types: readonly (readonly [RegExp, ColumnType])[] = [
      [/^BOOL/, "boolean"],
      [/BIGINT/, "bigint"],
      [/INT/, "integer"],
      [/DATETIME|TIMESTAMP/, "datetime"],
      [/^DATE/, "date"],
      [/JSON/, "json"],
      [/REAL|FLOA|DOUB/, "real"],
      [/DEC|NUM|MONEY/, "numeric"],
    ];
    return types.find(([pattern]) => pattern.test(this.#declared))?.[1] ?? "text";
  }

  /** The value that makes a text of what would be something else without it. */
  #oddest(): FirstValue | null {
    if (this.#firsts.size < 2 || this.type() !== "text") return null;
    return this.#firsts.get("text") ?? null;
  }
}

/** Null for a text that is no JSON. */
function jsonOf(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

function exampleOf(value: Exclude<JsonValue, null>): string {
  const text = JSON.stringify(value);
  return text.length <= EXAMPLE_CHARS ? text : `${text.slice(0, EXAMPLE_CHARS)}…`;
}

/** The kind of a field of a CSV file, which has no type of its own. */
function kindOfField(text: string): ValueKind {
  if (text === "0" || text === "1") return "bit";
  const first = text.charCodeAt(0);
  const isNumeric = first === 0x2d || first === 0x2e || (first >= 0x30 && first <= 0x39);
  if (isNumeric) return numberKind(text) ?? timeKind(text) ?? "text";
  if (text.startsWith("{") || text.startsWith("[")) return jsonOf(text) === null ? "text" : "json";
  if (FLAG.test(text)) return "flag";
  return WORD.test(text) ? "word" : "text";
}

/** The kind of a value of a JSON file. In quotes only times, dates and decimals with a point are more than texts. */
function kindOfJson(value: Exclude<JsonValue, null>): ValueKind {
  if (typeof value === "boolean") return "flag";
  if (typeof value === "string") {
    const isDecimal = value.includes(".") && numberKind(value) === "decimal";
    return timeKind(value) ?? (isDecimal ? "decimal" : "text");
  }
  if (typeof value === "number" || isRawNumber(value)) {
    if (value === 0 || value === 1) return "bit";
    return numberKind(numberText(value)) ?? "decimal";
  }
  return "json";
}

function timeKind(text: string): ValueKind | null {
  if (text.length === 10) return parseDate(text) === null ? null : "date";
  return text.length > 10 && parseDateTime(text) !== null ? "datetime" : null;
}

/** Null for what is no number, or more than one. */
function numberKind(text: string): ValueKind | null {
  if (WHOLE.test(text)) {
    if (text.length < 16 || Number.isSafeInteger(Number(text))) return "integer";
    return parseInt64(text) === null ? "huge" : "bigint";
  }
  if (!NUMBER.test(text) || parseDecimal(text) === null) return null;
  return isDouble(text) ? "float" : "decimal";
}

/** With an exponent or as many digits as a double has, and no more than it can hold. */
function isDouble(text: string): boolean {
  if (!JSON_NUMBER.test(text)) return false;
  const digits = text.replace(/[eE].*$/, "").replace(/^-?0?\.?0*|\D/g, "").length;
  if (!/[eE]/.test(text) && digits < DOUBLE_DIGITS) return false;
  const number = Number(text);
  return Number.isFinite(number) && isSameDecimal(text, String(number));
}
