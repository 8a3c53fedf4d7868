// Parses JSON piece by piece, without losing a digit. D-3.3, D-7.9. The runtime's own parser holds up everything else while it
// reads a large text, and rounds some numbers; it takes half the time, so short texts without odd numbers go to it. Streaming
// parsers on npm round numbers as well, or make a token for each value. Limits are checked while reading, and no text overflows a
// stack. A text of 150 MB takes 475 MiB.

/** Lists and objects inside one another; more would overflow those who read the value. */
export const MAX_DEPTH = 10_000;
/** Names and numbers are read in one piece. */
const MAX_TOKEN_CHARS = 1024 * 1024;
const KNOWN_NAMES = 256;

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const LETTER_E = 0x65;
const LETTER_U = 0x75;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Digits that a JS number always holds. */
const SAFE_DIGITS = 15;
const LONGEST_WORD_CHARS = "false".length;

/** States: what may come next. */
const VALUE = 0;
const VALUE_OR_END = 1;
const NAME = 2;
const NAME_OR_END = 3;
const BEHIND_NAME = 4;
const BEHIND_VALUE = 5;

type Container = JsonValue[] | Record<string, JsonValue>;

/** JSON that is beyond a limit, though it may be valid. The message is a predicate, such as `is nested too deeply`. */
export class JsonLimitError extends RangeError {
  override readonly name = "JsonLimitError";
  /** True for too many values or records: fewer would be read. */
  readonly isTooMuch: boolean;

  constructor(message: string, { isTooMuch = false } = {}) {
    super(message);
    this.isTooMuch = isTooMuch;
  }
}

/** The limits of a text; an absent one does not count. D-11.2. */
export interface JsonLimits {
  /** Without the outermost value and its `records`, where those are a list. */
  readonly maxValues?: number;
  /** Members of the lists `records` and `deleted` of the outermost object, together. */
  readonly maxRecords?: number;
}

/** Reads a JSON text. The value is that of `JSON.parse`; only numbers that a JS number would change are raw numbers. */
export class JsonReader {
  readonly #maxValues: number;
  readonly #maxRecords: number;
  /** The open lists and objects, the outermost first, and the name that was read last in each. */
  readonly #open: Container[] = [];
  readonly #openNames: string[] = [];
  /** The innermost open list or object; null outside of all. */
  #container: Container | null = null;
  #isList = false;
  #name = "";
  #root: JsonValue | undefined;
  #expected = VALUE;
  #hasEscape = false;
  /** The text; all before `#at` was read. */
  #text = "";
  #at = 0;
  /** The pieces of a text whose end has not come; null outside of one. */
  #begun: string[] | null = null;
  /** Values so far; the outermost does not count. */
  #values = -1;
  #records = 0;
  /** True inside of a list whose members are records. */
  #isOfRecords = false;
  /** Names by a hash of length, first and last character: objects in a list share their names. */
  readonly #knownNames = new Array<string>(KNOWN_NAMES).fill("");

  constructor({ maxValues = Infinity, maxRecords = Infinity }: JsonLimits = {}) {
    this.#maxValues = maxValues;
    this.#maxRecords = maxRecords;
  }

