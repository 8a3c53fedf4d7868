import { type ClientSession, type Collection, type Db, ObjectId } from "mongodb";
import {
  addLateTimes,
  earliestAfter,
  earliestTime,
  type LateNotes,
  type LateTimes,
  markOf,
  noLateNotes,
} from "../../../domain/sync/run/late-rows.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { LateRows, LateRowsQuery, LateRowsReply } from "../../../ports/tables/late-rows.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { readSnapshot, SNAPSHOT, type StoreDeps, writeTogether } from "../driver/operations.ts";

/** The `LateNotes` of each table. */
export const LATE_ROWS: InternalCollection = { name: "repsync_late_rows" };

/**
 * What commits have noted since, a document each: so pushes do not meet. Whoever reads adds them to the notes of the table
 * first. Those that it does not see become visible later, and so get a later mark.
 */
export const LATE_COMMITS: InternalCollection = {
  name: "repsync_late_commits",
  indexes: [{ name: "repsync_table", key: { table: 1 } }],
};

interface NotesDocument {
  /** Table name. */
  readonly _id: string;
  readonly notes: LateNotes;
}

interface CommitDocument extends LateTimes {
  readonly _id: ObjectId;
  readonly table: string;
}

export class MongoLateRows implements LateRows {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async read({ name }: Table, { afterMark, isForOwnPush }: LateRowsQuery): Promise<LateRowsReply> {
    const notes = (await this.#readComplete(name)) ?? (await addLateCommits(this.#deps, name));
    const from = afterMark === null ? null : earliestAfter(notes, afterMark, isForOwnPush);
    return { mark: markOf(notes), from };
  }

  /** The notes of a table; null when there are none yet, or commits are to be added. */
  async #readComplete(_id: string): Promise<LateNotes | null> {
    const { db } = this.#deps;
    return await readSnapshot(this.#deps, async (tx) => {
      const options = { ...SNAPSHOT, session: tx };
      const commit = await commitsOf(db).findOne({ table: _id }, options);
      const found = commit === null ? await notesOf(db).findOne({ _id }, options) : null;
      return found?.notes ?? null;
    });
  }
}

/** Notes the times of a commit, within it; false when there are none. */
export async function noteLateTimes(
  db: Db,
  table: string,
  times: LateTimes,
  tx: ClientSession,
): Promise<boolean> {
  if (times.byOwnRuns === null && times.byOthers === null) return false;
  await commitsOf(db).insertOne({ _id: new ObjectId(), table, ...times }, { session: tx });
  return true;
}

/** Adds what commits have noted to the notes of their table, which it returns. */
export async function addLateCommits(
  deps: Omit<StoreDeps, "storeClock">,
  table: string,
): Promise<LateNotes> {
  const { db } = deps;
  return await writeTogether(deps, async (tx) => {
    const commits = await commitsOf(db).find({ table }, { session: tx }).toArray();
    const found = await notesOf(db).findOne({ _id: table }, { session: tx });
    const origin = new ObjectId().toHexString();
    const notes = addLateTimes(found?.notes ?? noLateNotes(origin), {
      byOwnRuns: earliestTime(commits.map(({ byOwnRuns }) => byOwnRuns)),
      byOthers: earliestTime(commits.map(({ byOthers }) => byOthers)),
    });
    await notesOf(db).replaceOne({ _id: table }, { notes }, { session: tx, upsert: true });
    const added = { _id: { $in: commits.map(({ _id }) => _id) } };
    await commitsOf(db).deleteMany(added, { session: tx });
    return notes;
  });
}

function notesOf(db: Db): Collection<NotesDocument> {
  return db.collection(LATE_ROWS.name);
}

function commitsOf(db: Db): Collection<CommitDocument> {
  return db.collection(LATE_COMMITS.name);
}
