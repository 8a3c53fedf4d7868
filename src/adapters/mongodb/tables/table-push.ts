// One push as one transaction. A record that the server refuses ends the whole transaction, so what may be refused is
// checked before, and what is refused still is found by tries that are taken back.
import {
  type AnyBulkWriteOperation,
  type BulkWriteResult,
  type ClientSession,
  type Collection,
  type Db,
  MongoBulkWriteError,
  MongoServerError,
} from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import type { WriteFailure } from "../../../ports/tables/table-store.ts";
import { isPassing } from "../driver/errors.ts";
import type { IdRange } from "../driver/id-counters.ts";
import type { ChangedNames } from "../driver/person-versions.ts";
import type { TableVersions } from "../driver/table-versions.ts";
import { commitTransaction, type TransactionScope, tryTransaction } from "../driver/transaction.ts";
import { setMarkers } from "../runs/marker-store.ts";
import { cutUpserts, insertOperation, type Upsert, upsertOperation } from "./upserts.ts";

/** Why the server may refuse a row, by error code. Its own messages hold values of rows. */
const REFUSALS: ReadonlyMap<number, string> = new Map([
  [121, "The row does not pass the validator of the MongoDB collection"],
  [10334, "The row is larger than the 16 MiB that MongoDB can store"],
  [11000, "Another row has the same value in a unique index of the MongoDB collection"],
  [17419, "The row is larger than the 16 MiB that MongoDB can store"],
]);
/** Codes that an upsert may get though its record is not at fault. */
const BATCH_PROBLEMS: ReadonlySet<number> = new Set([
  13, // Unauthorized
  146, // ExceededMemoryLimit
  290, // TransactionExceededLifetimeLimitSeconds
  388, // TransactionTooLargeForCache
  14031, // OutOfDiskSpace
]);

/** Upserts sent first behind a refused one, then twice as many each time: the next refused one may be near. */
const FIRST_TRIED = 8;

interface TablePushRequest {
  readonly tableName: string;
  readonly upserts: readonly Upsert[];
  /** Whether the upserts take effect one after the other. */
  readonly ordered: boolean;
  /** Whether all keys are likely to be new: then plain inserts are tried first, at a quarter of the time. */
  readonly expectsNewKeys: boolean;
  /** Numbers for new rows, one per record; null for a table that is not numbered. */
  readonly ids: IdRange | null;
  /** Set in the same commit. */
  readonly markers: ReadonlyMap<string, string>;
  /** Throws when the push may no longer be done. */
  readonly beforeCommit: () => void;
  /** The people whose rows it changes. */
  readonly people: ChangedNames;
  /** Lane of the table's version that no other push of this instance uses. */
  readonly lane: number;
}

interface TablePushResult {
  readonly insertedRows: number;
  readonly failures: readonly WriteFailure[];
}

interface Written {
  readonly inserted: readonly Upsert[];
  readonly changedRows: number;
}

/** An upsert that the server refused for good; its transaction is over. */
class RefusedUpsert extends Error {
  readonly upsert: Upsert;
  readonly code: number;

  constructor(upsert: Upsert, code: number) {
    super(`Upsert refused with code ${code}`);
    this.upsert = upsert;
    this.code = code;
  }
}

export class TablePush {
  readonly #db: Db;
  readonly #versions: TableVersions;
  readonly #scope: TransactionScope;
  readonly #push: TablePushRequest;
  readonly #collection: Collection;

  constructor(db: Db, versions: TableVersions, scope: TransactionScope, push: TablePushRequest) {
    this.#db = db;
    this.#versions = versions;
    this.#scope = scope;
    this.#push = push;
    this.#collection = db.collection(push.tableName);
  }

  /**
   * Commits the markers and all upserts but the refused ones. Throws `AppError`, and driver errors after which nothing
   * was written.
   */
  async commit(): Promise<TablePushResult> {
    const { upserts: all, markers, expectsNewKeys } = this.#push;
    if (expectsNewKeys && all.length > 0) {
      const outcome = await orRefusal(this.#insertAll());
      if (!(outcome instanceof RefusedUpsert)) return { insertedRows: all.length, failures: [] };
    }
    const failures: WriteFailure[] = [];
    let upserts = all;
    while (upserts.length > 0 || markers.size > 0) {
      const outcome = await orRefusal(this.#commitAll(upserts));
      if (!(outcome instanceof RefusedUpsert)) return { insertedRows: outcome, failures };
      const found = await this.#findRefused(upserts, outcome);
      failures.push(...found.map(failureOf));
      const refused = new Set(found.map(({ upsert }) => upsert));
      upserts = upserts.filter((upsert) => !refused.has(upsert));
    }
    return { insertedRows: 0, failures };
  }

  /** Commits the rows of all upserts as new ones, with the markers. An existing key is a refusal. */
  #insertAll(): Promise<void> {
    const { upserts, beforeCommit } = this.#push;
    return commitTransaction(this.#scope, async (tx) => {
      for (const batch of cutUpserts(upserts)) {
        await this.#write(batch, batch.map(insertOperation), tx);
      }
      await this.#raiseVersion(tx);
      await this.#setMarkers(tx);
      beforeCommit();
    });
  }

