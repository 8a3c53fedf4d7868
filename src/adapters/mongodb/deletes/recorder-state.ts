// The state of the recorder of deletes that all instances share: who it is, how far it has come, and for which tables since when.
import type { Collection, Document, ObjectId, Timestamp } from "mongodb";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { CallLimit } from "../../../ports/documents.ts";
import type { InternalCollection } from "../driver/collections.ts";
import {
  COMMITTED,
  readCommitted,
  type StoreDeps,
  type TxOptions,
  writeOne,
  writeTogether,
} from "../driver/operations.ts";
import { tombstonesOf } from "../driver/tombstone-documents.ts";
import {
  areSame,
  type Beginning,
  beginAll,
  planTables,
  type RecordedTable,
  type RecordedTables,
} from "./recorded-tables.ts";

/** A single document, raised by each barrier. */
export const DELETE_BARRIERS: InternalCollection = { name: "repsync_delete_barriers" };

export const DELETE_RECORDER: InternalCollection = { name: "repsync_delete_recorder" };

/** The recorder's calls end in time whatever happens: a connection that broke may hang for ever, and nobody else would end it. */
export const RECORDER_CALLS: CallLimit = { triesMs: 10_000, endMs: 10_000 };

/** The time for which an instance that says nothing stays the recorder. */
const TTL_MS = 5_000;
const STATE_ID = "state";

export interface RecorderState {
  readonly _id: string;
  /** The instance that records; null when none does. */
  readonly recorder: ObjectId | null;
  /** Until when the recorder stays that, or instances with another registry leave the place free. */
  readonly expiresAt: Date;
  /** The token behind which the change stream goes on; null: from the earliest `from` on. */
  readonly token: Document | null;
  /** The last barrier that the recorder has passed. */
  readonly barrier: number;
  readonly tables: RecordedTables;
}

/** The progress that a recorder commits with the tombstones of a piece of the stream. */
interface Progress {
  readonly token: Document;
  /** The greatest barrier of the piece; null without one. */
  readonly barrier: number | null;
  /** Tables of which deletes may have been missed. */
  readonly interrupted: Iterable<string>;
}

/** Another instance has become the recorder, or the registry has changed. */
export class RecorderReplaced extends Error {}

export class RecorderStates {
  readonly #deps: StoreDeps;
  readonly #states: Collection<RecorderState>;

  constructor(deps: StoreDeps) {
    this.#deps = { ...deps, callLimit: RECORDER_CALLS };
    this.#states = deps.db.collection(DELETE_RECORDER.name);
  }

  /** The state; null before the first table with `deletes`. */
  async read(): Promise<RecorderState | null> {
    return await readCommitted(this.#deps, () =>
      this.#states.findOne({ _id: STATE_ID }, COMMITTED),
    );
  }

  /**
   * Makes these the tables of which deletes are recorded, from now on where they were not or had another key. A recorder
   * with other tables loses its turn.
   */
  async configure(tables: ReadonlyMap<string, Table>): Promise<void> {
    if (areSame((await this.read())?.tables ?? {}, tables)) return;
    const { barrier, ...now } = await this.#now();
    await writeTogether(this.#deps, async (tx) => {
      const options = { session: tx };
      const state = await this.#states.findOne({ _id: STATE_ID }, options);
      const planned = planTables(state?.tables ?? {}, tables, now);
      for (const name of planned.otherKeys) {
        await tombstonesOf(this.#deps.db).deleteMany({ table: name }, options);
      }
      // A stream that begins now begins behind these barriers.
      const begun = planned.goesOn ? {} : { token: null, barrier };
      const changed = { recorder: null, ...begun, tables: planned.tables, expiresAt: EXPIRY };
      const update = [{ $set: changed }];
      await this.#states.updateOne({ _id: STATE_ID }, update, { ...options, upsert: true });
    });
  }

