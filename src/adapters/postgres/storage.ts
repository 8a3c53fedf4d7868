import { AppError } from "../../domain/shared/errors.ts";
import { checkFormat, type StoreIdentity } from "../../domain/shared/store-format.ts";
import type { Dump } from "../../ports/copies/store-dump.ts";
import type { AnyCollection } from "../../ports/documents.ts";
import type { FullStorage, StoreOptions } from "../../ports/storage.ts";
import { dumpDatabase } from "./copies/database-dump.ts";
import { PostgresDocuments } from "./documents/postgres-documents.ts";
import type { PostgresDatabase } from "./driver/database.ts";
import { lackingRight, SERVERS_HINT } from "./driver/errors.ts";
import { type OpenDatabase, type OpenOptions, openDatabase } from "./driver/open-database.ts";
import { quoted } from "./driver/sql.ts";
import { Holder, isPrepared, prepareFacts, readFacts } from "./driver/store-facts.ts";
import type { ServerTransaction } from "./driver/transaction.ts";
import { Layout } from "./tables/layout.ts";
import { PostgresTables } from "./tables/postgres-tables.ts";
import { examineTables } from "./tables/table-fit.ts";
import { PostgresTombstones } from "./tables/tombstones.ts";

type PostgresStorageOptions = OpenOptions & StoreOptions;

/**
 * Opens a database as a store. Throws `invalid_request` for an address or store that this program cannot use, `schema_conflict`, before
 * any write, when the database cannot have `tables`, and `store_unavailable`. No message holds the address.
 */
export async function openPostgresStorage(options: PostgresStorageOptions): Promise<FullStorage> {
  const { tables = [], collections = [] } = options;
  const opened = await openDatabase(options);
  const { database, schema } = opened;
  const layouts = tables.map((table) => new Layout(table, schema));
  const examine = async (tx: ServerTransaction) => {
    await examineTables(tx, layouts);
    if (layouts.some(({ found }) => found.table === null)) await requireCreate(tx, schema);
  };
  try {
    const identity = await prepareFacts(database, { ...options, examine });
    const storage = new PostgresStorage(opened, identity, collections);
    await storage.documents.prepare(collections);
    return storage;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function requireCreate(tx: ServerTransaction, schema: string): Promise<void> {
  const text = "select has_schema_privilege(to_regnamespace($1::text), 'create')";
  const isAllowed = await tx.first(text, [quoted(schema)]);
  if (isAllowed !== true) throw lackingRight(`permission denied for schema ${schema}`);
}

/** False for a database without anything of repsync. Throws as `openPostgresStorage` does. */
export async function isUsed({
  tables = [],
  ...options
}: PostgresStorageOptions): Promise<boolean> {
  const { database, schema } = await openDatabase(options);
  try {
    return await database.read({ name: "store.look" }, async (tx) => {
      await examineTables(
        tx,
        tables.map((table) => new Layout(table, schema)),
      );
      return await isPrepared(tx);
    });
  } finally {
    await database.close();
  }
}

class PostgresStorage implements FullStorage {
  readonly identity: StoreIdentity;
  readonly documents: PostgresDocuments;
  readonly tables: PostgresTables;
  readonly tombstones: PostgresTombstones;
  readonly #database: PostgresDatabase;
  readonly #holder: Holder;
  readonly dump: () => Promise<Dump>;

  constructor(
    { database, schema }: OpenDatabase,
    identity: StoreIdentity,
    collections: readonly AnyCollection[],
  ) {
    this.identity = identity;
    this.#database = database;
    this.#holder = new Holder(database);
    this.dump = () => dumpDatabase({ database, schema }, collections);
    this.tables = new PostgresTables(database, schema);
    this.documents = new PostgresDocuments(database, this.tables);
    this.tombstones = new PostgresTombstones(database, this.tables);
  }

  async hold(): Promise<void> {
    await this.#holder.begin();
    checkFormat(await this.#database.read({ name: "store.hold" }, readFacts), false);
  }

  async ping(timeoutMs: number): Promise<void> {
    const limit = { triesMs: 0, endMs: timeoutMs };
    await this.#database
      .read({ name: "store.ping", limit }, (tx) => tx.begin())
      .catch(() => {
        const text = `PostgreSQL did not answer within ${timeoutMs} ms`;
        throw new AppError("store_unavailable", text, { hint: SERVERS_HINT });
      });
  }

  async close(): Promise<void> {
    await this.#holder.end();
    await this.#database.close();
  }
}
