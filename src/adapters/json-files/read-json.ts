// Records of NDJSON files and of JSON arrays of any length. Each record is parsed alone, by the parser that keeps every
// digit: streaming JSON libraries make JS numbers, or tokens that cost many times more than the parser.

import { AppError } from "../../domain/shared/errors.ts";
import { parseJson } from "../../domain/shared/json.ts";
import { JsonLimitError } from "../../domain/shared/json-reader.ts";
import { MAX_JSON_VALUES, MAX_RECORD_CHARS } from "../../domain/shared/limits.ts";
import type { FoundRecord } from "../../ports/files.ts";
import { ArraySeeker, ONE_ARRAY } from "./array-seeker.ts";

/** One JSON value per line; blank lines are skipped. A line that is not JSON is a failed record. */
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

/** Parses one record's text without losing a digit. */
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

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const ARRAY_BEGIN = 0x5b;
const ARRAY_END = 0x5d;
const OBJECT_BEGIN = 0x7b;
const OBJECT_END = 0x7d;
const NEWLINE = 0x0a;
const NO_BLANK = /[^ \t\r\n]/;

/**
 * The elements of a JSON array: of the document, or where that is an object of the array at a path within it. An element that is
 * not JSON is a failed record. A text without such an array, or that ends inside it, throws `file_failed` after the elements
 * before.
 */
export async function* readJsonArray(
  chunks: AsyncIterable<string>,
  path: string | null,
): AsyncGenerator<readonly FoundRecord[], void, undefined> {
  const seeker = new ArraySeeker(path);
  const scanner = new ArrayScanner();
  for await (const chunk of chunks) {
    const { found, problem } = scanner.scan(seeker.pass(chunk));
    if (found.length > 0) yield found;
    if (problem !== null || seeker.problem !== null) throw problem ?? seeker.problem;
  }
  const problem = seeker.problemAtEnd() ?? scanner.problemAtEnd();
  if (problem !== null) throw problem;
}

/** Finds the elements of an array, chunk by chunk. */
class ArrayScanner {
  /** Open brackets; 1 between the elements. */
  #depth = 0;
  #hasEnded = false;
  #isInString = false;
  #isEscaped = false;
  #line = 1;
  /** The part of the current element that earlier chunks had. */
  #parts: string[] = [];
  #chars = 0;
  /** Line of the element's first character; null before it. */
  #elementLine: number | null = null;
  #elements = 0;

  /** The elements that end in this chunk, and the problem after them. */
  scan(chunk: string): { readonly found: FoundRecord[]; readonly problem: AppError | null } {
    const found: FoundRecord[] = [];
    let start = 0;
    for (let i = 0; i < chunk.length; i++) {
      const code = chunk.charCodeAt(i);
      if (code === NEWLINE) this.#line++;
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (code === BACKSLASH) this.#isEscaped = true;
        else if (code === QUOTE) this.#isInString = false;
        continue;
      }
      if (code <= 0x20) continue;
      if (this.#depth === 0) {
        if (this.#hasEnded || code !== ARRAY_BEGIN) return { found, problem: this.#notAnArray() };
        this.#depth = 1;
        start = i + 1;
        continue;
      }
      const isEnd = this.#depth === 1 && code === ARRAY_END;
      if (isEnd || (this.#depth === 1 && code === COMMA)) {
        const text = this.#takeElement(chunk.slice(start, i));
        start = i + 1;
        if (isEnd) [this.#depth, this.#hasEnded] = [0, true];
        if (NO_BLANK.test(text)) this.#add(found, text);
        else if (!isEnd || this.#elements > 0) return { found, problem: this.#missingElement() };
        this.#elementLine = null;
        continue;
      }
      this.#elementLine ??= this.#line;
      if (code === QUOTE) this.#isInString = true;
      else if (code === ARRAY_BEGIN || code === OBJECT_BEGIN) this.#depth++;
      else if ((code === ARRAY_END || code === OBJECT_END) && this.#depth > 1) this.#depth--;
    }
    if (this.#depth > 0) {
      this.#parts.push(chunk.slice(start));
      this.#chars += chunk.length - start;
      if (this.#chars > MAX_RECORD_CHARS) {
        return { found, problem: tooLong(this.#elementLine ?? this.#line) };
      }
    }
    return { found, problem: null };
  }

  problemAtEnd(): AppError | null {
    if (this.#hasEnded) return null;
    if (this.#depth === 0) return this.#notAnArray();
    return new AppError("file_failed", `Line ${this.#line}: the file ends inside the JSON array`);
  }

  #takeElement(lastPart: string): string {
    const text = this.#parts.length === 0 ? lastPart : this.#parts.join("") + lastPart;
    [this.#parts, this.#chars] = [[], 0];
    return text;
  }

  #add(found: FoundRecord[], text: string): void {
    this.#elements++;
    found.push(parseRecord(text, this.#elementLine ?? this.#line));
  }

  #notAnArray(): AppError {
    const text = this.#hasEnded ? "there is more after the JSON array" : ONE_ARRAY;
    return new AppError("file_failed", `Line ${this.#line}: ${text}`);
  }

  #missingElement(): AppError {
    return new AppError(
      "file_failed",
      `Line ${this.#line}: the JSON array lacks a value before this place`,
    );
  }
}
