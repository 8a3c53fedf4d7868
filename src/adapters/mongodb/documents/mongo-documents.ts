import { createHash } from "node:crypto";
import { type ClientSession, type Db, MongoError } from "mongodb";
import {
  type AnyCollection,
  type CallOptions,
  type DocumentStore,
  isShort,
  type Reader,
  START_CALLS,
  type Transaction,
} from "../../../ports/documents.ts";
import { BodyQueues } from "../../../ports/runtime/turns.ts";
import { preparedIn } from "../../../ports/stored-documents.ts";
import { createCollection, makeCollections } from "../driver/collections.ts";
import { Deadline, retry } from "../driver/deadline.ts";
import { asAppErrors, toAppError, toRowsError } from "../driver/errors.ts";
import { COMMITTED, prepareTime, readSnapshot, TIME } from "../driver/operations.ts";
import { readFacts, setFact } from "../driver/store-facts.ts";
import {
  commit,
  endTransaction,
  MAX_CONFLICTS_MS,
  Rerun,
  runTransaction,
  withReruns,
} from "../driver/transaction.ts";
import { VERSIONS, type VersionedDeps } from "../driver/versions.ts";
import { BodyWrites } from "../tables/body-tables.ts";
import { DocumentCollection } from "./document-collection.ts";
import { MongoTransaction } from "./mongo-transaction.ts";

/** A collection each, snapshots for reading, and writes that conflict with every concurrent write of what a body read. */
export class MongoDocuments implements DocumentStore {
  /** A commit on the disks of a majority takes several times longer. */
  readonly gatherMs = 3;
  readonly #deps: VersionedDeps;
  readonly #collections = new Map<string, DocumentCollection>();
  /** Names of tables whose last write had new rows only. */
  readonly #filling = new Set<string>();
  /** Queues of short bodies that met conflicts. */
  readonly #queues = new BodyQueues();
  /** Names of collections that may be missing. */
  readonly #unmade = new Set<string>();

  constructor(deps: VersionedDeps) {
    this.#deps = deps;
  }

  get collections(): readonly AnyCollection[] {
    return [...this.#collections.values()].map(({ collection }) => collection);
  }

  /** Declares collections; a missing one is made before the first write to it. */
  async declare(collections: readonly AnyCollection[]): Promise<void> {
    await this.#start(() => this.#declare(collections));
  }

  async prepare(collections: readonly AnyCollection[]): Promise<void> {
    await this.#start(async () => {
      const own = await this.#declare(collections);
      if (!own.some(({ name }) => this.#unmade.has(name))) return;
      await Promise.all(own.map((collection) => this.#make(collection)));
      await setFact(this.#deps.db, "collections", digestOf(own));
    });
  }

  async #start(work: () => Promise<unknown>): Promise<void> {
    // An election repeats the work, so every step may happen twice.
    await asAppErrors(retry(new Deadline(this.#deps.clock, START_CALLS), work));
  }

  async #declare(collections: readonly AnyCollection[]): Promise<readonly DocumentCollection[]> {
    const { db } = this.#deps;
    const own = collections.map((collection) => new DocumentCollection(collection));
    await prepareTime(db);
    const areMade = await isMade(db, digestOf(own), own);
    if (!areMade) await makeCollections(db, [VERSIONS, TIME]);
    for (const one of own) {
      this.#collections.set(one.collection.name, one);
      if (!areMade) this.#unmade.add(one.name);
    }
    return own;
  }

  async #make(collection: DocumentCollection): Promise<void> {
    const { db } = this.#deps;
    const { declaration } = collection;
    await createCollection(db, collection.name);
    const present = await db.collection(collection.name).listIndexes().toArray();
    const isPresent = (name: string) => present.some((index) => index["name"] === name);
    if (!declaration.indexes.every(({ name }) => isPresent(name))) {
      await addPlaces(db, collection);
      await makeCollections(db, [declaration]);
    }
    this.#unmade.delete(collection.name);
  }

  async read<T>(options: CallOptions, body: (at: Reader) => Promise<T>): Promise<T> {
    if (options.isProven) return await this.transact(options, body);
    const { clock, callLimit } = this.#deps;
    const deadline = new Deadline(clock, options.limit ?? callLimit);
    const read = (session: ClientSession) =>
      body(this.#begin(session, new BodyWrites(this.#deps, this.#filling), 0));
    return await readSnapshot(this.#deps, read, deadline);
  }

  async transact<T>(options: CallOptions, body: (tx: Transaction) => Promise<T>): Promise<T> {
    const { client, clock, callLimit } = this.#deps;
    const { isDivisible = false, isQueued, limit = callLimit } = options;
    const maxConflictsMs = isDivisible ? MAX_CONFLICTS_MS : undefined;
    const enterQueue = isShort(limit) ? () => this.#queues.enter(options.name) : undefined;
    const deadline = new Deadline(clock, limit);
    const scope = { client, clock, deadline, isQueued, maxConflictsMs, enterQueue };
    const writes = new BodyWrites(this.#deps, this.#filling);
    let hasWritten = false;
    // A body without writes commits only to prove which primary has answered.
    const finish = (session: ClientSession) =>
      hasWritten || options.isProven
        ? commit(session, deadline.forCommit())
        : session.abortTransaction();
    const attempt = (lane: number) => {
      const write = async (session: ClientSession) => {
        const tx = this.#begin(session, writes, lane);
        const result = await body(tx);
        hasWritten = await tx.finish();
        return result;
      };
      return runTransaction(scope, write, finish);
    };
    try {
      const { versions } = this.#deps;
      const result = await versions.withLane((lane) => withReruns(scope, () => attempt(lane)));
      writes.end();
      return result;
    } catch (error) {
      // The error of the body.
      if (!(error instanceof MongoError)) throw error;
      throw writes.hasRows ? toRowsError(error, isDivisible) : toAppError(error);
    }
  }

  #begin(session: ClientSession, writes: BodyWrites, lane: number): MongoTransaction {
    const collectionOf = (collection: AnyCollection) => preparedIn(this.#collections, collection);
    const requireMade = async (collection: DocumentCollection) => {
      if (!this.#unmade.has(collection.name)) return;
      // A transaction cannot make the collection, and one that has read it would block the making.
      await this.#start(async () => {
        await endTransaction(this.#deps.client, session);
        await this.#make(collection);
      });
      throw new Rerun();
    };
    const tables = writes.begin(session);
    return new MongoTransaction(this.#deps, { session, tables, lane, collectionOf, requireMade });
  }
}

/** A digest of how the collections are made. */
function digestOf(collections: readonly DocumentCollection[]): string {
  const made = collections.map(({ declaration }) => declaration);
  return createHash("sha256").update(JSON.stringify(made)).digest("hex");
}

/** False also when one of the collections has been dropped. */
async function isMade(
  db: Db,
  digest: string,
  collections: readonly DocumentCollection[],
): Promise<boolean> {
  if ((await readFacts(db)).get("collections") !== digest) return false;
  const found = await db.listCollections({}, { nameOnly: true }).toArray();
  const names = new Set(found.map(({ name }) => name));
  return [...collections, VERSIONS, TIME].every(({ name }) => names.has(name));
}

/** Fills a new index with the places of stored documents. */
async function addPlaces(db: Db, collection: DocumentCollection): Promise<void> {
  const stored = db.collection(collection.name);
  for await (const found of stored.find({}, COMMITTED)) {
    const key = collection.keyOf(found);
    const places = collection.placesOf(key, collection.documentOf({ ...found }));
    if (Object.keys(places).length > 0) {
      await stored.updateOne({ _id: found._id }, { $set: places });
    }
  }
}
