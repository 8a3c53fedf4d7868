import {
  addLateTimes,
  earliestAfter,
  type LateNotes,
  type LateTimes,
  markOf,
  noLateNotes,
} from "../../../domain/sync/run/late-rows.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { LateRows, LateRowsQuery, LateRowsReply } from "../../../ports/tables/late-rows.ts";
import type { SqliteDatabase } from "../driver/database.ts";

/** The `LateNotes` of each table as JSON, from when they are first needed. */
export const LATE_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_late_rows (
    table_name TEXT PRIMARY KEY, notes TEXT NOT NULL
  ) WITHOUT ROWID`,
];

const FIND = "SELECT notes FROM repsync_late_rows WHERE table_name = ?";

const SAVE =
  "INSERT INTO repsync_late_rows (table_name, notes) VALUES (?, ?)" +
  " ON CONFLICT (table_name) DO UPDATE SET notes = excluded.notes";

const RANDOM_ORIGIN = "SELECT lower(hex(randomblob(8))) AS origin";

export class SqliteLateRows implements LateRows {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async read({ name }: Table, { afterMark, isForOwnPush }: LateRowsQuery): Promise<LateRowsReply> {
    const database = this.#database;
    const notes =
      (await database.read(() => findNotes(database, name))) ??
      (await database.keep(() => findOrMakeNotes(database, name)));
    const from = afterMark === null ? null : earliestAfter(notes, afterMark, isForOwnPush);
    return { mark: markOf(notes), from };
  }
}

/** Notes the times of a commit, within it; does nothing when there are none. */
export function noteLateTimes(database: SqliteDatabase, tableName: string, times: LateTimes): void {
  if (times.byOwnRuns === null && times.byOthers === null) return;
  saveNotes(database, tableName, addLateTimes(findOrMakeNotes(database, tableName), times));
}

/** Finds the notes of a table within a write. Those it makes are kept at once, so that a mark of theirs stays one. */
function findOrMakeNotes(database: SqliteDatabase, tableName: string): LateNotes {
  const found = findNotes(database, tableName);
  if (found !== null) return found;
  const [row] = database.all(RANDOM_ORIGIN);
  const notes = noLateNotes(String(row?.["origin"]));
  saveNotes(database, tableName, notes);
  return notes;
}

function findNotes(database: SqliteDatabase, tableName: string): LateNotes | null {
  const [row] = database.all(FIND, [tableName]);
  return row === undefined ? null : JSON.parse(String(row["notes"]));
}

function saveNotes(database: SqliteDatabase, tableName: string, notes: LateNotes): void {
  database.run(SAVE, [tableName, JSON.stringify(notes)]);
}
