// Gathers what the values of a column look like, and says which type fits all of them.
import { isRawNumber, type JsonValue, parseJson } from "../../shared/json.ts";
import { wordsOfName } from "../table/names.ts";
import type { ColumnType } from "../table/table.ts";
import { kindOfField, kindOfJson, type ValueKind } from "./value-kind.ts";

/** How the values of a file are written: as fields without types, as JSON, or as SQLite holds them. */
export type ValueForm = "field" | "json" | "sqlite";

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
      const marked = value.startsWith("\\") ? markedValue(value) : null;
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

/** A field of an export that holds JSON behind a backslash; null for any other text. */
function markedValue(field: string): JsonValue {
  try {
    return parseJson(field.slice(1));
  } catch {
    return null;
  }
}

function exampleOf(value: Exclude<JsonValue, null>): string {
  const text = JSON.stringify(value);
  return text.length <= EXAMPLE_CHARS ? text : `${text.slice(0, EXAMPLE_CHARS)}…`;
}
