// Reads the change stream on the recording instance, and commits the tombstones of a piece with the place behind it: an event is
// recorded once, whoever reads it.
import { type ClientSession, type Db, MongoServerError, type ObjectId, Timestamp } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import { compareDateTimes } from "../../../domain/shared/time.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { aheadLimit, outlives } from "../../../domain/sync/rows/row-time.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { Logger } from "../../../ports/runtime/runtime.ts";
import { cutBatches } from "../driver/collections.ts";
import { Deadline } from "../driver/deadline.ts";
import {
  hasCode,
  isPassing,
  NAMESPACE_NOT_FOUND,
  orNull,
  SNAPSHOT_TOO_OLD,
  SNAPSHOT_UNAVAILABLE,
} from "../driver/errors.ts";
import type { StoreDeps } from "../driver/operations.ts";
import {
  type ForgottenValue,
  findTombstones,
  forgetTombstonesOf,
  listTombstones,
  ownDeletesOf,
} from "../driver/tombstone-documents.ts";
import { commitTransaction, type TransactionBody } from "../driver/transaction.ts";
import { findStored, keyOfRow } from "../tables/stored-rows.ts";
import { keyAndTime } from "../tables/table-layout.ts";
import {
  type DeletedKey,
  EventReader,
  type Findings,
  findOwnDeletes,
  forgottenIn,
} from "./delete-events.ts";
import { DeleteStream, type Piece, StreamClosed, type StreamStart } from "./delete-stream.ts";
import { RECORDER_CALLS, type RecorderState, type RecorderStates } from "./recorder-state.ts";

/** The pause before an idle recorder keeps its place in the stream, and thereby its role. */
const KEEP_EVERY_MS = 1_500;
const FORGET_EVERY_MS = 60_000;
/** More than the clocks of servers differ. */
const NOTED_MS = 3_600_000;

/** Server codes of streams that cannot resume. */
const LOST_PLACE = [
  136, // CappedPositionLost
  260, // InvalidResumeToken
  280, // ChangeStreamFatalError
  286, // ChangeStreamHistoryLost
];
/** Snapshots that are read at the same time: a program may replace each row in a transaction of its own. */
const TIMES_AT_ONCE = { maxItems: 32 };
/** Server code BSONObjectTooLarge: an event holds both forms of a replaced row. */
const EVENT_TOO_LARGE = 10334;

interface RecordingDeps extends StoreDeps {
  readonly states: RecorderStates;
  readonly logger: Pick<Logger, "warn">;
  /** Called after each recorded piece. */
  readonly isWell: () => void;
}

export class Recording {
  readonly #deps: RecordingDeps;
  readonly #recorder: ObjectId;
  readonly #tables: ReadonlyMap<string, Table>;
  #stream: DeleteStream | null = null;
  #isClosed = false;
  #forgottenMs = Number.NEGATIVE_INFINITY;

  constructor(deps: RecordingDeps, recorder: ObjectId, tables: ReadonlyMap<string, Table>) {
    this.#deps = deps;
    this.#recorder = recorder;
    this.#tables = tables;
  }

