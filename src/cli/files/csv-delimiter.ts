// Finds out what separates the fields of a file that is called CSV.

const DELIMITERS = [",", ";", "\t", "|"] as const;
/** Of the beginning that is looked at. */
const MAX_CHARS = 64 * 1024;
const MAX_LINES = 20;

/** The separator that takes every line apart into as many fields; a comma where none does. */
export async function findDelimiter(chunks: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const chunk of chunks) {
    text += chunk;
    if (text.length >= MAX_CHARS) break;
  }
  const isCut = text.length >= MAX_CHARS;
  const scored = DELIMITERS.map((delimiter) => ({
    delimiter,
    score: scoreOf(text, delimiter, isCut),
  }));
  return scored.reduce((best, one) => (one.score > best.score ? one : best)).delimiter;
}

/** How often it stands in the first line; as many more points where it does in every line. */
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
