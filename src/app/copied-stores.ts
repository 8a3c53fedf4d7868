// Stores that are read whole, or filled, by their addresses. Beside services.ts and compose.ts it sees adapters.

import { PinoLogger } from "../adapters/pino/pino-logger.ts";
import { SystemClock } from "../adapters/system/system.ts";
import type { Table } from "../domain/sync/table/table.ts";
import type { EmptyStore, StoppedStore } from "../ports/copies/store-copies.ts";
import { COLLECTIONS } from "../repositories/collections.ts";
import type { Config } from "./config.ts";
import { openStorage } from "./services.ts";

/** Takes a prepared store. Throws `invalid_request` when another process has it open. */
export async function openStopped(
  url: string,
  logLevel: Config["logLevel"],
): Promise<StoppedStore> {
  const path = sqlitePath(url);
  if (path === null) {
    const { openStoppedDatabase } = await import("../adapters/mongodb/copies/stopped-database.ts");
    return await openStoppedDatabase({ url, collections: COLLECTIONS, ...depsOf(logLevel) });
  }
  const { openStoppedFile } = await import("../adapters/sqlite/copies/stopped-file.ts");
  const { openBunSqlite } = await import("../adapters/sqlite/driver/bun-driver.ts");
  return await openStoppedFile(openBunSqlite, path, COLLECTIONS);
}

export interface ClaimOptions extends Pick<Config, "adminUsername" | "logLevel"> {
  /** Tables that will be filled. */
  readonly tables: readonly string[];
  readonly by: "restore" | "move";
}

/** Takes an empty store. Throws `invalid_request` for one that is not empty or that a service uses. */
export async function claimStore(url: string, options: ClaimOptions): Promise<EmptyStore> {
  const { logLevel, ...claim } = options;
  const deps = depsOf(logLevel);
  const prepareAt = async (address: string, tables: readonly Table[]) => {
    const storage = await openStorage(address, { ...deps, isFilling: true });
    await storage.tables.prepare(tables).finally(() => storage.close());
  };
  const path = sqlitePath(url);
  const common = { ...deps, ...claim, collections: COLLECTIONS };
  if (path === null) {
    const { EmptyDatabase } = await import("../adapters/mongodb/copies/empty-database.ts");
    const prepare = (tables: readonly Table[]) => prepareAt(url, tables);
    return await EmptyDatabase.claim({ ...common, url, prepare });
  }
  const { EmptyFile } = await import("../adapters/sqlite/copies/empty-file.ts");
  const { openBunSqlite: openSqlite } = await import("../adapters/sqlite/driver/bun-driver.ts");
  const prepare = (temp: string, tables: readonly Table[]) => prepareAt(`sqlite:${temp}`, tables);
  return await EmptyFile.claim({ ...common, openSqlite, path, prepare });
}

function depsOf(logLevel: Config["logLevel"]) {
  return { clock: new SystemClock(), logger: new PinoLogger(logLevel) };
}

/** The path of a store in a file; null for a database. */
export function sqlitePath(url: string): string | null {
  return url.startsWith("sqlite:") ? url.slice("sqlite:".length) : null;
}
