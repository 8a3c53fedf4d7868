// Composes backups, restores and moves of whole stores.
import manifest from "../../package.json" with { type: "json" };
import { NodeBackupFiles } from "../adapters/backup-files/node-backup-files.ts";
import { PinoLogger } from "../adapters/pino/pino-logger.ts";
import { SystemClock } from "../adapters/system/system.ts";
import { AppError, isAppError } from "../domain/shared/errors.ts";
import type { Backup, CopyCounts, CopyJob } from "../ports/copies/store-copies.ts";
import type { Mac } from "../ports/crypto/crypto.ts";
import { COLLECTIONS } from "../repositories/collections.ts";
import { archiveAt } from "../usecases/operations/archive.ts";
import { type BackUpDeps, type Restored, restoreArchive } from "../usecases/operations/backups.ts";
import { moveStore } from "../usecases/operations/copy-store.ts";
import type { Config } from "./config.ts";
import { sqliteOfRuntime } from "./process.ts";
import { macOfRuntime, type Services } from "./services.ts";
import type { Setting } from "./setting-forms.ts";
import { SETTINGS } from "./settings.ts";
import { findStore, requireStore, STORE_FORMS, storeAt } from "./stores.ts";

export function backUpDeps(config: Config, { storage, clock }: Services): BackUpDeps {
  return {
    copies: storage,
    files: new NodeBackupFiles(),
    clock,
    mac: macOfRuntime(),
    version: manifest.version,
    outsideSecrets: outsideSecrets(config),
    storePaths: storeAt(config.storageUrl).files,
  };
}

/** Fills the configured store from a file. Throws as `restoreArchive`. */
export async function restoreBackup(
  config: Config,
  job: CopyJob & { readonly path: string },
): Promise<Restored> {
  const { path } = job;
  const { adminUsername, apiKeyPepper: pepper, logLevel, storageUrl } = config;
  const mac = macOfRuntime();
  const backup = await openBackup(path, mac);
  const tools = { clock: new SystemClock(), logger: new PinoLogger(logLevel) };
  const claim = (tables: readonly string[]) =>
    storeAt(storageUrl).claim({ ...tools, adminUsername, tables, by: "restore" });
  return await restoreArchive({ backup, path, mac, pepper, claim }, job);
}

async function openBackup(path: string, mac: Mac): Promise<Backup> {
  const files = new NodeBackupFiles();
  if ((await files.ownFileOf(path)) === null) return archiveAt({ files, path, mac });
  const { sealedFile } = await import("../adapters/sqlite/copies/sealed-file.ts");
  return sealedFile(await sqliteOfRuntime(), path, COLLECTIONS);
}

/** Names of the secrets that the environment sets, which no backup holds. */
function outsideSecrets(config: Config): readonly string[] {
  const settings = Object.entries(SETTINGS) as [keyof typeof SETTINGS, Setting<unknown>][];
  const set = settings.filter(([field, { isSecret }]) => isSecret && config[field]);
  return set.map(([, { name }]) => name);
}

/** Moves a stopped deployment into the empty store of another address. Throws `AppError`. */
export async function moveTo(config: Config, toUrl: string, job: CopyJob): Promise<CopyCounts> {
  const to = findStore(toUrl);
  if (to === null) throw new AppError("invalid_request", `The new store must be ${STORE_FORMS}`);
  if (toUrl === config.storageUrl) {
    throw new AppError("invalid_request", "The new address is that of the old store");
  }
  const { adminUsername, logLevel, registry } = config;
  const tools = { clock: new SystemClock(), logger: new PinoLogger(logLevel) };
  const from = storeAt(config.storageUrl);
  await requireStore(config.storageUrl, "moved");
  // Prepares the store for the registry, as a start does, and waits until all deletes are recorded.
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
    to.claim({ ...tools, adminUsername, tables: names, by: "move" }).catch(throwOfNewStore);
  try {
    return await moveStore(source, claim, macOfRuntime(), job);
  } finally {
    await source.close();
  }
}

/** Throws a failure of the new store, whose text names STORAGE_URL. */
function throwOfNewStore(error: unknown): never {
  if (!isAppError(error)) throw error;
  const told = (text: string) => text.replaceAll("STORAGE_URL", "the new address");
  const { kind, message, hint, problems } = error;
  throw new AppError(kind, told(message), { cause: error, hint: hint && told(hint), problems });
}
