// Moves a stopped deployment into another store.
import { stat } from "node:fs/promises";
import { NodeMac } from "../adapters/node-crypto/node-crypto.ts";
import { PinoLogger } from "../adapters/pino/pino-logger.ts";
import { SystemClock } from "../adapters/system/system.ts";
import { AppError } from "../domain/shared/errors.ts";
import type { CopyCounts, CopyJob } from "../ports/copies/store-copies.ts";
import { moveStore } from "../usecases/operations/move-store.ts";
import { type Config, isStorageUrl } from "./config.ts";
import { claimStore, openStopped, sqlitePath } from "./copied-stores.ts";
import { openStorage } from "./services.ts";

/** Fills the empty store of another address with everything that the store of the configuration holds. Throws `AppError`. */
export async function moveTo(config: Config, toUrl: string, job: CopyJob): Promise<CopyCounts> {
  if (!isStorageUrl(toUrl)) {
    const text =
      "The new store must be sqlite:<path> or mongodb://<hosts>/<database>, as STORAGE_URL";
    throw new AppError("invalid_request", text);
  }
  const { storageUrl, adminUsername, logLevel } = config;
  await settle(config);
  const source = await openStopped(storageUrl, logLevel);
  const claim = (tables: readonly string[]) =>
    claimStore(toUrl, { adminUsername, logLevel, tables, by: "move" });
  try {
    return await moveStore({ source, claim, mac: new NodeMac() }, job);
  } finally {
    await source.close();
  }
}

/** Brings the store in line with the registry, as a start does, and waits until all deletes are recorded. */
async function settle({ storageUrl, logLevel, registry }: Config): Promise<void> {
  const path = sqlitePath(storageUrl);
  if (path !== null) await requireFile(path);
  const tables = [...registry.values()];
  const deps = { clock: new SystemClock(), logger: new PinoLogger(logLevel) };
  const storage = await openStorage(storageUrl, { ...deps, tables });
  try {
    await storage.tables.prepare(tables);
    for (const table of tables) if (table.deletes) await storage.tombstones.end(table);
  } finally {
    await storage.close();
  }
}

async function requireFile(path: string): Promise<void> {
  if (path !== ":memory:" && (await stat(path).catch(() => null)) !== null) return;
  throw new AppError("invalid_request", "There is no store at STORAGE_URL to be moved");
}
