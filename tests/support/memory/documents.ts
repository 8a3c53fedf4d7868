// Documents in memory, as little as the port allows: bodies run side by side on snapshots, and who comes second runs again.
import { checkKey, compareKeys, type Key } from "../../../src/domain/shared/document-key.ts";
import { AppError } from "../../../src/domain/shared/errors.ts";
import { isOfPeople, personOf } from "../../../src/domain/sync/people/name-facts.ts";
import {
  type Answers,
  type AnyCollection,
  type CallOptions,
  type Collection,
  type DocumentStore,
  type Query,
  REQUEST_CALLS,
  type Reader,
  type Stretch,
  type Transaction,
} from "../../../src/ports/documents.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import { COLLECTIONS } from "../../../src/repositories/collections.ts";
import { MemoryBodyTables, namesOf } from "./body-tables.ts";
import type { TablesMoment } from "./stored-table.ts";
import { MemoryTables } from "./tables.ts";

/** A new store with the collections of the service. */
export function ownDocuments(clock: Clock, tables?: MemoryTables): MemoryDocuments {
  const documents = new MemoryDocuments(clock, tables);
  void documents.prepare(COLLECTIONS);
  return documents;
}

/** The documents of each collection, by `nameOf`. Never changed in place: a snapshot is the state itself. */
type State = ReadonlyMap<string, ReadonlyMap<string, object>>;

/** The name of a key, for maps. */
const nameOf = (from: AnyCollection, key: Key) => JSON.stringify([from.name, key]);

/** Thrown when a commit meets another one: the body runs again. */
class Met extends Error {}

export class MemoryDocuments implements DocumentStore {
  readonly #clock: Clock;
  readonly #tables: MemoryTables;
  readonly #prepared = new Set<string>();
  #state: State = new Map();
  #commits = 0;
  readonly #versions = new Map<string, number>();
  #everybody = 0;
  /** The commit that changed or locked a key last, by `nameOf`. */
  readonly #changedBy = new Map<string, number>();

  constructor(clock: Clock, tables: MemoryTables = new MemoryTables(clock)) {
    this.#clock = clock;
    this.#tables = tables;
    tables.onRows = (table, rows) => {
      this.#meet(namesOf(table, rows));
      if (isOfPeople(table)) this.#raise(rows.map(personOf).filter((name) => name !== null));
    };
  }

  async prepare(collections: readonly AnyCollection[]): Promise<void> {
    for (const { name } of collections) this.#prepared.add(name);
  }

