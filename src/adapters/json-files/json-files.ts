// NDJSON files and JSON arrays of any length. Each record is parsed alone by the parser that keeps every digit, which no streaming
// library does as fast. D-4.12, D-14.1.
import { AppError } from "../../domain/shared/errors.ts";
import { parseJson } from "../../domain/shared/json.ts";
import { JsonLimitError } from "../../domain/shared/json-reader.ts";
import { MAX_JSON_VALUES, MAX_RECORD_CHARS } from "../../domain/shared/limits.ts";
import type { Column, Row } from "../../domain/sync/table/table.ts";
import type { FoundRecord, RowEncoder } from "../../ports/files.ts";

/** A JSON value per line, without blank lines. A line that is not JSON is a failed record. */
export async function* readNdjson(
  chunks: AsyncIterable<string>,
): AsyncGenerator<readonly FoundRecord[], void, undefined> {
  let line = 1;
  let begun: string[] = [];
  let begunChars = 0;
  for await (const chunk of chunks) {
    const pieces = chunk.split("\n");
    const found: FoundRecord[] = [];
    for (const [i, piece] of pieces.entries()) {
      begun.push(piece);
      begunChars += piece.length;
      if (begunChars > MAX_RECORD_CHARS) throw tooLong(line);
      if (i === pieces.length - 1) break;
      addRecord(found, begun.join(""), line);
      [begun, begunChars] = [[], 0];
      line++;
    }
    if (found.length > 0) yield found;
  }
  const last: FoundRecord[] = [];
  addRecord(last, begun.join(""), line);
  yield last;
}

function parseRecord(text: string, line: number): FoundRecord {
  const place = { line, chars: text.length };
  try {
    return { ...place, record: parseJson(text, { maxValues: MAX_JSON_VALUES }), problem: null };
  } catch (error) {
    if (error instanceof JsonLimitError) return { ...place, record: null, problem: error.message };
    const problem = error instanceof RangeError ? "is nested too deeply" : "is not JSON";
    return { ...place, record: null, problem };
  }
}

function tooLong(line: number): AppError {
  const limit = `${MAX_RECORD_CHARS / 1024 / 1024} Mi characters`;
  return new AppError(
    "file_failed",
    `Line ${line} begins a record longer than ${limit}: is it the right format?`,
  );
}

function addRecord(found: FoundRecord[], text: string, line: number): void {
  if (text.trim() !== "") found.push(parseRecord(text, line));
}

const ONE_ARRAY =
  "a JSON file must hold one array of objects; for one object per line name the format ndjson";
/** Longer names are in no path. */
const MAX_NAME_CHARS = 1_000;

const NEWLINE = 0x0a;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const ARRAY_BEGIN = 0x5b;
const BACKSLASH = 0x5c;
const ARRAY_END = 0x5d;
const OBJECT_BEGIN = 0x7b;
const OBJECT_END = 0x7d;
const NO_BLANK = /[^ \t\r\n]/;

/**
 * The elements of the array that is the document, or that an object holds at `path`, such as `features` of GeoJSON or `data.items`.
 * An element that is not JSON is a failed record. A document without the array, or that ends inside it, throws `file_failed`
 * after the elements before.
 */
export async function* readJsonArray(
  chunks: AsyncIterable<string>,
  path: string | null,
): AsyncGenerator<readonly FoundRecord[], void, undefined> {
  const scanner = new ArrayScanner(path);
  for await (const chunk of chunks) {
    const found = scanner.scan(chunk);
    if (found.length > 0) yield found;
    if (scanner.problem !== null) throw scanner.problem;
  }
  scanner.end();
  if (scanner.problem !== null) throw scanner.problem;
}

/** Finds the elements chunk by chunk, and holds only the current one. */
class ArrayScanner {
  /** Why reading has to stop, else null. */
  problem: AppError | null = null;
  readonly #path: string | null;
  #place: "before" | "around" | "within" | "behind" = "before";
  /** Open objects and arrays around the array: for an object the name read last, for an array null. */
  readonly #open: (string | null)[] = [];
  #isInText = false;
  #isEscaped = false;
  #line = 1;

  /** The last JSON text outside of the array, unparsed. */
  #text = "";
  /** The path of another array that has just begun, and may be the one with the records. */
  #candidate: string | null = null;

  /** Open brackets in the current element. */
  #depth = 0;
  /** The beginning of the current element, from earlier chunks. */
  #parts: string[] = [];
  #chars = 0;
  /** The line of the element's first character; null before it. */
  #elementLine: number | null = null;
  #elements = 0;

  constructor(path: string | null) {
    this.#path = path;
  }