  /** Reads the next piece of the text. Throws `SyntaxError` when it is no JSON, and `JsonLimitError`. */
  read(piece: string): void {
    this.#text = this.#text.slice(this.#at) + piece;
    this.#at = 0;
    while (this.#readNext());
    if (this.#text.length - this.#at > MAX_TOKEN_CHARS) {
      throw new JsonLimitError("has a name or a number of more than 1 MiB");
    }
  }

  /** The value, once all pieces were read. Throws as `read` does. */
  finish(): JsonValue {
    // A number has no end of its own.
    this.read(" ");
    const isWhole = this.#at === this.#text.length && this.#begun === null;
    if (isWhole && this.#container === null && this.#root !== undefined) return this.#root;
    throw new SyntaxError("JSON ends too early");
  }

  /** Reads a name, a value or a sign; false when its end has not come. */
  #readNext(): boolean {
    const text = this.#text;
    const { length } = text;
    if (this.#begun !== null) return this.#readText(this.#at);
    let at = this.#at;
    let code = SPACE;
    for (; at < length; at++) {
      code = text.charCodeAt(at);
      if (code !== SPACE && code !== NEWLINE && code !== RETURN && code !== TAB) break;
    }
    this.#at = at;
    if (at === length) return false;
    const expected = this.#expected;
    if (expected === BEHIND_VALUE) return this.#readSign(code);
    if (expected === BEHIND_NAME) {
      if (code !== COLON) throw new SyntaxError("JSON lacks a colon");
      return this.#passSign(VALUE);
    }
    const isEnd = code === (this.#isList ? CLOSE_LIST : CLOSE_OBJECT);
    if (isEnd && (expected === VALUE_OR_END || expected === NAME_OR_END)) return this.#close();
    if (expected === NAME || expected === NAME_OR_END) return this.#readName(code);
    if (code === QUOTE) return this.#readText(at + 1);
    if (code === OPEN_LIST || code === OPEN_OBJECT) return this.#openContainer(code === OPEN_LIST);
    if (code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9)) return this.#readNumber(code);
    return this.#readWord();
  }

  #passSign(expected: number): true {
    this.#at++;
    this.#expected = expected;
    return true;
  }

  /** Reads what is behind a value. */
  #readSign(code: number): true {
    if (this.#container === null) throw new SyntaxError("JSON has more than one value");
    if (code === COMMA) return this.#passSign(this.#isList ? VALUE : NAME);
    if (code === (this.#isList ? CLOSE_LIST : CLOSE_OBJECT)) return this.#close();
    throw new SyntaxError("JSON lacks a comma");
  }

  #openContainer(isList: boolean): true {
    const depth = this.#open.length;
    if (depth >= MAX_DEPTH) throw new JsonLimitError("is nested too deeply");
    const container: Container = isList ? [] : {};
    this.#add(container);
    if (depth === 1 && isList && !this.#isList) this.#openList(this.#name);
    this.#openNames[depth] = this.#name;
    this.#open.push(container);
    this.#container = container;
    this.#isList = isList;
    return this.#passSign(isList ? VALUE_OR_END : NAME_OR_END);
  }

  /** Begins a list in the outermost object. */
  #openList(name: string): void {
    this.#isOfRecords = name === "records" || name === "deleted";
    if (name === "records") this.#values--;
  }

  #close(): true {
    this.#open.pop();
    const depth = this.#open.length;
    this.#container = this.#open[depth - 1] ?? null;
    this.#isList = Array.isArray(this.#container);
    this.#name = this.#openNames[depth] ?? "";
    if (depth <= 1) this.#isOfRecords = false;
    return this.#passSign(BEHIND_VALUE);
  }

  #add(value: JsonValue): void {
    if (++this.#values > this.#maxValues) throw tooMuch(this.#maxValues, "values");
    const container = this.#container;
    if (container === null) this.#root = value;
    else if (this.#isList) this.#addItem(container as JsonValue[], value);
    else addMember(container as Record<string, JsonValue>, this.#name, value);
  }

  #addItem(list: JsonValue[], value: JsonValue): void {
    list.push(value);
    if (!this.#isOfRecords || this.#open.length !== 2) return;
    if (++this.#records > this.#maxRecords)
      throw tooMuch(this.#maxRecords, "records and tombstones");
  }

  #addScalar(value: JsonValue, endAt: number): true {
    this.#add(value);
    this.#at = endAt;
    this.#expected = BEHIND_VALUE;
    return true;
  }

  #readName(code: number): boolean {
    if (code !== QUOTE) throw new SyntaxError("JSON lacks a name");
    const text = this.#text;
    const from = this.#at + 1;
    const endAt = this.#textEnd(from);
    if (endAt < 0) return false;
    this.#at = endAt + 1;
    this.#expected = BEHIND_NAME;
    const chars = endAt - from;
    const place = (chars * 31 + text.charCodeAt(from) + text.charCodeAt(endAt - 1) * 7) & 0xff;
    const known = this.#knownNames[place] as string;
    if (known.length === chars && text.startsWith(known, from)) this.#name = known;
    else {
      this.#name = this.#unescaped(from, endAt);
      if (this.#name.length === chars) this.#knownNames[place] = this.#name;
    }
    return true;
  }

  /** Reads a text, or the rest of one, from its first character on. */
  #readText(from: number): boolean {
    const endAt = this.#textEnd(from);
    if (endAt >= 0) {
      const rest = this.#unescaped(from, endAt);
      // Joining at once frees the pieces; a sum would keep them.
      const value = this.#begun === null ? rest : [...this.#begun, rest].join("");
      this.#begun = null;
      return this.#addScalar(value, endAt + 1);
    }
    const pieceEnd = this.#pieceEnd(from);
    this.#begun ??= [];
    this.#begun.push(this.#unescaped(from, pieceEnd));
    this.#at = pieceEnd;
    return false;
  }

  /** The place of the quote that ends a text; -1 when it has not come. */
  #textEnd(from: number): number {
    const text = this.#text;
    const { length } = text;
    this.#hasEscape = false;
    for (let at = from; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) return at;
      if (code < SPACE) throw new SyntaxError("JSON has a control character in a text");
      if (code !== BACKSLASH) continue;
      this.#hasEscape = true;
      at++;
    }
    return -1;
  }

  /** The end of what has come of a text, before an escape that is not whole. */
  #pieceEnd(from: number): number {
    const text = this.#text;
    let at = from;
    while (at < text.length) {
      const isEscape = text.charCodeAt(at) === BACKSLASH;
      const endAt = at + (isEscape ? (text.charCodeAt(at + 1) === LETTER_U ? 6 : 2) : 1);
      if (endAt > text.length) break;
      at = endAt;
    }
    return at;
  }

