// Moves a stopped deployment into another store. Beside services.ts and compose.ts it sees adapters.
import { stat } from "node:fs/promises";
import { NodeMac } from "../adapters/node-crypto/node-crypto.ts";
import { PinoLogger } from "../adapters/pino/pino-logger.ts";
import { SystemClock } from "../adapters/system/system.ts";
import { AppError } from "../domain/shared/errors.ts";
import type { Table } from "../domain/sync/table/table.ts";
import type { PortableStore, PortableTarget } from "../ports/copies/portable-store.ts";
import type { CopyCounts, CopyJob } from "../ports/copies/store-copies.ts";
import { COLLECTIONS } from "../repositories/collections.ts";
import { moveStore } from "../usecases/operations/move-store.ts";
import { type Config, isStorageUrl } from "./config.ts";
import { openStorage } from "./services.ts";

interface Source extends PortableStore {
  unknownTables(names: readonly string[]): Promise<readonly string[]> | readonly string[];
  requireStopped?(): Promise<void>;
  close(): Promise<void> | void;
}

/** Fills the empty store of another address with everything that the store of the configuration holds. Throws `AppError`. */
export async function moveTo(config: Config, toUrl: string, job: CopyJob): Promise<CopyCounts> {
  if (!isStorageUrl(toUrl)) {
    const text =
      "The new store must be sqlite:<path> or mongodb://<hosts>/<database>, as STORAGE_URL";
    throw new AppError("invalid_request", text);
  }
  const tables = [...config.registry.values()];
  const { source, totalRows } = await openSource(config, tables);
  try {
    await source.requireStopped?.();
    const unknown = await source.unknownTables(tables.map(({ name }) => name));
    if (unknown.length > 0) throw notInRegistry(unknown);
    const target = await openTarget(config, toUrl, tables);
    // Who starts meanwhile may write what is not moved any more.
    const guarded = { ...boundOf(target), finish: () => finish(source, target) };
    const mac = new NodeMac();
    return await moveStore({ source, target: guarded, tables, totalRows, mac }, job);
  } finally {
    await source.close();
  }
}

function boundOf(target: PortableTarget): PortableTarget {
  return {
    read: (part, tables) => target.read(part, tables),
    readRows: (table) => target.readRows(table),
    write: (part, entries, tables) => target.write(part, entries, tables),
    writeRows: (table, rows) => target.writeRows(table, rows),
    finish: () => target.finish(),
    giveUp: () => target.giveUp(),
  };
}

async function finish(source: Source, target: PortableTarget): Promise<void> {
  await source.requireStopped?.();
  await target.finish();
}

async function openSource({ storageUrl, logLevel }: Config, tables: readonly Table[]) {
  const path = sqlitePath(storageUrl);
  if (path !== null) await requireFile(path);
  const deps = depsOf(logLevel);
  const storage = await openStorage(storageUrl, { ...deps, tables });
  let totalRows = 0;
  try {
    await storage.tables.prepare(tables);
    for (const table of tables) {
      totalRows += await storage.tables.countRows(table);
      if (table.deletes) await storage.tombstones.end(table);
    }
  } finally {
    await storage.close();
  }
  return { source: await sourceOf(storageUrl, deps), totalRows };
}

async function sourceOf(url: string, deps: ReturnType<typeof depsOf>): Promise<Source> {
  const path = sqlitePath(url);
  if (path === null) {
    const { openDatabaseSource } = await import("../adapters/mongodb/copies/move-database.ts");
    return await openDatabaseSource({ url, collections: COLLECTIONS, ...deps });
  }
  const { openFileSource } = await import("../adapters/sqlite/copies/move-file.ts");
  const { openBunSqlite } = await import("../adapters/sqlite/driver/bun-driver.ts");
  return await openFileSource(openBunSqlite, path, COLLECTIONS);
}

async function openTarget(
  { adminUsername, logLevel }: Config,
  url: string,
  tables: readonly Table[],
): Promise<PortableTarget> {
  const deps = depsOf(logLevel);
  const path = sqlitePath(url);
  const prepareAt = async (address: string) => {
    const storage = await openStorage(address, { ...deps, isFilling: true });
    await storage.tables.prepare(tables).finally(() => storage.close());
  };
  if (path === null) {
    const { openDatabaseTarget } = await import("../adapters/mongodb/copies/move-database.ts");
    const prepare = () => prepareAt(url);
    const address = { url, collections: COLLECTIONS, ...deps };
    return await openDatabaseTarget(address, { adminUsername, tables, prepare });
  }
  const { openFileTarget } = await import("../adapters/sqlite/copies/move-file.ts");
  const { openBunSqlite } = await import("../adapters/sqlite/driver/bun-driver.ts");
  const prepare = (temp: string) => prepareAt(`sqlite:${temp}`);
  const options = { adminUsername, collections: COLLECTIONS, prepare };
  return await openFileTarget(openBunSqlite, path, options);
}

function depsOf(logLevel: Config["logLevel"]) {
  return { clock: new SystemClock(), logger: new PinoLogger(logLevel) };
}

async function requireFile(path: string): Promise<void> {
  if (path !== ":memory:" && (await stat(path).catch(() => null)) !== null) return;
  throw new AppError("invalid_request", "There is no store at STORAGE_URL to be moved");
}

function sqlitePath(url: string): string | null {
  return url.startsWith("sqlite:") ? url.slice("sqlite:".length) : null;
}

function notInRegistry(names: readonly string[]): AppError {
  const list = names.map((name) => `"${name}"`).join(", ");
  const text = `Tables have rows and are not in the registry: ${list}. Add them to SYNC_TABLES, or empty them`;
  return new AppError("invalid_request", text);
}
