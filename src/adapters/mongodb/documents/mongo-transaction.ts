// A body in a transaction or snapshot. A lock is a write: `$inc` of an existing document, or insert and removal of an absent one. The
// time, versions and all small queries of a read are one message, joined by `$lookup`, as MongoDB 6.0 refuses `$unionWith` in
// transactions; large queries are messages of their own.
import {
  type AnyBulkWriteOperation,
  type ClientSession,
  type Document,
  MongoServerError,
} from "mongodb";
import { checkKey, type Key } from "../../../domain/shared/document-key.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import {
  type Answers,
  type AnyCollection,
  type Collection,
  Damaged,
  type Query,
  type StoredStretch,
  type Transaction,
} from "../../../ports/documents.ts";
import { DUPLICATE_KEY, hasCode, WRITE_CONFLICT } from "../driver/errors.ts";
import { readTimed, type StoreDeps } from "../driver/operations.ts";
import {
  type ChangedNames,
  type JoinedVersions,
  joinedNames,
  joinPersonVersions,
  personVersions,
} from "../driver/versions.ts";
import type { BodyTables } from "../tables/body-tables.ts";
import { findStored, keyOfRow, readRowsBy } from "../tables/stored-rows.ts";
import { assertThere } from "../tables/table-states.ts";
import { conditionOf, type DocumentCollection, keyDocument, LOCKS } from "./document-collection.ts";

/** A query for more documents is a message of its own. */
const MOST_JOINED = 1_000;

interface TransactionPlace {
  readonly tables: BodyTables;
  readonly session: ClientSession;
  /** A number that no concurrent body of this instance has. */
  readonly lane: number;
  readonly collectionOf: (collection: AnyCollection) => DocumentCollection;
  /** Makes a collection that may be missing. That ends the transaction: throws `Rerun`. */
  readonly requireMade: (collection: DocumentCollection) => Promise<void>;
}

export class MongoTransaction implements Transaction {
  readonly tables: BodyTables;
  readonly #deps: StoreDeps;
  readonly #place: TransactionPlace;
  readonly #pending = new Map<DocumentCollection, AnyBulkWriteOperation<Document>[]>();
  /** Locked keys, by collection and key. */
  readonly #locked = new Map<string, Lock>();
  /** Written keys, by collection and key. */
  readonly #written = new Set<string>();
  #raised: ChangedNames = [];
  #nowMs: number | null = null;

  constructor(deps: StoreDeps, place: TransactionPlace) {
    this.#deps = deps;
    this.#place = place;
    this.tables = place.tables;
  }

