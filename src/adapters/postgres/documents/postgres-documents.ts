// Documents in the schema `repsync`. A body is a transaction on one snapshot, and runs again when it changes a row that has changed since.
import { setImmediate as nextTurn } from "node:timers/promises";
import { checkKey, type Key } from "../../../domain/shared/document-key.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import {
  type Answers,
  type AnyCollection,
  type CallOptions,
  type Collection,
  type DocumentStore,
  type Query,
  REQUEST_CALLS,
  type Reader,
  type Transaction,
} from "../../../ports/documents.ts";
import { preparedIn, type StoredDocument } from "../../../ports/stored-documents.ts";
import type { Lines } from "../driver/bun-driver.ts";
import type { PostgresDatabase } from "../driver/database.ts";
import {
  lockNames,
  RAISE_EVERYBODY,
  RAISE_NAMES,
  READ_VERSIONS,
  SCHEMA,
} from "../driver/schema.ts";
import { literal, nameList, quoted, type Statement } from "../driver/sql.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { BodyTables } from "../tables/body-tables.ts";
import type { PostgresTables } from "../tables/postgres-tables.ts";
import { findRows, readRowsBy } from "../tables/row-statements.ts";
import { CollectionTable, portionsOf } from "./collection-table.ts";

export class PostgresDocuments implements DocumentStore {
  /** A commit waits for the disk: gathering gives a third more lookups a second. */
  readonly gatherMs = 3;
  readonly #database: PostgresDatabase;
  readonly #tables: PostgresTables;
  readonly #prepared = new Map<string, CollectionTable>();

  constructor(database: PostgresDatabase, tables: PostgresTables) {
    this.#database = database;
    this.#tables = tables;
  }

  tellsCommits(table: Table): boolean {
    return this.#tables.layout(table).isWatched;
  }

  tellingGrant(table: Table): string | null {
    return this.#tables.layout(table).grant;
  }

  async prepare(collections: readonly AnyCollection[]): Promise<void> {
    const tables = collections.map((from) => new CollectionTable(from));
    const columns = await this.#database.ask("documents.columns", COLUMNS);
    if (tables.some((table) => lackingIn(columns, table).length > 0)) {
      await this.#database.change("documents.prepare", async (tx) => {
        const columnsNow = await tx.query(COLUMNS);
        for (const table of tables) await makeColumns(tx, table, lackingIn(columnsNow, table));
      });
    }
    for (const table of tables) this.#prepared.set(table.form.collection.name, table);
  }

  async read<T>(options: CallOptions, body: (at: Reader) => Promise<T>): Promise<T> {
    return await this.#database.read(limited(options), (tx) => body(this.#body(tx)));
  }

  async transact<T>(options: CallOptions, body: (tx: Transaction) => Promise<T>): Promise<T> {
    return await this.#database.transact(limited(options), async (tx) => {
      const own = this.#body(tx);
      const result = await body(own);
      own.finish();
      return result;
    });
  }

  #body(tx: ServerTransaction): Body {
    return new Body(tx, this.#tables, this.#prepared);
  }
}

/** Calls for rows have more time. */
function limited(options: CallOptions): CallOptions {
  return { ...options, limit: options.limit ?? REQUEST_CALLS };
}

/** `name column` of every column of the collections. */
const COLUMNS = `
select c.relname || ' ' || a.attname from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relnamespace = to_regnamespace(${literal(SCHEMA)}) and c.relkind = 'r'`;

/** The columns of a collection that are not among those of the schema. */
function lackingIn(found: Lines, { form, columns }: CollectionTable): CollectionTable["columns"] {
  const known = new Set(found.map(([name]) => name));
  return columns.filter(([column]) => !known.has(`${form.collection.name} ${column}`));
}

async function makeColumns(
  tx: ServerTransaction,
  table: CollectionTable,
  added: CollectionTable["columns"],
): Promise<void> {
  if (added.length === 0) return;
  if (added.length === table.columns.length) {
    const all = added.map(([column, type]) => `${quoted(column)} ${type}`);
    await tx.script(`create table ${table.name} (${all.join(", ")})`);
  } else {
    for (const [column, type] of added) {
      await tx.script(`alter table ${table.name} add column ${quoted(column)} ${type}`);
    }
    // Puts every document again, so that it has its places in new indexes.
    for await (const lines of portionsOf(tx, table)) {
      await Promise.all(tx.send([table.put(lines.map((line) => table.docOf(line)))]));
    }
  }
  for (const column of table.form.placeColumns) await tx.script(table.indexText(column));
}

interface Write {
  readonly to: CollectionTable;
  readonly key: Key;
  /** Null for a removal. */
  readonly stored: StoredDocument | null;
}

