import { parseJson } from "../../domain/shared/json.ts";
import type { FoundRecord } from "../../usecases/sync/files/import-rows.ts";
import { FileProblem } from "./file-problem.ts";

/** Length of one record's text; a file of another format would else be taken for one endless record. */
export const MAX_RECORD_CHARS = 64 * 1024 * 1024;

/** One JSON value per line; blank lines do not count. A line that is no JSON is a failed record. */
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
export function parseRecord(text: string, line: number): FoundRecord {
  const place = { line, chars: text.length };
  try {
    return { ...place, record: parseJson(text), problem: null };
  } catch (error) {
    const problem = error instanceof RangeError ? "is nested too deeply" : "is not JSON";
    return { ...place, record: null, problem };
  }
}

/** The error for a record whose end does not come. */
export function tooLong(line: number): FileProblem {
  const limit = `${MAX_RECORD_CHARS / 1024 / 1024} Mi characters`;
  return new FileProblem(
    `Line ${line} begins a record longer than ${limit}: is it the right format?`,
  );
}

function addRecord(found: FoundRecord[], text: string, line: number): void {
  if (text.trim() !== "") found.push(parseRecord(text, line));
}
