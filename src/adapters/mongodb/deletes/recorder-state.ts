// The state that all instances share: which of them is the recorder, how far it has come, and for which tables since when.
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

/** One document, raised by each barrier. */
export const DELETE_BARRIERS: InternalCollection = { name: "repsync_delete_barriers" };

export const DELETE_RECORDER: InternalCollection = { name: "repsync_delete_recorder" };

/** Each call of the recorder ends in time: a broken connection may hang for ever. */
export const RECORDER_CALLS: CallLimit = { triesMs: 10_000, endMs: 10_000 };

/** Time after which a silent recorder loses its place. */
const TTL_MS = 5_000;
const STATE_ID = "state";

export interface RecorderState {
  readonly _id: string;
  readonly recorder: ObjectId | null;
  /** When a silent recorder loses its place, and the registry of instances that have ended no longer counts. */
  readonly expiresAt: Date;
  /** Where the stream resumes; null where it begins at the earliest `from`. */
  readonly token: Document | null;
  readonly barrier: number;
  readonly tables: RecordedTables;
}

/** What a recorder commits with the tombstones of a piece. */
interface Progress {
  readonly token: Document;
  /** The greatest barrier of the piece; null without one. */
  readonly barrier: number | null;
  /** Tables whose deletes may have been missed. */
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

  /** Null before the first table with `deletes`. */
  async read(): Promise<RecorderState | null> {
    return await readCommitted(this.#deps, () =>
      this.#states.findOne({ _id: STATE_ID }, COMMITTED),
    );
  }

  /** Records deletes of these tables: from now on where they were not recorded, or had another key. Other recorders lose their place. */
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

  /** Makes an instance the recorder when there is none or it is the recorder already, and gives the state; else null. */
  async acquire(
    recorder: ObjectId,
    tables: ReadonlyMap<string, Table>,
  ): Promise<RecorderState | null> {
    const isFree = { $or: [{ recorder: null }, { recorder }, { $expr: HAS_EXPIRED }] };
    const taken = [{ $set: { recorder, expiresAt: EXPIRY } }];
    // Transactions end those that a killed recorder left.
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

  /** True when there has been no recorder for so long that instances with the state's registry must be gone. */
  async isAbandoned(): Promise<boolean> {
    const isOld = { $expr: { $lte: [{ $add: ["$expiresAt", TTL_MS] }, "$$NOW"] } };
    const found = await readCommitted(this.#deps, () =>
      this.#states.findOne({ _id: STATE_ID, ...isOld }, COMMITTED),
    );
    return found !== null;
  }

  /** Keeps progress within the transaction of its tombstones. Throws `RecorderReplaced`. */
  async advance(recorder: ObjectId, progress: Progress, options: TxOptions): Promise<void> {
    const { token, barrier, interrupted } = progress;
    const since = Array.from(interrupted, (name) => [`tables.${name}.completeSince`, "$$NOW"]);
    await this.stay(recorder, options, {
      token: { $literal: token },
      ...(barrier === null ? {} : { barrier }),
      ...Object.fromEntries(since),
    });
  }

  /** Renews the recorder's place, with changes, within a transaction of its work. Throws `RecorderReplaced`. */
  async stay(recorder: ObjectId, options: TxOptions, changed: Document = {}): Promise<void> {
    const update = [{ $set: { ...changed, expiresAt: EXPIRY } }];
    const kept = await this.#states.updateOne({ _id: STATE_ID, recorder }, update, options);
    if (kept.matchedCount === 0) throw new RecorderReplaced();
  }

  /** Begins all tables anew, as the stream cannot resume, and gives the new state. Throws `RecorderReplaced`. */
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

  async release(recorder: ObjectId): Promise<void> {
    const free = [{ $set: { recorder: null, expiresAt: "$$NOW" } }];
    await writeOne(this.#deps, (options) =>
      this.#states.updateOne({ _id: STATE_ID, recorder }, free, options),
    );
  }

  /** Reads the record of a table in the given snapshot or transaction. */
  async find(table: Table, options: object): Promise<RecordedTable> {
    const state = await this.#states.findOne({ _id: STATE_ID }, options);
    const recorded = state?.tables[table.name];
    if (recorded === undefined)
      throw new Error(`Table "${table.name}" was not prepared with deletes`);
    return recorded;
  }

  /** Moves `completeSince` of a table forward. */
  async forgetBefore(table: Table, time: Date, options: TxOptions): Promise<void> {
    const update = { $max: { [`tables.${table.name}.completeSince`]: time } };
    await this.#states.updateOne({ _id: STATE_ID }, update, options);
  }

  /** A cluster time, the last barrier before it, and a clock time that is not before it. */
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
/** True for a place that has expired, or expires later than it could, as after a clock was set back. */
const HAS_EXPIRED: Document = {
  $or: [
    { $lte: ["$expiresAt", "$$NOW"] },
    { $gt: ["$expiresAt", { $add: ["$$NOW", 2 * TTL_MS] }] },
  ],
};