  /** Commits the upserts, with the markers, and returns the number of new rows. */
  #commitAll(upserts: readonly Upsert[]): Promise<number> {
    return commitTransaction(this.#scope, async (tx) => {
      const { inserted, changedRows } = await this.#upsertAll(upserts, tx);
      await this.#closeGaps(inserted, tx);
      if (inserted.length + changedRows > 0) await this.#raiseVersion(tx);
      await this.#setMarkers(tx);
      this.#push.beforeCommit();
      return inserted.length;
    });
  }

  /**
   * Every upsert from the first refused one on that the server refuses. A try ends at the first, the next one goes on
   * behind it, so each upsert is sent about once. What is refused only together with others shows when the rest is
   * committed.
   */
  async #findRefused(upserts: readonly Upsert[], first: RefusedUpsert): Promise<RefusedUpsert[]> {
    const found = [first];
    let next = upserts.indexOf(first.upsert) + 1;
    while (!this.#scope.deadline.isOver()) {
      const rest = upserts.slice(next);
      const outcome = await orRefusal(this.#tryAll(rest));
      if (!(outcome instanceof RefusedUpsert)) return found;
      found.push(outcome);
      next += rest.indexOf(outcome.upsert) + 1;
    }
    const message = `MongoDB refused more records than could be found in time: ${found.length} until then`;
    throw new AppError("commit_failed", message, { cause: first });
  }

  /** Writes the upserts and takes them back. */
  #tryAll(upserts: readonly Upsert[]): Promise<void> {
    return tryTransaction(this.#scope, async (tx) => {
      let count = FIRST_TRIED;
      for (let i = 0; i < upserts.length; i += count / 2) {
        await this.#upsertAll(upserts.slice(i, i + count), tx);
        count *= 2;
      }
    });
  }

  async #upsertAll(upserts: readonly Upsert[], tx: ClientSession): Promise<Written> {
    const inserted: Upsert[] = [];
    let changedRows = 0;
    for (const batch of cutUpserts(upserts)) {
      const written = await this.#write(batch, batch.map(upsertOperation), tx);
      changedRows += written.modifiedCount;
      for (const place of Object.keys(written.upsertedIds)) {
        inserted.push(batch[Number(place)] as Upsert);
      }
    }
    return { inserted, changedRows };
  }

  /** Numbers new rows one after the other where records between them changed rows that were there. */
  async #closeGaps(inserted: readonly Upsert[], tx: ClientSession): Promise<void> {
    const { ids } = this.#push;
    if (ids === null) return;
    const ranks = new Map(
      inserted.toSorted((a, b) => a.place - b.place).map((upsert, rank) => [upsert, rank]),
    );
    const rankOf = (upsert: Upsert) => ranks.get(upsert) as number;
    const misnumbered = inserted.filter((upsert) => upsert.place !== rankOf(upsert));
    for (const batch of cutUpserts(misnumbered)) {
      const operations = batch.map((upsert) => {
        const update = { $set: { id: ids.first.add(rankOf(upsert)) } };
        return { updateOne: { filter: upsert.filter, update } };
      });
      await this.#write(batch, operations, tx);
    }
  }

  /**
   * Writes one batch, an operation for each of its upserts, by one command of the transaction. Ends at the first upsert
   * that the server refuses: the transaction is over then.
   */
  async #write(
    batch: readonly Upsert[],
    operations: readonly AnyBulkWriteOperation[],
    tx: ClientSession,
  ): Promise<BulkWriteResult> {
    const { ordered } = this.#push;
    try {
      // The server makes the ids of new rows, as it does for those that upserts insert.
      const options = { session: tx, ordered, forceServerObjectId: true };
      return await this.#collection.bulkWrite(operations, options);
    } catch (error) {
      throw refusalOf(error, batch);
    }
  }

  #raiseVersion(tx: ClientSession): Promise<void> {
    const { tableName, people, lane } = this.#push;
    return this.#versions.raise(tableName, people, lane, tx);
  }

  #setMarkers(tx: ClientSession): Promise<void> {
    return setMarkers(this.#db, this.#push.markers, tx);
  }
}

/** The refusal of an upsert that ended the transaction, or the error as it is. */
function refusalOf(error: unknown, batch: readonly Upsert[]): unknown {
  if (!(error instanceof MongoBulkWriteError)) return error;
  const [refused] = error.result.getWriteErrors();
  if (refused === undefined) return error;
  // Without the server's message, which holds values of the row.
  const serverError = new MongoServerError({ message: "An upsert failed", code: refused.code });
  const upsert = batch[refused.index];
  if (upsert === undefined || BATCH_PROBLEMS.has(refused.code) || isPassing(serverError)) {
    return serverError;
  }
  return new RefusedUpsert(upsert, refused.code);
}

async function orRefusal<T>(work: Promise<T>): Promise<T | RefusedUpsert> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RefusedUpsert) return error;
    throw error;
  }
}

function failureOf({ upsert, code }: RefusedUpsert): WriteFailure {
  const message = REFUSALS.get(code) ?? `MongoDB refused the row: error ${code}`;
  return { index: upsert.index, message };
}
