// Gathers what the values of a column look like, and says which type fits all of them.
import { parseDecimal } from "../../shared/decimal.ts";
import { isRawNumber, type JsonValue } from "../../shared/json.ts";
import { formatCount } from "../../shared/text.ts";
import { markedValue, readFileNumber } from "../rows/csv-fields.ts";
import type { ColumnType } from "../table/column-types.ts";
import { DateFormat } from "../table/date-format.ts";
import { wordsOfName } from "../table/names.ts";
import type { EpochUnit, FileForm } from "../table/table.ts";
import {
  FLAGS,
  kindOfField,
  kindOfJson,
  type Misfits,
  NUMBERS,
  READS,
  TIMES,
  type ValueForm,
  type ValueKind,
  WantedType,
  WHOLES,
} from "./value-kind.ts";

interface KindCount {
  count: number;
  /** The first value, for people, and the line of its record. */
  readonly text: string;
  readonly line: number;
}

/** Hints about a column before its values are seen. */
export interface ColumnHints {
  readonly form: ValueForm;
  /** The type that the database declares; empty elsewhere. */
  readonly declared?: string;
  readonly files: FileForm;
  /** The type that may be asked for. */
  readonly wanted?: ColumnType | null;
}

const FLAG_NAME =
  /^(?:is|has|can|was|should|allow|allows|enable|use)_|(?:^|_)(?:active|enabled|disabled|deleted|verified|public|private|visible|hidden|archived|published|approved|confirmed|available|done|completed|flag|in_stock|paid|admin|subscribed)$/;
const PAIRS: readonly (readonly [string, string])[] = [
  ["yes", "no"],
  ["y", "n"],
  ["on", "off"],
  ["t", "f"],
];
const EXAMPLE_CHARS = 40;

/** The names of a type's values in messages. */
const PLURALS: readonly (readonly [type: ColumnType, plural: string])[] = [
  ["datetime", "times"],
  ["numeric", "numbers"],
  ["boolean", "booleans"],
];

const TIME_NAME =
  /(?:^|_)(?:at|on|time|date|datetime|timestamp|ts|epoch|when|since|until|expires|seen|(?:last_)?(?:created?|updated?|modified|changed?|edited))$/;

/** Formats with fixed digits come before those that read the same dates. */
const DATES = [
  ...["DD.MM.YYYY", "D.M.YYYY", "DD/MM/YYYY", "D/M/YYYY", "MM/DD/YYYY", "M/D/YYYY"],
  ...["YYYY/MM/DD", "DD-MM-YYYY", "MM-DD-YYYY"],
];
const DATE_FORMATS = ["", " HH:mm", " HH:mm:ss"].flatMap((time) =>
  DATES.map((date) => DateFormat.parse(date + time)).filter((format) => format !== null),
);

export class ColumnGuess {
  /** The name in the registry. */
  readonly name: string;
  readonly #form: ValueForm;
  /** The declared type, in capitals. */
  readonly #declared: string;
  readonly #files: FileForm | null;
  readonly #wanted: WantedType | null;
  #asked: ColumnType | null = null;
  #isKey = false;
  readonly #kinds = new Map<ValueKind, KindCount>();
  readonly #words = new Set<string>();
  /** True once there was a whole number of SQLite beyond 2^53, which a double may not hold. */
  #hasRaw = false;
  /** JavaScript types of the values, where they are not fields. */
  readonly #types = new Set<string>();
  /** Formats that read every text so far. */
  #formats: readonly DateFormat[] = DATE_FORMATS;
  /** Decimal signs with which every text so far is a number, also with groups of three digits. */
  #signs: readonly ("," | ".")[] = [",", "."];
  #hasCommas = false;
  #values = 0;

  constructor(name: string, { form, declared = "", files, wanted = null }: ColumnHints) {
    this.name = name;
    this.#form = form;
    this.#declared = declared.toUpperCase();
    this.#files = form === "field" ? files : null;
    this.#wanted = wanted === null ? null : new WantedType(wanted, this.#files);
  }

