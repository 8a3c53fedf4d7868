// Cuts a CSV text into blocks of whole records: blocks without a quote are split into lines, ten times as fast as csv-parse,
// which reads the others.
import { AppError } from "../../domain/shared/errors.ts";
import { MAX_RECORD_CHARS } from "../../domain/shared/limits.ts";

/** Whole records, with the last line end where there is one. */
export interface CsvBlock {
  readonly text: string;
  readonly hasQuotes: boolean;
  /** The line of its first record, from 1. */
  readonly line: number;
}

const BREAK = /\r\n|\n|\r/g;
const STOP = /["\r\n]/g;

export class CsvSplitter {
  readonly #delimiter: string;
  #text = "";
  #line: number;
  /** How far the first record has been scanned, and whether that place is inside of quotes. */
  #scanned = 0;
  #isInQuotes = false;

  constructor(delimiter: string, firstLine: number) {
    this.#delimiter = delimiter;
    this.#line = firstLine;
  }

  /** Yields the records that the chunk completes. Throws `file_failed` for a record that is too long. */
  *take(chunk: string): Generator<CsvBlock, void, undefined> {
    this.#text += chunk;
    for (;;) {
      const end = this.#isInQuotes || this.#scanned > 0 ? 0 : this.#endOfLines();
      if (end > 0) yield this.#cut(end, false);
      if (!this.#text.includes('"', this.#scanned) && !this.#isInQuotes) break;
      const recordEnd = this.#endOfQuoted();
      if (recordEnd === null) break;
      yield this.#cut(recordEnd, true);
    }
    if (this.#text.length > MAX_RECORD_CHARS) {
      const problem = "a record is too long: is it the right format?";
      throw new AppError("file_failed", `Line ${this.#line}: ${problem}`);
    }
  }

  rest(): CsvBlock | null {
    const text = this.#text;
    return text === "" ? null : this.#cut(text.length, text.includes('"'));
  }

  /** The end of the last line before the first quote; 0 where there is none. */
  #endOfLines(): number {
    const text = this.#text;
    const quote = text.indexOf('"');
    // A return at the end may be the first half of a line end.
    const last = quote === -1 ? text.length - (text.endsWith("\r") ? 2 : 1) : quote - 1;
    if (last < 0) return 0;
    return Math.max(text.lastIndexOf("\n", last), text.lastIndexOf("\r", last)) + 1;
  }

  /** The end of the consecutive records with quotes at the start of the text; null when the first one is not whole. */
  #endOfQuoted(): number | null {
    const text = this.#text;
    let end: number | null = null;
    let hasQuotes = this.#scanned > 0;
    let at = this.#scanned;
    for (;;) {
      if (this.#isInQuotes) {
        const close = text.indexOf('"', at);
        if (close === -1) return this.#pause(end, text.length);
        [this.#isInQuotes, at] = [false, close + 1];
        continue;
      }
      STOP.lastIndex = at;
      const stop = STOP.exec(text)?.index ?? -1;
      if (stop === -1) return this.#pause(end, text.length);
      if (text[stop] === '"') {
        // A quote inside an unquoted field would swallow all that follows: csv-parse refuses the line.
        if (!this.#beginsField(stop)) return text.length;
        [this.#isInQuotes, hasQuotes, at] = [true, true, stop + 1];
        continue;
      }
      if (!hasQuotes) return this.#pause(end, 0);
      if (stop === text.length - 1 && text[stop] === "\r") return this.#pause(end, stop);
      end = stop + (text.startsWith("\r\n", stop) ? 2 : 1);
      [hasQuotes, at] = [false, end];
    }
  }

  /** Returns the end of the whole records, or remembers how far the first one has been scanned. */
  #pause(end: number | null, at: number): number | null {
    if (end === null) this.#scanned = at;
    else this.#isInQuotes = false;
    return end;
  }

  #beginsField(at: number): boolean {
    const before = this.#text[at - 1];
    // A quote behind a quote is the second half of an escaped one.
    return before === undefined || '"\r\n'.includes(before) || before === this.#delimiter;
  }

  #cut(end: number, hasQuotes: boolean): CsvBlock {
    const text = this.#text.slice(0, end);
    const line = this.#line;
    this.#text = this.#text.slice(end);
    this.#scanned = 0;
    this.#line += text.includes("\r")
      ? (text.match(BREAK)?.length ?? 0)
      : text.split("\n").length - 1;
    return { text, hasQuotes, line };
  }
}