  /** The elements that end in this chunk, up to a problem. */
  scan(chunk: string): readonly FoundRecord[] {
    const found: FoundRecord[] = [];
    let start = 0;
    for (let i = 0; i < chunk.length; i++) {
      const code = chunk.charCodeAt(i);
      if (code === NEWLINE) this.#line++;
      if (this.#isInText) this.#goOn(code);
      else if (code > SPACE && this.#place !== "within") {
        this.#meetOutside(code);
        start = i + 1;
      } else if (this.#depth === 0 && (code === COMMA || code === ARRAY_END)) {
        this.#endElement(found, chunk.slice(start, i), code === ARRAY_END);
        start = i + 1;
      } else if (code > SPACE) this.#meetWithin(code);
      if (this.problem !== null) return found;
    }
    if (this.#place === "within") this.#keep(chunk.slice(start));
    return found;
  }

  end(): void {
    if (this.#place === "within") this.#fail("the file ends inside the JSON array");
    else if (this.#place === "behind" && this.#open.length > 0) {
      this.#fail("the file ends inside the JSON document");
    } else if (this.#place === "around" && this.#path !== null) {
      this.#fail(`the file ends before "${this.#path}"`);
    } else if (this.#place !== "behind") this.#fail(ONE_ARRAY);
  }

  #goOn(code: number): void {
    if (this.#place !== "within" && this.#text.length < MAX_NAME_CHARS) {
      this.#text += String.fromCharCode(code);
    }
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === BACKSLASH) this.#isEscaped = true;
    else if (code === QUOTE) this.#isInText = false;
  }

  #meetWithin(code: number): void {
    this.#elementLine ??= this.#line;
    if (code === QUOTE) this.#isInText = true;
    else if (code === ARRAY_BEGIN || code === OBJECT_BEGIN) this.#depth++;
    else if (this.#depth > 0 && (code === ARRAY_END || code === OBJECT_END)) this.#depth--;
  }

  #endElement(found: FoundRecord[], lastPart: string, isLast: boolean): void {
    const text = this.#parts.length === 0 ? lastPart : this.#parts.join("") + lastPart;
    [this.#parts, this.#chars] = [[], 0];
    if (isLast) this.#place = "behind";
    if (NO_BLANK.test(text)) {
      this.#elements++;
      found.push(parseRecord(text, this.#elementLine ?? this.#line));
    } else if (!isLast || this.#elements > 0) {
      this.#fail("the JSON array lacks a value before this place");
    }
    this.#elementLine = null;
  }

  #keep(part: string): void {
    this.#parts.push(part);
    this.#chars += part.length;
    if (this.#chars > MAX_RECORD_CHARS) this.problem = tooLong(this.#elementLine ?? this.#line);
  }

  #meetOutside(code: number): void {
    if (this.#candidate !== null) this.#tell(code);
    if (code === QUOTE) [this.#isInText, this.#text] = [true, '"'];
    if (this.#place === "before") this.#beginDocument(code);
    else if (this.#open.length === 0) this.#fail("there is more after the JSON document");
    else if (code === COLON) this.#nameWith(this.#text);
    else if (code === OBJECT_BEGIN) this.#open.push("");
    else if (code === ARRAY_BEGIN) this.#beginArray();
    else if (code === OBJECT_END || code === ARRAY_END) this.#endOne();
  }

  #beginDocument(code: number): void {
    if (code === ARRAY_BEGIN) this.#place = "within";
    else if (code === OBJECT_BEGIN) {
      this.#place = "around";
      this.#open.push("");
    } else this.#fail(ONE_ARRAY);
  }

  #nameWith(text: string): void {
    if (this.#open.at(-1) === null) return;
    let name = "";
    try {
      name = String(parseJson(text));
    } catch {
      // An unparsable name is on no path.
    }
    this.#open[this.#open.length - 1] = name;
  }

  #beginArray(): void {
    const place = this.#open.includes(null) ? null : this.#open.join(".");
    const isMeant = place !== null && place === this.#path;
    if (isMeant && this.#place === "around") {
      this.#place = "within";
      return;
    }
    if (isMeant) this.#fail(`there is a second array at "${place}"`);
    if (this.#path === null) this.#candidate = place;
    this.#open.push(null);
  }

  #endOne(): void {
    this.#open.pop();
    if (this.#open.length > 0 || this.#place !== "around") return;
    const path = this.#path;
    this.#fail(path === null ? ONE_ARRAY : `there is no array at "${path}" in the JSON document`);
  }

  /** Fails when the caller gave no path and the candidate holds objects. The message has the path to give. */
  #tell(code: number): void {
    const place = this.#candidate;
    this.#candidate = null;
    if (code !== OBJECT_BEGIN) return;
    this.#fail(`${ONE_ARRAY}; "${place}" holds one here: name the path ${place}`);
  }

  #fail(text: string): void {
    this.problem ??= new AppError("file_failed", `Line ${this.#line}: ${text}`);
  }
}

/** Writes a JSON array, a row per line. */
export function jsonEncoder(columns: readonly Column[]): RowEncoder {
  let separator = "\n";
  return {
    begin: () => "[",
    encode: (rows) => {
      const part = separator + rows.map((row) => rowText(columns, row)).join(",\n");
      separator = ",\n";
      return part;
    },
    end: () => "\n]\n",
  };
}

/** Writes a row per line. */
export function ndjsonEncoder(columns: readonly Column[]): RowEncoder {
  return {
    begin: () => "",
    encode: (rows) => rows.map((row) => `${rowText(columns, row)}\n`).join(""),
    end: () => "",
  };
}

function rowText(columns: readonly Column[], row: Row): string {
  return JSON.stringify(Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null])));
}
