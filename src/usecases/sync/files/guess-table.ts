// Guesses a table of the registry by reading its records once. D-10.2.
import { AppError } from "../../../domain/shared/errors.ts";
import { isJsonObject, type JsonObject } from "../../../domain/shared/json.ts";
import {
  type Declaration,
  type GuessedTable,
  type GuessWishes,
  TableGuess,
} from "../../../domain/sync/guess/table-guess.ts";
import type { ValueForm } from "../../../domain/sync/guess/value-kind.ts";
import type { FoundRecord } from "../../../ports/files.ts";
import type { Turns } from "../../../ports/runtime/turns.ts";

/** Records that are to become a table. */
export interface GuessSource {
  /** The table's name, one that the registry takes. */
  readonly name: string;
  readonly form: ValueForm;
  /** The database's declaration; null for a file of records. */
  readonly declaration: Declaration | null;
  readonly wishes: GuessWishes;
  /** Once. `onNames` is told the names of a header. */
  read(onNames: (names: readonly string[]) => void): AsyncIterable<readonly FoundRecord[]>;
  /** Parts of the table that were not read as they are; complete after reading. */
  notes(): readonly string[];
}

/** A guess, with what was left out of it. */
export interface FileGuess extends GuessedTable {
  /** Places of the file that are no records. */
  readonly unread: number;
  /** The first of them, with its line; null for none. */
  readonly firstUnread: string | null;
}

/**
 * Reads the records in bounded memory, with turns for others in between. Throws `file_failed` when there are none and nothing
 * names the columns, `invalid_request` for wishes about other columns, and what reading throws.
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
      const record = recordOf(found);
      if (record !== null) {
        guess.add(record, found.line);
        continue;
      }
      unread++;
      firstUnread ??= `line ${found.line} ${found.problem ?? "is no object"}`;
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

function recordOf({ record, problem }: FoundRecord): JsonObject | null {
  return problem === null && isJsonObject(record) ? record : null;
}
