// Guesses a table of the registry by reading records once: of a database, or of a file, which may be the body of a request.
// D-10.2, D-14.4.
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { isJsonObject } from "../../../domain/shared/json.ts";
import { MAX_GUESS_BYTES } from "../../../domain/shared/limits.ts";
import {
  type Declaration,
  type GuessedTable,
  type GuessWishes,
  TableGuess,
} from "../../../domain/sync/guess/table-guess.ts";
import type { ValueForm } from "../../../domain/sync/guess/value-kind.ts";
import type { ColumnType } from "../../../domain/sync/table/column-types.ts";
import { isReservedTable, registryNameOf } from "../../../domain/sync/table/names.ts";
import type { ImportEntry } from "../../../domain/sync/table/registry-schema.ts";
import type { FileFormat, FileFormats, FoundRecord } from "../../../ports/files.ts";
import type { Turns } from "../../../ports/runtime/turns.ts";

export interface GuessSource {
  /** The table's name, one that the registry takes. */
  readonly name: string;
  readonly form: ValueForm;
  /** The database's declaration; null for a file of records. */
  readonly declaration: Declaration | null;
  readonly wishes: GuessWishes;
  /** To be called once. `onNames` gets the names of a header. */
  read(onNames: (names: readonly string[]) => void): AsyncIterable<readonly FoundRecord[]>;
  /** Notes on parts that were not read as they are; complete after reading. */
  notes(): readonly string[];
}

export interface FileGuess extends GuessedTable {
  /** Places of the file that hold no record. */
  readonly unread: number;
  /** The first of them, with its line; null for none. */
  readonly firstUnread: string | null;
}

/**
 * Reads the records in bounded memory, with turns for others. Throws `file_failed` when there are none and no header,
 * `invalid_request` for wishes about other columns, and what reading throws.
 */
export async function guessTable(source: GuessSource, turns: Turns): Promise<FileGuess> {
  const guess = new TableGuess(source.name, source.form, source.declaration, source.wishes);
  let isNamed = source.declaration !== null;
  let unread = 0;
  let firstUnread: string | null = null;
  const onNames = (names: readonly string[]) => {
    isNamed = names.length > 0;
    guess.declare(names);
  };
  for await (const part of source.read(onNames)) {
    for (const found of part) {
      if (turns.isOver) await turns.next();
      const { record, problem, line } = found;
      if (problem === null && isJsonObject(record)) guess.add(record, line);
      else {
        unread++;
        firstUnread ??= `line ${line} ${problem ?? "is no object"}`;
      }
    }
  }
  const guessed = await turns.run(guess.finish());
  if (guessed.records === 0 && (!isNamed || unread > 0)) {
    const reason = firstUnread === null ? "" : `: ${firstUnread}`;
    throw new AppError("file_failed", `There are no records to guess from${reason}`);
  }
  const warnings = [...guessed.warnings, ...source.notes()];
  return { ...guessed, warnings, unread, firstUnread };
}

interface GuessedFile {
  /** The table's name, one that the registry takes. */
  readonly name: string;
  readonly format: FileFormat;
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly wishes: GuessWishes;
  readonly turns: Turns;
}

/** Reads at most `maxBytes`, up to the last whole record; then a note says so. Throws as `guessTable`. */
export async function guessFile(
  files: FileFormats,
  { name, format, bytes, wishes, turns }: GuessedFile,
  maxBytes = MAX_GUESS_BYTES,
): Promise<FileGuess> {
  let isCut = false;
  const cut = () => {
    isCut = true;
  };
  const { encoding = null, path = null, delimiter: given } = wishes.files;
  const decoded = files.decode(atMost(bytes, maxBytes, cut), { name: "The file", encoding });
  const text = new HeldText(atMost(decoded, maxBytes, cut));
  const delimiter =
    format === "csv" ? (given ?? (await files.findDelimiter(text.beginning()))) : ",";
  const known = delimiter === "," ? {} : { delimiter };
  const source: GuessSource = {
    name,
    form: format === "csv" ? "field" : "json",
    declaration: null,
    wishes: { ...wishes, files: { ...known, ...wishes.files } },
    read(onNames) {
      const options = { delimiter, header: null, onNames, path };
      return wholeRecords(files.read(format, text.whole(), options), () => isCut);
    },
    notes: () => (isCut ? [`Only the first ${maxBytes} bytes of the file were looked at`] : []),
  };
  return await guessTable(source, turns);
}

/** True for a name that the registry takes. */
export function isTableName(name: string): boolean {
  return registryNameOf(name) === name && !isReservedTable(name);
}

/** Throws `invalid_request`; `hint` says how to give another name. */
export function requireTableName(name: string, hint: string): void {
  if (isTableName(name)) return;
  const text = `${JSON.stringify(name)} cannot be the name of a table`;
  throw new AppError("invalid_request", text, { hint });
}

/** What a caller says of the table to guess, as texts. */
export interface AskedTable {
  /** Columns, separated by commas. */
  readonly key?: string | null;
  /** A column, or `none`. */
  readonly timestamp?: string | null;
  readonly type?: readonly (readonly [column: string, type: ColumnType])[];
}

export function readWishes(asked: AskedTable, files: ImportEntry): GuessWishes {
  const { key = null, timestamp = null, type = [] } = asked;
  return {
    key: key?.split(",").map((name) => name.trim()) ?? null,
    types: new Map(type),
    files,
    ...(timestamp === null ? {} : { timestamp: timestamp === "none" ? null : timestamp }),
  };
}

/** Text whose beginning can be read before the whole. */
class HeldText {
  readonly #held: string[] = [];
  readonly #rest: AsyncIterator<string>;

  constructor(chunks: AsyncIterable<string>) {
    this.#rest = chunks[Symbol.asyncIterator]();
  }

  async *beginning(): AsyncGenerator<string, void, undefined> {
    for (let next = await this.#rest.next(); next.done !== true; next = await this.#rest.next()) {
      this.#held.push(next.value);
      yield next.value;
    }
  }

  async *whole(): AsyncGenerator<string, void, undefined> {
    yield* this.#held.splice(0);
    for (let next = await this.#rest.next(); next.done !== true; next = await this.#rest.next()) {
      yield next.value;
    }
  }
}

async function* atMost<Part extends { readonly length: number }>(
  parts: AsyncIterable<Part>,
  most: number,
  onCut: () => void,
): AsyncGenerator<Part, void, undefined> {
  let left = most;
  for await (const part of parts) {
    left -= part.length;
    if (left < 0) return onCut();
    yield part;
  }
}

/** Leaves out the record in which a file is cut. */
async function* wholeRecords(
  parts: AsyncIterable<readonly FoundRecord[]>,
  isCut: () => boolean,
): AsyncGenerator<readonly FoundRecord[], void, undefined> {
  let last: readonly FoundRecord[] = [];
  try {
    for await (const part of parts) {
      if (last.length > 0) yield last;
      last = part;
    }
  } catch (error) {
    if (!isCut() || !isAppError(error, "file_failed")) throw error;
    yield last;
    return;
  }
  yield isCut() ? last.slice(0, -1) : last;
}