  /** Adds the value of a record; null for none. */
  add(value: JsonValue, line: number): void {
    const isField = this.#form === "field" && typeof value === "string";
    if (value === null || (isField && (value === "" || markedValue(value) === null))) return;
    this.#values++;
    const kind = this.#kindOf(value);
    const known = this.#kinds.get(kind);
    if (known === undefined) this.#kinds.set(kind, { count: 1, text: exampleOf(value), line });
    else known.count++;
    this.#wanted?.add(value, exampleOf(value), line);
    if (typeof value !== "string") return;
    if (kind === "word") this.#words.add(value.toLowerCase());
    if (kind !== "text" || this.#files === null) return;
    this.#formats = this.#formats.filter((format) => format.read(value) !== null);
    this.#signs = this.#signs.filter(
      (sign) => parseDecimal(readFileNumber(value, sign) ?? "") !== null,
    );
    this.#hasCommas ||= value.includes(",");
  }

  #kindOf(value: Exclude<JsonValue, null>): ValueKind {
    if (this.#form === "field" && typeof value === "string") {
      // A field of an export that holds JSON.
      const marked = markedValue(value) ?? null;
      return marked === null ? kindOfField(value, this.#files) : kindOfJson(marked);
    }
    const isRaw = isRawNumber(value);
    this.#hasRaw ||= isRaw;
    this.#types.add(isRaw ? "number" : typeof value);
    return kindOfJson(value);
  }

  /** Values that are there. */
  get values(): number {
    return this.#values;
  }

  /** Takes the wanted type. To be called after the last value. */
  ask(): void {
    this.#asked = this.#wanted?.type ?? null;
  }

  /** Makes it a part of the key. To be called after the last value. */
  beKey(): void {
    this.#isKey = true;
  }