  async read<T>(_: CallOptions, body: (at: Reader) => Promise<T>): Promise<T> {
    this.#tables.check();
    return await body(this.#begin());
  }

  async transact<T>(
    { limit = REQUEST_CALLS }: CallOptions,
    body: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    this.#tables.check();
    const endMs = performance.now() + limit.endMs;
    for (;;) {
      const tx = this.#begin();
      const result = await body(tx);
      if (performance.now() >= endMs) throw new AppError("store_unavailable", "It took too long");
      try {
        this.#commit(tx);
        return result;
      } catch (error) {
        if (!(error instanceof Met)) throw error;
      }
    }
  }

  /** The documents of a collection, in the order of their keys. */
  readNow<Doc extends object>(from: Collection<Doc>): readonly Doc[] {
    return answer(this.#state, { from, stretch: {} }) as readonly Doc[];
  }

  /** Commits at once what `write` puts and removes. */
  writeNow(write: (tx: Transaction) => void): void {
    const tx = this.#begin();
    write(tx);
    this.#commit(tx);
  }

  #begin(): MemoryTransaction {
    const take = () => {
      const versions = new Map(this.#versions);
      const everybody = this.#everybody;
      return {
        state: this.#state,
        commits: this.#commits,
        nowMs: this.#clock.nowMs(),
        tables: this.#tables.moment(),
        versionOf: (name: string) => (versions.get(name) ?? 0) + everybody,
      };
    };
    return new MemoryTransaction(take, this.#prepared, this.#tables);
  }

  #commit({ began, writes, locks, raised, tables }: MemoryTransaction): void {
    const people = tables.excludesPushes ? raised.map((name) => `person ${name}`) : [];
    const met = [...writes.keys(), ...locks, ...tables.met, ...people];
    const commits = began?.commits ?? this.#commits;
    if (met.some((name) => (this.#changedBy.get(name) ?? 0) > commits)) throw new Met();
    this.#meet(met);
    this.#state = withWrites(this.#state, writes.values());
    this.#tables.apply(tables.changes);
    this.#raise(raised);
    const put = tables.changes.map(({ after }) => after).filter((row) => row !== undefined);
    const changed = [...writes.values()].map(({ to }) => to.name);
    this.#tables.onCommit(put, [...changed, ...tables.changes.map(({ table }) => table.name)]);
  }

  #meet(names: readonly string[]): void {
    this.#commits++;
    for (const name of names) this.#changedBy.set(name, this.#commits);
  }

  /** Null stands for everybody. */
  #raise(names: readonly (string | null)[]): void {
    for (const name of names) {
      if (name === null) this.#everybody++;
      else this.#versions.set(name, (this.#versions.get(name) ?? 0) + 1);
    }
  }
}

interface Moment {
  readonly tables: TablesMoment;
  readonly state: State;
  readonly commits: number;
  readonly nowMs: number;
  readonly versionOf: (name: string) => number;
}

interface Write {
  readonly to: AnyCollection;
  readonly key: Key;
  /** Null for a removal. */
  readonly doc: object | null;
}

class MemoryTransaction implements Transaction {
  readonly #take: () => Moment;
  readonly #prepared: ReadonlySet<string>;
  began: Moment | null = null;
  /** By `nameOf`. */
  readonly writes = new Map<string, Write>();
  readonly locks = new Set<string>();
  /** Null stands for everybody. */
  readonly raised: (string | null)[] = [];
  readonly tables: MemoryBodyTables;

  constructor(take: () => Moment, prepared: ReadonlySet<string>, tables: MemoryTables) {
    this.#take = take;
    this.#prepared = prepared;
    this.tables = new MemoryBodyTables(tables, () => this.#begin());
  }

  get nowMs(): number {
    if (this.began === null) throw new Error("A body knows the time after its first read");
    return this.began.nowMs;
  }

  async read<const Queries extends readonly Query[]>(
    ...queries: Queries
  ): Promise<Answers<Queries>> {
    const isFirst = this.began === null;
    const { versionOf, state: before } = this.#begin();
    const state = withWrites(before, this.writes.values());
    const answers = queries.map((query) => {
      if ("versionsOf" in query) return query.versionsOf.map(versionOf);
      if ("rowsOf" in query) {
        return "keys" in query
          ? this.tables.rowsWith(query.rowsOf, query.keys)
          : this.tables.rowsOf(query.rowsOf, query.where);
      }
      this.#check(query.from);
      if (!("keys" in query)) return answer(state, query);
      for (const key of query.keys) checkKey(key);
      if (query.lock && !isFirst) throw new Error("Locks stand in a body's first read");
      if (query.lock) for (const key of query.keys) this.locks.add(nameOf(query.from, key));
      return answer(state, query);
    });
    return copied(answers) as unknown as Answers<Queries>;
  }

  put<Doc extends object>(to: Collection<Doc>, doc: Doc): void {
    this.#write({ to, key: to.keyOf(doc), doc: copied(doc) as object });
  }

  remove(from: AnyCollection, key: Key): void {
    this.#write({ to: from, key, doc: null });
  }

  raise(names: readonly string[] | "everybody"): void {
    this.raised.push(...(names === "everybody" ? [null] : names));
  }

  async turn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  #write(write: Write): void {
    this.#check(write.to);
    checkKey(write.key);
    this.#begin();
    this.writes.set(nameOf(write.to, write.key), write);
  }

  #begin(): Moment {
    this.began ??= this.#take();
    return this.began;
  }

  #check({ name }: AnyCollection): void {
    if (!this.#prepared.has(name)) throw new Error(`Collection "${name}" was not prepared`);
  }
}

/** A copy, without the fields that are undefined. */
function copied(value: unknown): unknown {
  if (value instanceof Uint8Array) return value.slice();
  if (Array.isArray(value)) return value.map(copied);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(fields.map(([name, field]) => [name, copied(field)]));
}

function withWrites(state: State, writes: Iterable<Write>): State {
  const changed = new Map(state);
  for (const [name, some] of Map.groupBy(writes, ({ to }) => to.name)) {
    const documents = new Map(changed.get(name));
    for (const { to, key, doc } of some) {
      if (doc === null) documents.delete(nameOf(to, key));
      else documents.set(nameOf(to, key), doc);
    }
    changed.set(name, documents);
  }
  return changed;
}

function answer(state: State, query: Extract<Query, { readonly from: unknown }>): unknown {
  const { from } = query;
  const documents = state.get(from.name) ?? new Map<string, object>();
  if ("keys" in query) {
    const names = new Set(query.keys.map((key) => nameOf(from, key)));
    return stretchOf(
      from,
      [...names].flatMap((name) => documents.get(name) ?? []),
      {},
    );
  }
  // Nobody else gets at what is in memory.
  if ("asStored" in query) return stretchOf(from, documents.values(), query.asStored as Stretch);
  if ("stretch" in query) return stretchOf(from, documents.values(), query.stretch);
  if ("count" in query) return stretchOf(from, documents.values(), query.count).length;
  return stretchOf(from, documents.values(), query.keysOf).map((doc) => from.keyOf(doc));
}

function stretchOf(
  from: AnyCollection,
  documents: Iterable<object>,
  stretch: Stretch,
): readonly object[] {
  const { index, within, after, upTo, isReverse = false, limit } = stretch;
  const placed = [...documents].flatMap((doc) => {
    const key = from.keyOf(doc);
    if (index === undefined) return [{ doc, place: key }];
    const place = from.indexes?.[index]?.(doc) ?? null;
    return place === null ? [] : [{ doc, place: [...place, ...key] }];
  });
  const order = isReverse ? -1 : 1;
  // By their texts: some ask for hundreds of beginnings among ten thousand documents.
  const beginnings = within && new Set(within.map((parts) => JSON.stringify(parts)));
  const lengths = [...new Set(within?.map(({ length }) => length))];
  const isWithin = (place: Key) =>
    lengths.some((length) => beginnings?.has(JSON.stringify(place.slice(0, length))));
  const isWanted = (place: Key) =>
    (within === undefined || isWithin(place)) &&
    (after === undefined || compareKeys(place, after) * order > 0) &&
    (upTo === undefined || compareKeys(place, upTo) * order <= 0);
  return placed
    .filter(({ place }) => isWanted(place))
    .sort((a, b) => compareKeys(a.place, b.place) * order)
    .slice(0, limit)
    .map(({ doc }) => doc);
}