class Body implements Transaction {
  readonly #tx: ServerTransaction;
  readonly #prepared: ReadonlyMap<string, CollectionTable>;
  readonly #tables: PostgresTables;
  readonly tables: BodyTables;
  readonly #writes = new Map<string, Write>();
  readonly #raised = new Set<string>();
  #raisesEverybody = false;
  #hasRead = false;

  constructor(
    tx: ServerTransaction,
    tables: PostgresTables,
    prepared: ReadonlyMap<string, CollectionTable>,
  ) {
    this.#tx = tx;
    this.#prepared = prepared;
    this.#tables = tables;
    this.tables = new BodyTables(tx, tables);
  }

  get nowMs(): number {
    return this.#tx.nowMs;
  }

  async read<const Queries extends readonly Query[]>(
    ...queries: Queries
  ): Promise<Answers<Queries>> {
    const isFirst = !this.#hasRead;
    this.#hasRead = true;
    const sent = this.#tx.send([...lockNames(lockedIn(queries, isFirst)), ...this.#written()]);
    const answers = queries.map((query) => this.#answer(query));
    await Promise.all([...sent, ...answers, this.#tx.begin()]);
    return (await Promise.all(answers)) as unknown as Answers<Queries>;
  }

  put<Doc extends object>(to: Collection<Doc>, doc: Doc): void {
    this.#write(to, to.keyOf(doc), doc);
  }

  remove(from: AnyCollection, key: Key): void {
    this.#write(from, key, null);
  }

  raise(names: readonly string[] | "everybody"): void {
    if (names === "everybody") this.#raisesEverybody = true;
    else for (const name of names) this.#raised.add(name);
  }

  async turn(): Promise<void> {
    await nextTurn();
  }

  /** Sends the last writes in one message with the commit. */
  finish(): void {
    const last = this.#written();
    const raised = [...this.#raised];
    if (this.tables.excludesPushes) {
      last.push(...lockNames(raised.map((name) => `person ${name}`)));
    }
    if (raised.length > 0) last.push({ text: RAISE_NAMES, parameters: [nameList(raised)] });
    if (this.#raisesEverybody) last.push({ text: RAISE_EVERYBODY, parameters: [] });
    this.#tx.sendLast(last);
  }

  #write(to: AnyCollection, key: Key, doc: object | null): void {
    const table = preparedIn(this.#prepared, to);
    checkKey(key);
    const name = JSON.stringify([to.name, key]);
    this.#writes.set(name, { to: table, key, stored: doc && table.form.stored(doc) });
  }

  /** Takes the statements of all pending writes. */
  #written(): Statement[] {
    const writes = [...this.#writes];
    this.#writes.clear();
    const statements = lockNames(writes.map(([name]) => name));
    for (const [to, some] of Map.groupBy(writes, ([, write]) => write.to)) {
      const docs = some.flatMap(([, { stored }]) => stored ?? []);
      const gone = some.flatMap(([, { key, stored }]) => (stored === null ? [key] : []));
      if (gone.length > 0) statements.push(to.remove(gone));
      if (docs.length > 0) statements.push(to.putStored(docs));
    }
    return statements;
  }

  async #answer(query: Query): Promise<unknown> {
    if ("versionsOf" in query) {
      const versions = await this.#tx.query(READ_VERSIONS, [nameList(query.versionsOf)]);
      return versions.map(([version]) => Number(version));
    }
    if ("rowsOf" in query) {
      const layout = this.#tables.layout(query.rowsOf);
      return "keys" in query
        ? await findRows(this.#tx, layout, layout.distinctKeys(query.keys), query.rowsOf.columns)
        : await readRowsBy(this.#tx, layout, query.where);
    }
    const table = preparedIn(this.#prepared, query.from);
    const lines = async ({ text, parameters }: Statement) => await this.#tx.query(text, parameters);
    if ("keys" in query) {
      for (const key of query.keys) checkKey(key);
      // Lookups ask for no keys when everything is cached. A message would take a twentieth of their time.
      if (query.keys.length === 0) return [];
      return (await lines(table.byKeys(query.keys))).map((line) => table.docOf(line));
    }
    if ("asStored" in query) {
      const found = await lines(table.stored(query.asStored));
      return found.map((line) => table.asStored(line));
    }
    if ("stretch" in query) {
      const found = await lines(table.stretch(query.stretch));
      return found.map((line) => table.docOf(line));
    }
    if ("count" in query) {
      const [[count] = []] = await lines(table.count(query.count));
      return Number(count);
    }
    const found = await lines(table.keysOf(query.keysOf));
    return found.map(([key]) => table.form.keyOf(key));
  }
}

/** Names of the keys that the queries lock. */
function lockedIn(queries: readonly Query[], isFirst: boolean): readonly string[] {
  return queries.flatMap((query) => {
    if (!("keys" in query) || "rowsOf" in query || !query.lock) return [];
    if (!isFirst) throw new Error("Locks stand in a body's first read");
    return query.keys.map((key) => JSON.stringify([query.from.name, key]));
  });
}
