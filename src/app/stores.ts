// Every kind of store, by its address: the only place that knows them all. An adapter is loaded when a store of it is opened.
import { stat } from "node:fs/promises";
import { SystemClock } from "../adapters/system/system.ts";
import { AppError } from "../domain/shared/errors.ts";
import type { Table } from "../domain/sync/table/table.ts";
import type { EmptyStore, StoppedStore, StoreClaim } from "../ports/copies/store-copies.ts";
import type { Clock, Logger } from "../ports/runtime/runtime.ts";
import type { FullStorage, StoreOptions } from "../ports/storage.ts";
import { COLLECTIONS } from "../repositories/collections.ts";
import { sqliteOfRuntime } from "./process.ts";

interface StoreTools {
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Store {
  /** The name of its kind for OpenTelemetry. */
  readonly system: string;
  /** Its files; none on a server and in memory. */
  readonly files: readonly string[];
  /** True for a store that ends with its process. */
  readonly isInMemory: boolean;
  /** False where opening would make a new store with these tables. Writes nothing; throws as `open`. */
  isThere(tables: readonly Table[]): Promise<boolean>;
  open(options: StoreTools & Omit<StoreOptions, "collections">): Promise<FullStorage>;
  /** Takes a prepared store. Throws `invalid_request` while another process has it open. */
  openStopped(tools: StoreTools): Promise<StoppedStore>;
  /** Takes an empty store. Throws `invalid_request` for one with contents or in use by a service. */
  claim(options: StoreTools & StoreClaim): Promise<EmptyStore>;
}

function sqliteFile(url: string): Store {
  const path = url.slice("sqlite:".length);
  const isInMemory = path === ":memory:";
  return {
    system: "sqlite",
    isInMemory,
    files: isInMemory ? [] : [path, `${path}-wal`, `${path}-shm`],
    isThere: async () => !isInMemory && (await stat(path).catch(() => null)) !== null,
    async open({ clock, tables = [] }) {
      const { SqliteStorage } = await import("../adapters/sqlite/storage.ts");
      const options = { clock, tables, collections: COLLECTIONS };
      return await SqliteStorage.open(await sqliteOfRuntime(), path, options);
    },
    async openStopped() {
      const { openStoppedFile } = await import("../adapters/sqlite/copies/file-dump.ts");
      return await openStoppedFile(await sqliteOfRuntime(), path, COLLECTIONS);
    },
    async claim({ adminUsername, ...tools }) {
      const { EmptyFile } = await import("../adapters/sqlite/copies/empty-file.ts");
      return await EmptyFile.claim({
        openSqlite: await sqliteOfRuntime(),
        path,
        adminUsername,
        collections: COLLECTIONS,
        prepare: (other, tables) => prepareTables(sqliteFile(`sqlite:${other}`), tables, tools),
      });
    },
  };
}

const ON_SERVER = { files: [], isInMemory: false };

function mongoDatabase(url: string): Store {
  const at = { url, collections: COLLECTIONS };
  return {
    ...ON_SERVER,
    system: "mongodb",
    isThere: async () => true,
    async open(options) {
      const { openMongoStorage } = await import("../adapters/mongodb/storage.ts");
      return await openMongoStorage({ ...options, ...at });
    },
    async openStopped(tools) {
      const { openStoppedDatabase } = await import("../adapters/mongodb/copies/database-dump.ts");
      return await openStoppedDatabase({ ...tools, ...at });
    },
    async claim(options) {
      const { EmptyDatabase } = await import("../adapters/mongodb/copies/empty-database.ts");
      const prepare = (tables: readonly Table[]) => prepareTables(this, tables, options);
      return await EmptyDatabase.claim({ ...options, ...at, prepare });
    },
  };
}

function postgresDatabase(url: string): Store {
  const at = { url, collections: COLLECTIONS };
  return {
    ...ON_SERVER,
    system: "postgresql",
    async isThere(tables) {
      const { isUsed } = await import("../adapters/postgres/storage.ts");
      return await isUsed({ url, clock: new SystemClock(), tables });
    },
    async open(options) {
      const { openPostgresStorage } = await import("../adapters/postgres/storage.ts");
      return await openPostgresStorage({ ...options, ...at });
    },
    async openStopped({ clock }) {
      const { openStoppedPostgres } = await import("../adapters/postgres/copies/database-dump.ts");
      return await openStoppedPostgres({ clock, ...at });
    },
    async claim(options) {
      const { EmptyPostgres } = await import("../adapters/postgres/copies/empty-postgres.ts");
      const prepare = (tables: readonly Table[]) => prepareTables(this, tables, options);
      return await EmptyPostgres.claim({ ...options, ...at, prepare });
    },
  };
}

/** A new kind needs an entry here, a function above, and its adapter. */
const KINDS: readonly {
  /** Of the whole address. */
  readonly pattern: RegExp;
  /** Forms of its address, for people. */
  readonly forms: readonly string[];
  readonly at: (url: string) => Store;
}[] = [
  {
    // Bun's driver opens a path without the white space around it, which would be another file.
    pattern: /^sqlite:(?!\/\/)\S(.*\S)?$/s,
    forms: ["sqlite:<path> (such as sqlite:./data/repsync.db, without //)", "sqlite::memory:"],
    at: sqliteFile,
  },
  {
    pattern: /^mongodb(\+srv)?:\/\/[^/?]+\/[^/?]+/,
    forms: ["mongodb://<hosts>/<database>"],
    at: mongoDatabase,
  },
  {
    pattern: /^postgres(ql)?:\/\/[^/?]+\/[^/?]+/,
    forms: ["postgres://<host>/<database>"],
    at: postgresDatabase,
  },
];

export const STORE_FORMS = KINDS.flatMap(({ forms }) => forms)
  .join(", ")
  .replace(/, (?=\S*$)/, " or ");

/** Null for any other address. */
export function findStore(url: string): Store | null {
  return KINDS.find(({ pattern }) => pattern.test(url))?.at(url) ?? null;
}

/** Throws `invalid_request` for any other address. */
export function storeAt(url: string): Store {
  const store = findStore(url);
  if (store === null) throw new AppError("invalid_request", `A store must be ${STORE_FORMS}`);
  return store;
}

/** False where opening would make a new store. */
export async function hasStore(url: string): Promise<boolean> {
  return await storeAt(url).isThere([]);
}

/** The store for a command that only reads: an empty one in memory where there is none yet. */
export async function readableStore(url: string, tables: readonly Table[]): Promise<Store> {
  const store = storeAt(url);
  return (await store.isThere(tables)) ? store : storeAt("sqlite::memory:");
}

/** Throws `invalid_request` where there is no store yet. `aim`: what it is wanted for. */
export async function requireStore(url: string, aim: string): Promise<void> {
  if (await hasStore(url)) return;
  throw new AppError("invalid_request", `There is no store at STORAGE_URL to be ${aim}`);
}

/** Makes tables in a store that is being filled, as a start does. */
async function prepareTables(
  store: Store,
  tables: readonly Table[],
  { clock, logger }: StoreTools,
): Promise<void> {
  const storage = await store.open({ clock, logger, isFilling: true });
  try {
    await storage.documents.prepare(COLLECTIONS);
    await storage.tables.prepare(tables);
  } finally {
    await storage.close();
  }
}
