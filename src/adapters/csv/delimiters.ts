// The delimiter of files that are called CSV, found in their beginning. csv-parse finds any character, letters too, and
// fails at those beyond ASCII.
import { type HeaderReader, startingWith } from "../../ports/files.ts";

const DELIMITERS = [",", ";", "\t", "|"] as const;
/** The length of the beginning that is looked at. */
const MAX_CHARS = 64 * 1024;
const MAX_LINES = 20;

/** A first line of Excel, which names what separates the fields of the others. */
const SEPARATOR = /^sep=([^"\r\n])(?:\r\n|\n|\r|$)/i;
const SEPARATOR_CHARS = "sep=;\r\n".length;

/** The text without that line; `separator` is null where there is none. */
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

/** Remembers the first line as it stands in the file, to tell another delimiter by. */
export class HeaderLine {
  readonly #delimiter: string;
  readonly #header: HeaderReader | null;
  #text = "";

  constructor(delimiter: string, header: HeaderReader | null) {
    this.#delimiter = delimiter;
    this.#header = header;
  }

  /** Passes chunks on, and looks at the first ones. */
  async *watch(chunks: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
    for await (const chunk of chunks) {
      if (this.#text.length < MAX_CHARS && !/[\r\n]/.test(this.#text)) {
        this.#text += chunk.slice(0, MAX_CHARS);
      }
      yield chunk;
    }
  }

  /** The hint where the line is a header once it is split at another character. */
  hint(): string | null {
    const [line = ""] = this.#text.split(/[\r\n]/, 1);
    const other = DELIMITERS.find((candidate) => {
      const names = line.split(candidate).map(unquoted);
      return candidate !== this.#delimiter && this.#header?.problemOf(names, 1) === null;
    });
    if (other === undefined) return null;
    const name = other === "\t" ? "tab" : `"${other}"`;
    return `Give --delimiter ${name}, which seems to separate the fields of the file`;
  }
}

function unquoted(name: string): string {
  return /^"(.*)"$/.exec(name.trim())?.[1] ?? name;
}

/** The delimiter that the first line names, or that takes every line apart into as many fields; a comma where none does. */
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

/** The number of times it stands in the first line; as many more points where it does in every line. */
function scoreOf(text: string, delimiter: string, isCut: boolean): number {
  const counts = countsByLine(text, delimiter);
  if (isCut && counts.length > 1) counts.pop();
  const [first = 0, ...others] = counts.slice(0, MAX_LINES);
  return others.every((count) => count === first) ? 2 * first : first;
}

/** Outside of quotes, in lines that are not empty. */
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
