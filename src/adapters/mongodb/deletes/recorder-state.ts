// The state that all instances share: which of them is the recorder, how far it has come, and for which tables since when.
import {
  type ClientSession,
  type Collection,
  type Document,
  ObjectId,
  type Timestamp,
} from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { CallLimit } from "../../../ports/documents.ts";
import type { InternalCollection } from "../driver/collections.ts";
import {
  COMMITTED,
  readCommitted,
  type StoreDeps,
  writeOne,
  writeTogether,
} from "../driver/operations.ts";
import { tombstonesOf } from "../driver/tombstone-documents.ts";

/** One document, raised by each barrier. */
export const DELETE_BARRIERS: InternalCollection = { name: "repsync_delete_barriers" };

export const DELETE_RECORDER: InternalCollection = { name: "repsync_delete_recorder" };

/** Each call of the recorder ends in time: a broken connection may hang for ever. */
export const RECORDER_CALLS: CallLimit = { triesMs: 10_000, endMs: 10_000 };

/** Time after which a silent recorder loses its place. */
const TTL_MS = 5_000;
const STATE_ID = "state";
const BARRIER_ID = "last";

/** A table whose deletes are or were recorded. */
interface RecordedTable {
  /** Names of the key columns. */
  readonly key: string;
  readonly time: string | null;
  readonly isOn: boolean;
  /** Deletes up to this cluster time are ignored. */
  readonly from: Timestamp;
  readonly completeSince: Date;
  /** The id of the table's list of tombstones, which its places belong to. */
  readonly list: string;
}

type RecordedTables = Readonly<Record<string, RecordedTable>>;

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
  /** By the names of tables whose deletes may have been missed. */
  readonly interrupted: ReadonlyMap<string, unknown>;
}

/**
 * When a record begins, by a clock that is not earlier than the cluster time. A record begins anew where a collection was dropped or
 * kept no pre-images, and for all tables where the stream cannot resume.
 */