  #unescaped(from: number, to: number): string {
    const text = this.#text.slice(from, to);
    return this.#hasEscape ? (JSON.parse(`"${text}"`) as string) : text;
  }

  #readNumber(first: number): boolean {
    const text = this.#text;
    let endAt = this.#at;
    let whole = 0;
    let code = first;
    for (; code >= DIGIT_0 && code <= DIGIT_9; code = text.charCodeAt(endAt)) {
      whole = whole * 10 + code - DIGIT_0;
      endAt++;
    }
    const digits = endAt - this.#at;
    const isWhole = endAt < text.length && !isNumberSign(code);
    if (isWhole && digits <= SAFE_DIGITS && (first !== DIGIT_0 || digits === 1)) {
      return this.#addScalar(whole, endAt);
    }
    while (isNumberSign(code) || (code >= DIGIT_0 && code <= DIGIT_9)) {
      code = text.charCodeAt(++endAt);
    }
    if (endAt === text.length) return false;
    return this.#addScalar(numberOf(text.slice(this.#at, endAt)), endAt);
  }

  #readWord(): boolean {
    const text = this.#text;
    const at = this.#at;
    if (text.startsWith("true", at)) return this.#addScalar(true, at + 4);
    if (text.startsWith("false", at)) return this.#addScalar(false, at + 5);
    if (text.startsWith("null", at)) return this.#addScalar(null, at + 4);
    if (text.length - at < LONGEST_WORD_CHARS) return false;
    throw new SyntaxError("JSON has something that is no value");
  }
}

function tooMuch(most: number, what: string): JsonLimitError {
  return new JsonLimitError(`has more than ${most} ${what}`, { isTooMuch: true });
}

/** Adds a member as JSON does: the name `__proto__` is one like any other. */
function addMember(object: Record<string, JsonValue>, name: string, value: JsonValue): void {
  if (name !== "__proto__") object[name] = value;
  else {
    const isOwn = { enumerable: true, configurable: true, writable: true };
    Object.defineProperty(object, name, { ...isOwn, value });
  }
}

/** True for a sign, a point, or the letter of an exponent: the characters of a number that are no digits. */
function isNumberSign(code: number): boolean {
  return code === POINT || (code | 0x20) === LETTER_E || code === MINUS || code === PLUS;
}

/** Runtimes older than ES2026 (Node 20) have no raw numbers: there digits are lost as by `JSON.parse`. */
const { rawJSON } = JSON as unknown as { rawJSON?(source: string): RawNumber };

function numberOf(source: string): number | RawNumber {
  if (!JSON_NUMBER.test(source)) throw new SyntaxError("JSON has a number that is none");
  const value = Number(source);
  return String(value) === source || rawJSON === undefined ? value : rawJSON(source);
}

/** A number kept as its JSON source text, made by `JSON.rawJSON`; `JSON.stringify` writes it back unchanged. */
export interface RawNumber {
  readonly rawJSON: string;
}

/** Any JSON value, with numbers that a JS number would change kept as `RawNumber`. D-3.3. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | RawNumber
  | readonly JsonValue[]
  | JsonObject;

/** A JSON object as parsed: own enumerable properties only, any name. */
export interface JsonObject {
  readonly [name: string]: JsonValue;
}