  get nowMs(): number {
    if (this.#nowMs === null) throw new Error("A body knows the time after its first read");
    return this.#nowMs;
  }

  async read<const Queries extends readonly Query[]>(
    ...queries: Queries
  ): Promise<Answers<Queries>> {
    const isFirst = this.#nowMs === null;
    for (const query of queries) {
      if (!("from" in query)) continue;
      await this.#send(this.#place.collectionOf(query.from));
      if (!("keys" in query)) continue;
      for (const key of query.keys) checkKey(key);
      if (query.lock && !isFirst) throw new Error("Locks stand in a body's first read");
    }
    const planned = queries.map((query) => this.#planned(query));
    const joined = await this.#join(planned, queries);
    const answers: unknown[] = [];
    for (const [i, query] of queries.entries()) {
      if (isPlain(query)) {
        const plan = planned[i] ?? null;
        const isLarge = plan !== null && !plan.isSmall;
        const found = isLarge ? await this.#aggregate(plan) : (joined[fieldOf(i)] ?? []);
        answers.push(this.#answer(query, found));
      } else if ("asStored" in query) answers.push(await this.#asStored(query));
      else if ("rowsOf" in query) answers.push(await this.#rows(query));
      else answers.push(query.versionsOf.map(personVersions(joined)));
    }
    return answers as unknown as Answers<Queries>;
  }

  put<Doc extends object>(to: Collection<Doc>, doc: Doc): void {
    const key = to.keyOf(doc);
    const collection = this.#place.collectionOf(to);
    const { _id, ...replacement } = collection.storedOf(key, structuredClone(doc));
    this.#write(collection, key, { replaceOne: { filter: { _id }, replacement, upsert: true } });
  }

  remove(from: AnyCollection, key: Key): void {
    const collection = this.#place.collectionOf(from);
    this.#write(collection, key, { deleteOne: { filter: { _id: keyDocument(key) } } });
  }

  raise(names: ChangedNames): void {
    this.#raised = joinedNames(this.#raised, names);
  }

  async turn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Sends pending writes and locks; false when there was nothing to write. */
  async finish(): Promise<boolean> {
    for (const [name, { collection, key, isPresent }] of this.#locked) {
      if (this.#written.has(name)) continue;
      const filter = { _id: keyDocument(key) };
      if (isPresent) {
        this.#write(collection, key, { updateOne: { filter, update: { $inc: { [LOCKS]: 1 } } } });
      } else {
        this.#write(collection, key, { replaceOne: { filter, replacement: {}, upsert: true } });
        this.#write(collection, key, { deleteOne: { filter } });
      }
    }
    const inOrder = [...this.#pending.keys()].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const collection of inOrder) await this.#send(collection);
    const hasRows = await this.tables.finish(this.#raised, this.#place.lane);
    return hasRows || this.#written.size + this.#raised.length > 0;
  }

  #write(
    collection: DocumentCollection,
    key: Key,
    operation: AnyBulkWriteOperation<Document>,
  ): void {
    checkKey(key);
    this.#written.add(nameOf(collection, key));
    this.#pending.getOrInsertComputed(collection, () => []).push(operation);
  }

  async #send(collection: DocumentCollection): Promise<void> {
    const operations = this.#pending.get(collection);
    if (operations === undefined) return;
    this.#pending.delete(collection);
    const { session, requireMade } = this.#place;
    await requireMade(collection);
    const options = { session, ordered: true, ignoreUndefined: true };
    try {
      await this.#deps.db.collection(collection.name).bulkWrite(operations, options);
    } catch (error) {
      if (!hasCode(error, DUPLICATE_KEY)) throw error;
      // Another transaction has put the key since this one began.
      throw new MongoServerError({ message: "A key was put by another", code: WRITE_CONFLICT });
    }
  }

  /** Null for an empty query, and for one that is no `DocumentQuery`. */
  #planned(query: Query): PlannedQuery | null {
    if (!isPlain(query)) return null;
    const collection = this.#place.collectionOf(query.from);
    const stages = stagesOf(collection, query);
    return stages && { name: collection.name, stages, isSmall: isSmall(query) };
  }

  /** Reads time, versions and small queries in one message. */
  async #join(
    planned: readonly (PlannedQuery | null)[],
    queries: readonly Query[],
  ): Promise<Joined> {
    const names = queries.flatMap((query) => ("versionsOf" in query ? query.versionsOf : []));
    const joins = names.length === 0 ? [] : joinPersonVersions(names);
    for (const [i, plan] of planned.entries()) {
      if (!plan?.isSmall) continue;
      joins.push({ $lookup: { from: plan.name, pipeline: plan.stages, as: fieldOf(i) } });
    }
    const { session } = this.#place;
    const joined = await readTimed<Joined>(this.#deps, joins, { session });
    this.#nowMs ??= joined.nowMs;
    return joined;
  }

  async #aggregate({ name, stages }: PlannedQuery): Promise<readonly Document[]> {
    const { session } = this.#place;
    return await this.#deps.db.collection(name).aggregate(stages, { session }).toArray();
  }

  async #asStored({ from, asStored }: StoredQuery): Promise<readonly (object | Damaged)[]> {
    const collection = this.#place.collectionOf(from);
    const { within, after, limit = 0 } = asStored;
    const filter = within === undefined ? {} : conditionOf("_id", { within });
    if (filter === null) return [];
    const place = after instanceof Damaged ? after.place : after && keyDocument(after);
    // Unlike other comparisons, `$expr` orders values of all types.
    const isAfter = place === undefined ? {} : { $expr: { $gt: ["$_id", { $literal: place }] } };
    const { session } = this.#place;
    const found: unknown[] = await this.#deps.db
      .collection(collection.name)
      .find({ $and: [filter, isAfter] }, { session, raw: true })
      .sort({ _id: 1 })
      .limit(limit)
      .toArray();
    return (found as Uint8Array[]).map((bytes) => collection.asStored(bytes));
  }

  async #rows(query: RowsQuery): Promise<readonly Row[]> {
    const { session } = this.#place;
    const { rowsOf } = query;
    if ("where" in query) return await readRowsBy(this.#deps.db, rowsOf, query.where, session);
    const keys = query.keys.map((key) => keyOfRow(rowsOf, key));
    const found = await findStored(this.#deps, rowsOf, { keys, columns: rowsOf.columns }, session);
    if (found.size === 0) await assertThere(this.#deps.db, rowsOf.name);
    return Array.from(found.values(), ({ row }) => row);
  }

  #answer(query: DocumentQuery, found: readonly Document[]): unknown {
    const collection = this.#place.collectionOf(query.from);
    if ("count" in query) return Number(found[0]?.["count"] ?? 0);
    if ("keysOf" in query) return found.map((one) => collection.keyOf(one));
    const documents = found.map((one) => collection.documentOf(one));
    if ("keys" in query && query.lock) {
      const present = new Set(documents.map((doc) => nameOf(collection, query.from.keyOf(doc))));
      for (const key of query.keys) {
        const name = nameOf(collection, key);
        this.#locked.set(name, { collection, key, isPresent: present.has(name) });
      }
    }
    return documents;
  }
}

interface Lock {
  readonly collection: DocumentCollection;
  readonly key: Key;
  readonly isPresent: boolean;
}

function nameOf({ name }: DocumentCollection, key: Key): string {
  return JSON.stringify([name, key]);
}

type RowsQuery = Extract<Query, { readonly rowsOf: Table }>;
type StoredQuery = Extract<Query, { readonly asStored: StoredStretch }>;
type DocumentQuery = Exclude<Extract<Query, { readonly from: AnyCollection }>, StoredQuery>;

function isPlain(query: Query): query is DocumentQuery {
  return "from" in query && !("asStored" in query);
}

interface PlannedQuery {
  readonly name: string;
  readonly stages: Document[];
  /** True when the answer fits into one document, of 16 MB at most. */
  readonly isSmall: boolean;
}

/** Versions where some were asked for, and answers by `fieldOf`. */
type Joined = JoinedVersions & Readonly<Record<string, Document[]>>;

function fieldOf(query: number): string {
  return `of${query}`;
}

function isSmall(query: DocumentQuery): boolean {
  if ("count" in query) return true;
  if ("keysOf" in query) return (query.keysOf.limit ?? Number.POSITIVE_INFINITY) <= MOST_JOINED;
  const { isLarge = false, bytes = [] } = query.from;
  if (isLarge || (bytes.length > 0 && !("keys" in query))) return false;
  const most = "keys" in query ? query.keys.length : query.stretch.limit;
  return (most ?? Number.POSITIVE_INFINITY) <= MOST_JOINED;
}

/** Null for an empty query. */
function stagesOf(collection: DocumentCollection, query: DocumentQuery): Document[] | null {
  if ("keys" in query) {
    if (query.keys.length === 0) return null;
    return [{ $match: { _id: { $in: query.keys.map(keyDocument) } } }, { $sort: { _id: 1 } }];
  }
  const isCount = "count" in query;
  const stretch = "stretch" in query ? query.stretch : isCount ? query.count : query.keysOf;
  const { index, limit, isReverse = false } = stretch;
  const field = collection.orderField(index);
  const condition = conditionOf(field, stretch);
  if (condition === null) return null;
  const stages: Document[] = [{ $match: condition }];
  if (!isCount) stages.push({ $sort: { [field]: isReverse ? -1 : 1 } });
  if (limit !== undefined) stages.push({ $limit: limit });
  if (isCount) stages.push({ $count: "count" });
  else if ("keysOf" in query) stages.push({ $project: { _id: 1 } });
  return stages;
}
