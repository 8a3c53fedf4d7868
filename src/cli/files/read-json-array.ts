// Finds the elements of one long JSON array, and leaves each to the parser that keeps every digit. Streaming JSON
// libraries make JS numbers, or tokens that cost many times more than the parser.
import type { FoundRecord } from "../../usecases/sync/files/import-rows.ts";
import { FileProblem } from "./file-problem.ts";
import { MAX_RECORD_CHARS, parseRecord, tooLong } from "./read-ndjson.ts";

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
 * The elements of a JSON array. One that is no JSON is a failed record; a text that is no array, or ends inside of it,
 * throws `FileProblem` after the elements before.
 */
export async function* readJsonArray(
  chunks: AsyncIterable<string>,
): AsyncGenerator<readonly FoundRecord[], void, undefined> {
  const scanner = new ArrayScanner();
  for await (const chunk of chunks) {
    const { found, problem } = scanner.scan(chunk);
    if (found.length > 0) yield found;
    if (problem !== null) throw problem;
  }
  const problem = scanner.problemAtEnd();
  if (problem !== null) throw problem;
}

/** Where the text stands that was scanned last. */
class ArrayScanner {
  /** Brackets that are open; 1 between the elements. */
  #depth = 0;
  #hasEnded = false;
  #isInString = false;
  #isEscaped = false;
  #line = 1;
  /** The element under way, as far as it stands in earlier chunks. */
  #parts: string[] = [];
  #chars = 0;
  /** Null before the element's first character. */
  #elementLine: number | null = null;
  #elements = 0;

  /** The elements that end in this chunk, and what was wrong after them. */
  scan(chunk: string): { readonly found: FoundRecord[]; readonly problem: FileProblem | null } {
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
        if (this.#hasEnded || code !== ARRAY_BEGIN) return { found, problem: this.#noArray() };
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
        else if (!isEnd || this.#elements > 0) return { found, problem: this.#noElement() };
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

  problemAtEnd(): FileProblem | null {
    if (this.#hasEnded) return null;
    if (this.#depth === 0) return this.#noArray();
    return new FileProblem(`Line ${this.#line}: the file ends inside the JSON array`);
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

  #noArray(): FileProblem {
    const text = this.#hasEnded
      ? "there is more after the JSON array"
      : "a JSON file must hold one array of objects; for one object per line give --format ndjson";
    return new FileProblem(`Line ${this.#line}: ${text}`);
  }

  #noElement(): FileProblem {
    return new FileProblem(`Line ${this.#line}: the JSON array lacks a value before this place`);
  }
}