type Beginning = Pick<RecordedTable, "from" | "completeSince">;

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
    const { barrier, beginning } = await this.#now();
    await writeTogether(this.#deps, async (tx) => {
      const options = { session: tx };
      const state = await this.#states.findOne({ _id: STATE_ID }, options);
      const planned = planTables(state?.tables ?? {}, tables, beginning);
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
  async advance(recorder: ObjectId, progress: Progress, tx: ClientSession): Promise<void> {
    const { token, barrier, interrupted } = progress;
    const names = interrupted.keys();
    const since = Array.from(names, (name) => [`tables.${name}.completeSince`, "$$NOW"]);
    await this.stay(recorder, tx, {
      token: { $literal: token },
      ...(barrier === null ? {} : { barrier }),
      ...Object.fromEntries(since),
    });
  }

  /** Renews the recorder's place, with changes, within a transaction of its work. Throws `RecorderReplaced`. */
  async stay(recorder: ObjectId, tx: ClientSession, changed: Document = {}): Promise<void> {
    const update = [{ $set: { ...changed, expiresAt: EXPIRY } }];
    const options = { session: tx };
    const kept = await this.#states.updateOne({ _id: STATE_ID, recorder }, update, options);
    if (kept.matchedCount === 0) throw new RecorderReplaced();
  }

  /** Begins all tables anew, as the stream cannot resume, and gives the new state. Throws `RecorderReplaced`. */
  async beginAnew(recorder: ObjectId): Promise<RecorderState> {
    const { barrier, beginning } = await this.#now();
    return await writeTogether(this.#deps, async (tx) => {
      const options = { session: tx };
      const state = await this.#states.findOne({ _id: STATE_ID, recorder }, options);
      if (state === null) throw new RecorderReplaced();
      const tables = mapTables(state.tables, (table) => ({ ...table, ...beginning }));
      const begun = { token: null, barrier, tables };
      await this.#states.updateOne({ _id: STATE_ID }, { $set: begun }, options);
      return { ...state, ...begun };
    });
  }

  async release(recorder: ObjectId): Promise<void> {
    const free = [{ $set: { recorder: null, expiresAt: "$$NOW" } }];
    await writeOne(this.#deps, () => this.#states.updateOne({ _id: STATE_ID, recorder }, free));
  }

  /** Reads the record of a table in the given snapshot or transaction. */
  async find({ name }: Table, tx: ClientSession): Promise<RecordedTable> {
    const state = await this.#states.findOne({ _id: STATE_ID }, { session: tx });
    const recorded = state?.tables[name];
    if (recorded === undefined) {
      // As after another program has dropped the database.
      throw new AppError("store_unavailable", `Deletes from table "${name}" are not recorded`);
    }
    return recorded;
  }

  /** Moves `completeSince` of a table forward. */
  async forgetBefore({ name }: Table, time: Date, tx: ClientSession): Promise<void> {
    const update = { $max: { [`tables.${name}.completeSince`]: time } };
    await this.#states.updateOne({ _id: STATE_ID }, update, { session: tx });
  }

  /** Raises the barrier, and gives its new number. */
  async raiseBarrier(): Promise<number> {
    const raised = await writeOne(this.#deps, () =>
      this.#deps.db
        .collection<{ _id: string; number: number }>(DELETE_BARRIERS.name)
        .findOneAndUpdate(
          { _id: BARRIER_ID },
          { $inc: { number: 1 } },
          { upsert: true, returnDocument: "after" },
        ),
    );
    if (raised === null) throw new Error("An upsert gave no document back");
    return raised.number;
  }

  /** A beginning, and the last barrier before it. */
  async #now(): Promise<{ readonly beginning: Beginning; readonly barrier: number }> {
    const { db } = this.#deps;
    return await readCommitted(this.#deps, async () => {
      const find = { find: DELETE_BARRIERS.name, limit: 1, singleBatch: true, ...COMMITTED };
      const { cursor, operationTime } = await db.command(find);
      const { localTime } = await db.command({ hello: 1 });
      const beginning = { from: operationTime as Timestamp, completeSince: localTime as Date };
      return { beginning, barrier: Number(cursor.firstBatch[0]?.number ?? 0) };
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

/** True when the deletes of exactly these tables are recorded. */
export function areSame(recorded: RecordedTables, tables: ReadonlyMap<string, Table>): boolean {
  const on = Object.entries(recorded).filter(([, { isOn }]) => isOn);
  return (
    on.length === tables.size &&
    on.every(([name, { key, time }]) => {
      const table = tables.get(name);
      return table !== undefined && key === keyNames(table) && time === table.timestampColumn;
    })
  );
}

/** The tables of a changed registry; `goesOn` when the stream of one of them continues. */
function planTables(
  recorded: RecordedTables,
  tables: ReadonlyMap<string, Table>,
  beginning: Beginning,
) {
  const planned = mapTables(recorded, (table) => ({ ...table, isOn: false }));
  const otherKeys: string[] = [];
  let goesOn = false;
  for (const table of tables.values()) {
    const changed = { key: keyNames(table), time: table.timestampColumn, isOn: true };
    const before = recorded[table.name];
    const hasOtherKey = before !== undefined && before.key !== changed.key;
    if (hasOtherKey) otherKeys.push(table.name);
    if (before?.isOn && !hasOtherKey) {
      goesOn = true;
      planned[table.name] = { ...before, ...changed };
    } else {
      const list = before === undefined || hasOtherKey ? new ObjectId().toHexString() : before.list;
      planned[table.name] = { ...changed, list, ...beginning };
    }
  }
  return { tables: planned, otherKeys, goesOn };
}

function mapTables(
  tables: RecordedTables,
  change: (table: RecordedTable) => RecordedTable,
): Record<string, RecordedTable> {
  return Object.fromEntries(Object.entries(tables).map(([name, table]) => [name, change(table)]));
}

function keyNames({ keyColumns }: Table): string {
  return keyColumns.map(({ name }) => name).join(", ");
}
