// The ways to read and write, and to tell the time. Reads and writes repeat what fails for a passing reason until their deadline, and
// throw errors of the driver as `AppError`s.
import {
  type AggregateOptions,
  type ClientSession,
  type Collection,
  type Db,
  type Document,
  type MongoClient,
  MongoServerError,
  type TopologyDescription,
} from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import type { CallLimit } from "../../../ports/documents.ts";
import type { Clock } from "../../../ports/runtime/runtime.ts";
import type { InternalCollection } from "./collections.ts";
import { Deadline, retry, type Stopwatch } from "./deadline.ts";
import { asAppErrors } from "./errors.ts";
import { commitTransaction, type TransactionBody } from "./transaction.ts";

export interface StoreDeps {
  readonly client: MongoClient;
  readonly db: Db;
  readonly clock: Stopwatch;
  readonly primaryWatch: PrimaryWatch;
  readonly storeClock: StoreClock;
  /** `SYNC_CALLS` or `REQUEST_CALLS`. */
  readonly callLimit: CallLimit;
}

export const COMMITTED = { readConcern: { level: "majority" } } as const;

/**
 * Sees every write acknowledged before the call. A replaced primary may answer, so the result must not decide what takes effect at
 * once, such as the end of a right.
 */
export async function readCommitted<T>(
  { clock, primaryWatch, callLimit }: StoreDeps,
  read: () => Promise<T>,
  deadline: Deadline = new Deadline(clock, callLimit),
): Promise<T> {
  return await asAppErrors(retry(deadline, () => primaryWatch.read(read)));
}

/** As `readCommitted()`, with all reads in one snapshot. */
export async function readSnapshot<T>(
  deps: StoreDeps,
  read: (tx: ClientSession) => Promise<T>,
  deadline?: Deadline,
): Promise<T> {
  const readOnce = async () => {
    await using tx = deps.client.startSession({ snapshot: true });
    return await read(tx);
  };
  return await readCommitted(deps, readOnce, deadline);
}

/** Makes one durable write to one document. It may happen twice, and after a later one, which must do no harm. */
export async function writeOne<T>(
  { clock, callLimit }: StoreDeps,
  write: () => Promise<T>,
): Promise<T> {
  return await asAppErrors(retry(new Deadline(clock, callLimit), write));
}

/** The server code after which a transaction runs again. */
const NO_SUCH_TRANSACTION = 251;

/** Makes reads and writes as one durable transaction. Reads see what those of `readCommitted()` do. */
export async function writeTogether<T>(
  { client, clock, primaryWatch, callLimit }: StoreDeps,
  body: TransactionBody<T>,
): Promise<T> {
  const scope = { client, clock, deadline: new Deadline(clock, callLimit) };
  const committed = commitTransaction(scope, async (tx) => {
    const primary = await primaryWatch.confirm();
    const result = await body(tx);
    if ((await primaryWatch.confirm()) === primary) return result;
    throw new MongoServerError({ message: "The primary changed", code: NO_SUCH_TRANSACTION });
  });
  return await asAppErrors(committed);
}

/** Longest wait for a confirmation; then the caller tries again. */
const CONFIRM_MAX_MS = 5_000;

/**
 * Confirms new primaries of a replica set; sharded clusters do not show theirs. A new primary may miss writes that the former one
 * acknowledged, until a majority holds a write of its own. Reads wait for that once per primary.
 */
export class PrimaryWatch {
  readonly #db: Db;
  #primary: string | null = null;
  #confirmedPrimary: string | null = null;

  constructor(client: MongoClient, db: Db) {
    this.#db = db;
    client.on("topologyDescriptionChanged", ({ newDescription }) => {
      this.#primary = primaryOf(newDescription) ?? this.#primary;
    });
  }

  /** Runs a read that sees every write acknowledged before; again when the primary has changed meanwhile. */
  async read<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      const primary = await this.confirm();
      const result = await work();
      if (this.#primary === primary) return result;
    }
  }

  /** Resolves to the primary once reads from it see every write acknowledged before. */
  async confirm(): Promise<string | null> {
    const primary = this.#primary;
    if (primary === this.#confirmedPrimary) return primary;
    // Only a primary that a majority follows answers a linearizable read.
    await this.#db.command({
      find: "repsync_tables",
      limit: 1,
      singleBatch: true,
      readConcern: { level: "linearizable" },
      maxTimeMS: CONFIRM_MAX_MS,
    });
    this.#confirmedPrimary = primary;
    return primary;
  }
}

function primaryOf({ servers }: TopologyDescription): string | null {
  const primary = servers.values().find(({ type }) => type === "RSPrimary");
  if (primary === undefined) return null;
  return `${primary.address} ${primary.electionId?.toHexString() ?? ""}`;
}

/** Null for the server's time, which all instances share; tests have clocks of their own. */
export type StoreClock = Pick<Clock, "nowMs"> | null;

export type TimeSource = Pick<StoreDeps, "db" | "storeClock">;

/** One document: the read of the time begins there, and joins other reads. */
export const TIME: InternalCollection = { name: "repsync_time" };
const TIME_ID = "now";

/** The time in a filter or pipeline. */
export function nowExpression(clock: StoreClock): "$$NOW" | Date {
  return clock === null ? "$$NOW" : new Date(clock.nowMs());
}

export async function prepareTime(db: Db): Promise<void> {
  const once = { $setOnInsert: { _id: TIME_ID } };
  await timeCollection(db).updateOne({ _id: TIME_ID }, once, { upsert: true });
}

/** Reads the time and what the stages join, in one message. Throws `store_unavailable` when the document of `TIME` is missing. */
export async function readTimed<Joined>(
  { db, storeClock }: TimeSource,
  joins: readonly Document[],
  options: AggregateOptions,
): Promise<Joined & { readonly nowMs: number }> {
  const now = { $set: { now: nowExpression(storeClock) } };
  const stages = [{ $match: { _id: TIME_ID } }, ...joins, now];
  const [found] = await timeCollection(db).aggregate(stages, options).toArray();
  if (found === undefined) throw new AppError("store_unavailable", "MongoDB tells no time");
  return { ...(found as Joined), nowMs: (found["now"] as Date).getTime() };
}

function timeCollection(db: Db): Collection<{ readonly _id: string }> {
  return db.collection(TIME.name);
}
