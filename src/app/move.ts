// Moves a stopped deployment into another store.
import { NodeMac } from "../adapters/node-crypto/node-crypto.ts";
import { PinoLogger } from "../adapters/pino/pino-logger.ts";
import { SystemClock } from "../adapters/system/system.ts";
import { AppError } from "../domain/shared/errors.ts";
import type { CopyCounts, CopyJob } from "../ports/copies/store-copies.ts";
import { moveStore } from "../usecases/operations/copy-store.ts";
import type { Config } from "./config.ts";
import { findStore, requireStore, STORE_FORMS, storeAt } from "./stores.ts";

/** Fills the empty store of another address with everything that the store of the configuration holds. Throws `AppError`. */
export async function moveTo(config: Config, toUrl: string, job: CopyJob): Promise<CopyCounts> {
  const to = findStore(toUrl);
  if (to === null) throw new AppError("invalid_request", `The new store must be ${STORE_FORMS}`);
  const { adminUsername, logLevel, registry } = config;
  const tools = { clock: new SystemClock(), logger: new PinoLogger(logLevel) };
  const from = storeAt(config.storageUrl);
  await requireStore(config.storageUrl, "moved");
  // Brings the store in line with the registry, as a start does, and waits until all deletes are recorded.
  const tables = [...registry.values()];
  const storage = await from.open({ ...tools, tables });
  try {
    await storage.tables.prepare(tables);
    for (const table of tables) if (table.deletes) await storage.tombstones.end(table);
  } finally {
    await storage.close();
  }
  const source = await from.openStopped(tools);
  const claim = (names: readonly string[]) =>
    to.claim({ ...tools, adminUsername, tables: names, by: "move" });
  try {
    return await moveStore({ source, claim, mac: new NodeMac() }, job);
  } finally {
    await source.close();
  }
}