  /** Records until `close()`. Throws `RecorderReplaced`, `AppError` and errors of the driver; another try may resume from the kept state. */
  async run(state: RecorderState): Promise<void> {
    let from = state;
    while (!this.#isClosed) {
      const problem = await this.#follow(from).catch(problemOf);
      if (this.#isClosed) return;
      from = await this.#deps.states.beginAnew(this.#recorder);
      for (const table of this.#tables.keys()) this.#warn(table, problem);
    }
  }

  /** Ends the recording after the running commit. */
  close(): void {
    this.#isClosed = true;
    this.#stream?.close();
  }

  /** Follows the stream to its end, and gives the reason of the end. */
  async #follow(state: RecorderState): Promise<string> {
    const { clock } = this.#deps;
    const reader = new EventReader(this.#tables.values(), state.tables);
    const stream = new DeleteStream(this.#deps, this.#tables.values(), startOf(state));
    this.#stream = stream;
    let keptMs = clock.monotonicMs();
    try {
      while (!this.#isClosed) {
        const piece = await stream.next();
        const isDue = clock.monotonicMs() >= keptMs + KEEP_EVERY_MS;
        if (piece.events.length === 0 && !isDue) continue;
        for (const forgotten of forgottenIn(piece.events)) await this.#forget(forgotten);
        const findings = await this.#commit(reader, piece);
        this.#deps.isWell();
        keptMs = clock.monotonicMs();
        await this.#deadline().race(this.#tell(findings));
        await this.#deadline().race(this.#forgetOwnDeletes(piece));
      }
      return "the stream was closed";
    } finally {
      stream.close();
    }
  }

  #deadline(): Deadline {
    return new Deadline(this.#deps.clock, RECORDER_CALLS);
  }

  /** Forgets what earlier pieces listed, in a commit of its own, as the list may be long. */
  #forget(forgotten: ForgottenValue): Promise<void> {
    return this.#inTransaction(async (tx) => {
      await this.#deps.states.stay(this.#recorder, tx);
      await forgetTombstonesOf(this.#deps.db, forgotten, tx);
    });
  }

  #inTransaction<T>(body: TransactionBody<T>): Promise<T> {
    const { client, clock } = this.#deps;
    return commitTransaction({ client, clock, deadline: this.#deadline() }, body);
  }

  #commit(reader: EventReader, { events, token }: Piece): Promise<Findings> {
    const { db, states } = this.#deps;
    return this.#inTransaction(async (tx) => {
      const findings = reader.read(events, await findOwnDeletes(db, events, tx));
      await states.advance(this.#recorder, { ...findings, token }, tx);
      for (const [name, ofTable] of findings.tombstones) {
        const table = this.#tables.get(name) as Table;
        const kept = await findTombstones(db, table, ofTable.keys(), tx);
        const replaced = await this.#findReplaced(table, ofTable.values(), tx);
        const listed = [...ofTable].filter(([text, { deletedAt }]) => {
          const before = kept.get(text);
          const isLater = before === undefined || compareDateTimes(deletedAt, before) > 0;
          return isLater && !replaced.has(text);
        });
        const added = listed.map(([, tombstone]) => tombstone);
        await listTombstones(this.#deps, table, added, tx);
      }
      return findings;
    });
  }

  /** Of keys that transactions deleted: those with a later row now, and those that had a row again when their transaction committed. */
  async #findReplaced(
    table: Table,
    deleted: Iterable<DeletedKey>,
    tx: ClientSession,
  ): Promise<ReadonlySet<string>> {
    const columns = keyAndTime(table);
    const findKeys = (some: readonly DeletedKey[], session: ClientSession) => {
      const keys = some.map(({ key }) => keyOfRow(table, key));
      return findStored(this.#deps, table, { keys, columns }, session);
    };
    const inTransactions = [...deleted].filter(({ isInTransaction }) => isInTransaction);
    const there = await findKeys(inTransactions, tx);
    const replaced = new Set(there.keys());
    const earlier = inTransactions.filter(({ key, deletedAt, event }) => {
      const row = there.get(keyText(table, key));
      const limit = aheadLimit(event.wallTime.getTime());
      return row !== undefined && !outlives(row.time, deletedAt, limit);
    });
    const byTime = Map.groupBy(earlier, ({ event }) => event.clusterTime.toString());
    const look = async ([time, some]: readonly [string, readonly DeletedKey[]]) => {
      const at = new Timestamp(BigInt(time));
      const putBack = await this.#readAt(at, (then) => findKeys(some, then));
      for (const { key } of some) {
        const text = keyText(table, key);
        if (putBack !== null && !putBack.has(text)) replaced.delete(text);
      }
    };
    for (const some of cutBatches([...byTime], TIMES_AT_ONCE)) await Promise.all(some.map(look));
    return replaced;
  }

  /** Reads as of a time of the cluster; null where the server knows it no more. */
  async #readAt<T>(
    time: Timestamp,
    read: (session: ClientSession) => Promise<T>,
  ): Promise<T | null> {
    // The driver types no snapshot of a given time; it takes one, as it does after the first read of a session.
    await using session = this.#deps.client.startSession({ snapshot: true });
    Object.assign(session, { snapshotTime: time });
    return await orNull(read(session), SNAPSHOT_TOO_OLD, SNAPSHOT_UNAVAILABLE);
  }

  async #tell({ interrupted, changed }: Findings): Promise<void> {
    for (const [table, interruption] of interrupted) this.#warn(table, interruption);
    for (const table of new Set([...interrupted.keys(), ...changed])) {
      await keepPreImages(this.#deps.db, table);
    }
  }

  #warn(table: string, reason: string): void {
    const message = `Deletes may have been missed, as ${reason}: compare the table with its remote`;
    this.#deps.logger.warn(message, { table });
  }

  async #forgetOwnDeletes({ events }: Piece): Promise<void> {
    const nowMs = this.#deps.clock.monotonicMs();
    const last = events.at(-1);
    if (last === undefined || nowMs < this.#forgottenMs + FORGET_EVERY_MS) return;
    this.#forgottenMs = nowMs;
    const before = new Date(last.wallTime.getTime() - NOTED_MS);
    // Servers may be set to refuse what uses no index.
    await ownDeletesOf(this.#deps.db).deleteMany({ at: { $lt: before } }, { hint: { _id: 1 } });
  }
}

/** Why a stream cannot resume, for the log. Throws any other error. */
function problemOf(error: unknown): string {
  if (error instanceof StreamClosed) return "the stream was closed";
  if (hasCode(error, ...LOST_PLACE)) return "the oplog no longer has them";
  if (hasCode(error, EVENT_TOO_LARGE)) return "a row was replaced that is too large for an event";
  throw error;
}

function startOf({ token, tables }: RecorderState): StreamStart {
  if (token !== null) return { resumeAfter: token };
  const on = Object.values(tables).filter(({ isOn }) => isOn);
  const earliest = on.map(({ from }) => from).reduce((a, b) => (b.lessThan(a) ? b : a));
  // The first time after `from`.
  return { startAtOperationTime: Timestamp.fromBits(earliest.low + 1, earliest.high) };
}

// Without a pre-image the event of a delete names no key. Collections keep pre-images on request, from MongoDB 6.0 on.

/** Has a collection keep pre-images, unless it does, or is none. Throws `schema_conflict` when MongoDB refuses. */
export async function keepPreImages(db: Db, tableName: string): Promise<void> {
  const [collection] = await db.listCollections({ name: tableName, type: "collection" }).toArray();
  if (collection === undefined || !("options" in collection)) return;
  if (collection.options["changeStreamPreAndPostImages"]?.enabled === true) return;
  try {
    await db.command({ collMod: tableName, changeStreamPreAndPostImages: { enabled: true } });
  } catch (error) {
    if (hasCode(error, NAMESPACE_NOT_FOUND)) return;
    if (!(error instanceof MongoServerError) || isPassing(error)) throw error;
    const message = `Table "${tableName}": "deletes" needs MongoDB with featureCompatibilityVersion 6.0 or later and the right to change the collection (role dbAdmin), but it answers ${error.codeName ?? error.code}`;
    throw new AppError("schema_conflict", message, { cause: error });
  }
}
