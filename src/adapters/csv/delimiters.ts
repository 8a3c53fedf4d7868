// Finds the delimiter at the beginning of a CSV file. The detection of csv-parse takes any character, letters too.
import { type HeaderReader, startingWith } from "../../ports/files.ts";

const DELIMITERS = [",", ";", "\t", "|"] as const;
const MAX_CHARS = 64 * 1024;
const MAX_LINES = 20;

/** Excel's first line, which names the delimiter. */
const SEPARATOR = /^sep=([^"\r\n])(?:\r\n|\n|\r|$)/i;
const SEPARATOR_CHARS = "sep=;\r\n".length;

/** Takes Excel's first line from the text; `separator` is null where there is none. */
export async function takeSeparator(chunks: AsyncIterable<string>) {
  const all = chunks[Symbol.asyncIterator]();
  let text = "";
  while (text.length < SEPARATOR_CHARS) {
    const next = await all.next();
    if (next.done === true) break;
    text += next.value;
  }
  const [line = "", separator = null] = SEPARATOR.exec(text) ?? [];
  return { separator, rest: startingWith([text.slice(line.length)], all) };
}

/** Remembers the first line, to find a better delimiter when the header does not fit. */
export class HeaderLine {
  readonly #delimiter: string;
  readonly #header: HeaderReader | null;
  #text = "";

  constructor(delimiter: string, header: HeaderReader | null) {
    this.#delimiter = delimiter;
    this.#header = header;
  }

  async *watch(chunks: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
    for await (const chunk of chunks) {
      if (this.#text.length < MAX_CHARS && !/[\r\n]/.test(this.#text)) {
        this.#text += chunk.slice(0, MAX_CHARS);
      }
      yield chunk;
    }
  }

  /** A hint when another delimiter makes the line a valid header, else null. */
  hint(): string | null {
    const [line = ""] = this.#text.split(/[\r\n]/, 1);
    const other = DELIMITERS.find((candidate) => {
      const names = line.split(candidate).map((name) => /^"(.*)"$/.exec(name.trim())?.[1] ?? name);
      return candidate !== this.#delimiter && this.#header?.problemOf(names, 1) === null;
    });
    if (other === undefined) return null;
    const name = other === "\t" ? "tab" : `"${other}"`;
    return `Name the delimiter ${name}, which seems to separate the fields of the file`;
  }
}

/** The delimiter that Excel's first line names, else the one that fits the lines best; a comma where none does. */
export async function findDelimiter(chunks: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const chunk of chunks) {
    text += chunk;
    if (text.length >= MAX_CHARS) break;
  }
  const named = SEPARATOR.exec(text)?.[1];
  if (named !== undefined) return named;
  const isCut = text.length >= MAX_CHARS;
  const scored = DELIMITERS.map((delimiter) => ({
    delimiter,
    score: scoreOf(text, delimiter, isCut),
  }));
  return scored.reduce((best, one) => (one.score > best.score ? one : best)).delimiter;
}

/** The delimiter's count in the first line, doubled where every line has as many. */
function scoreOf(text: string, delimiter: string, isCut: boolean): number {
  const counts = countsByLine(text, delimiter);
  if (isCut && counts.length > 1) counts.pop();
  const [first = 0, ...others] = counts.slice(0, MAX_LINES);
  return others.every((count) => count === first) ? 2 * first : first;
}

/** The delimiter's count in each line that is not empty, outside of quotes. */
function countsByLine(text: string, delimiter: string): number[] {
  const counts: number[] = [];
  let count = 0;
  let isInQuotes = false;
  let isEmpty = true;
  for (const character of text) {
    if (character === '"') isInQuotes = !isInQuotes;
    if (isInQuotes || (character !== "\n" && character !== "\r")) {
      isEmpty = false;
      if (!isInQuotes && character === delimiter) count++;
      continue;
    }
    if (!isEmpty) counts.push(count);
    [count, isEmpty] = [0, true];
  }
  if (!isEmpty) counts.push(count);
  return counts;
}