  /** Makes an instance the recorder of these tables, when none is or it is already: the state; null otherwise. */
  async acquire(
    recorder: ObjectId,
    tables: ReadonlyMap<string, Table>,
  ): Promise<RecorderState | null> {
    const isFree = { $or: [{ recorder: null }, { recorder }, { $expr: HAS_EXPIRED }] };
    const taken = [{ $set: { recorder, expiresAt: EXPIRY } }];
    // A transaction, because those give up what a killed recorder has under way.
    const state = await writeTogether(this.#deps, (tx) =>
      this.#states.findOneAndUpdate({ _id: STATE_ID, ...isFree }, taken, {
        session: tx,
        returnDocument: "after",
      }),
    );
    if (state === null || areSame(state.tables, tables)) return state;
    await this.release(recorder);
    return null;
  }

  /** True when there has been no recorder for so long that instances with the registry of this state must be gone. */
  async isAbandoned(): Promise<boolean> {
    const isOld = { $expr: { $lte: [{ $add: ["$expiresAt", TTL_MS] }, "$$NOW"] } };
    const found = await readCommitted(this.#deps, () =>
      this.#states.findOne({ _id: STATE_ID, ...isOld }, COMMITTED),
    );
    return found !== null;
  }

  /** Keeps progress, within the transaction of its tombstones. Throws `RecorderReplaced`. */
  async advance(recorder: ObjectId, progress: Progress, options: TxOptions): Promise<void> {
    const { token, barrier, interrupted } = progress;
    const since = Array.from(interrupted, (name) => [`tables.${name}.completeSince`, "$$NOW"]);
    await this.stay(recorder, options, {
      token: { $literal: token },
      ...(barrier === null ? {} : { barrier }),
      ...Object.fromEntries(since),
    });
  }

  /** Keeps the recorder in its place with what has changed, within a transaction of its work. Throws `RecorderReplaced`. */
  async stay(recorder: ObjectId, options: TxOptions, changed: Document = {}): Promise<void> {
    const update = [{ $set: { ...changed, expiresAt: EXPIRY } }];
    const kept = await this.#states.updateOne({ _id: STATE_ID, recorder }, update, options);
    if (kept.matchedCount === 0) throw new RecorderReplaced();
  }

  /** Begins all tables anew, as the stream cannot go on where it was: the new state. Throws `RecorderReplaced`. */
  async beginAnew(recorder: ObjectId): Promise<RecorderState> {
    const { barrier, ...now } = await this.#now();
    return await writeTogether(this.#deps, async (tx) => {
      const options = { session: tx };
      const state = await this.#states.findOne({ _id: STATE_ID, recorder }, options);
      if (state === null) throw new RecorderReplaced();
      const begun = { token: null, barrier, tables: beginAll(state.tables, now) };
      await this.#states.updateOne({ _id: STATE_ID }, { $set: begun }, options);
      return { ...state, ...begun };
    });
  }

  /** Lets another instance become the recorder at once. */
  async release(recorder: ObjectId): Promise<void> {
    const free = [{ $set: { recorder: null, expiresAt: "$$NOW" } }];
    await writeOne(this.#deps, (options) =>
      this.#states.updateOne({ _id: STATE_ID, recorder }, free, options),
    );
  }

  /** Reads the record of a table in the snapshot of `tx`. */
  async find(table: Table, options: object): Promise<RecordedTable> {
    const state = await this.#states.findOne({ _id: STATE_ID }, options);
    const recorded = state?.tables[table.name];
    if (recorded === undefined)
      throw new Error(`Table "${table.name}" was not prepared with deletes`);
    return recorded;
  }

  /** Moves the time since when a table's record is complete forward. */
  async forgetBefore(table: Table, time: Date, options: TxOptions): Promise<void> {
    const update = { $max: { [`tables.${table.name}.completeSince`]: time } };
    await this.#states.updateOne({ _id: STATE_ID }, update, options);
  }

  /** A time of the cluster, the last barrier before it, and a time of the clock that is not before it. */
  async #now(): Promise<Beginning & { readonly barrier: number }> {
    const { db } = this.#deps;
    return await readCommitted(this.#deps, async () => {
      const find = { find: DELETE_BARRIERS.name, limit: 1, singleBatch: true, ...COMMITTED };
      const { cursor, operationTime } = await db.command(find);
      const { localTime } = await db.command({ hello: 1 });
      return {
        from: operationTime as Timestamp,
        barrier: Number(cursor.firstBatch[0]?.number ?? 0),
        time: localTime as Date,
      };
    });
  }
}

const EXPIRY: Document = { $add: ["$$NOW", TTL_MS] };
/** True for a claim that has ended, or ends later than it could: then the clock was set back since. */
const HAS_EXPIRED: Document = {
  $or: [
    { $lte: ["$expiresAt", "$$NOW"] },
    { $gt: ["$expiresAt", { $add: ["$$NOW", 2 * TTL_MS] }] },
  ],
};