  /** The type that reads every value as it is, or the one that was asked for. */
  type(): ColumnType {
    if (this.#asked !== null) return this.#asked;
    if (this.#all([])) return this.#declaredType();
    if (this.#isFlags()) return "boolean";
    if (this.epoch() !== null) return "datetime";
    if (this.#all(NUMBERS)) return this.#numberType();
    if (this.#types.size > 1) {
      return this.#types.has("string") && !this.#kinds.has("object") ? "text" : "json";
    }
    if (this.#all(["date"])) return "date";
    if (this.#all(TIMES)) return "datetime";
    return this.#all(["json", "object"]) ? "json" : "text";
  }

  /** The unit of numbers that are times; null where none are. */
  epoch(): EpochUnit | null {
    const count = (kind: ValueKind) => this.#kinds.get(kind)?.count ?? 0;
    const [seconds, millis] = [count("seconds"), count("millis")];
    if (seconds + millis === 0) return null;
    const unit = seconds > millis ? "seconds" : "milliseconds";
    if (this.#asked !== null) return this.#asked === "datetime" ? unit : null;
    const isNamed = TIME_NAME.test(wordsOfName(this.name)) || /DATE|TIME/.test(this.#declared);
    const kind = unit === "seconds" ? "seconds" : "millis";
    return isNamed && this.#all([...TIMES, kind]) ? unit : null;
  }

  /** Values that do not fit the type, and fail their rows in an import; null for none. */
  misfits(type = this.type()): Misfits | null {
    if (type === this.#asked) return this.#wanted?.misfits(this.#isKey, this.epoch()) ?? null;
    const others = [...this.#kinds].filter(([kind]) => !this.#reads(type, kind));
    const [first] = others.map(([, one]) => one).toSorted((a, b) => a.line - b.line);
    if (first === undefined) return null;
    return { ...first, count: others.reduce((sum, [, { count }]) => sum + count, 0) };
  }

  #reads(type: ColumnType, kind: ValueKind): boolean {
    if (kind === "broken") return false;
    if (type === "text") return kind !== "object";
    if (type === "json") {
      return this.#form !== "field" || ["json", "object", "bit", "integer"].includes(kind);
    }
    const isEpoch = type === "datetime" && this.epoch() !== null;
    return READS[type].includes(kind) || (isEpoch && WHOLES.includes(kind) && kind !== "bigint");
  }

  /** The basis of the guess, for people. */
  reason(records: number): string {
    if (this.#values === 0) return "no values";
    const lacking = records - this.#values;
    const empty = lacking > 0 ? `, empty in ${formatCount(lacking)}` : "";
    const misfits = this.misfits();
    const but = misfits === null ? "" : `, but ${this.fitText(misfits, "none")}`;
    return `${this.#basis(this.type())}${but}${empty}`;
  }

  #basis(type: ColumnType): string {
    if (this.#asked !== null) return "as asked";
    const proposal = type === "text" ? this.#proposal() : null;
    if (proposal !== null) return proposal;
    const epoch = this.epoch();
    const example = this.#kinds.values().next().value?.text ?? "";
    if (epoch !== null) return `${epoch} since 1970, such as ${example}`;
    const near = type === "text" ? this.#nearType() : null;
    return near ?? `such as ${example}`;
  }

  /** The clause about misfits, such as `2 of 90 values are no times, the first "soon" in line 3`. */
  fitText({ count, text, line }: Misfits, what: string): string {
    const verb = count === 1 ? "is" : "are";
    return `${formatCount(count)} of ${formatCount(this.#values)} values ${verb} ${what}, the first ${text} in line ${line}`;
  }

  /** The options by which the texts would be read as dates or numbers. */
  #proposal(): string | null {
    const texts = this.#kinds.get("text");
    if (this.#form !== "field" || texts === undefined) return null;
    if (this.#all(["text"]) && this.#formats.length > 0) {
      const [first, ...others] = this.#formats.map(({ text }) => text);
      // Day and month may be the other way round.
      const other = others.find((one) => one.length === first?.length && one[0] !== first[0]);
      const choice = other === undefined ? `'${first}'` : `'${first}' or '${other}'`;
      return `dates such as ${texts.text}: name the date format ${choice}`;
    }
    const isNumber = this.#hasCommas && this.#all([...NUMBERS, "text"]);
    if (!isNumber || this.#signs.length === 0) return null;
    return `numbers such as ${texts.text}: name the decimal sign ${this.#signs.join(" or ")}`;
  }

  /** Names the few values without which the column would have another type than text. */
  #nearType(): string | null {
    for (const [type, plural] of PLURALS) {
      const misfits = this.misfits(type);
      if (misfits === null || misfits.count * 2 > this.#values) continue;
      return this.fitText(misfits, `no ${misfits.count === 1 ? plural.slice(0, -1) : plural}`);
    }
    return null;
  }

  /** True where all values are of these kinds; a value that no column takes says nothing about the type. */
  #all(kinds: readonly ValueKind[]): boolean {
    return [...this.#kinds.keys()].every((kind) => kind === "broken" || kinds.includes(kind));
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
    const has = (kind: ValueKind) => this.#kinds.has(kind);
    if (this.#form === "sqlite") {
      if (/DEC|NUM|MONEY/.test(this.#declared)) return "numeric";
      // SQLite holds doubles.
      const isReal = /REAL|FLOA|DOUB/.test(this.#declared) || has("decimal") || has("float");
      if (isReal && !has("quoted") && !this.#hasRaw) return "real";
    }
    if (has("huge") || has("decimal") || has("quoted")) return "numeric";
    if (has("float")) return has("bigint") ? "numeric" : "real";
    return has("bigint") || this.#declared === "BIGINT" ? "bigint" : "integer";
  }

  /** The type of a column without values. */
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
}

function exampleOf(value: Exclude<JsonValue, null>): string {
  const text = JSON.stringify(value);
  return text.length <= EXAMPLE_CHARS ? text : `${text.slice(0, EXAMPLE_CHARS)}…`;
}
