// Puts together what copies whole stores: backups, and the way back. Beside services.ts and compose.ts it sees adapters.
import { stat } from "node:fs/promises";
import manifest from "../../package.json" with { type: "json" };
import { NodeBackupFiles } from "../adapters/backup-files/node-backup-files.ts";
import { NodeMac } from "../adapters/node-crypto/node-crypto.ts";
import { PinoLogger } from "../adapters/pino/pino-logger.ts";
import { SystemClock } from "../adapters/system/system.ts";
import { AppError } from "../domain/shared/errors.ts";
import type { BackupFacts, CopyJob, KeptPepper, Restored } from "../ports/copies/store-copies.ts";
import { COLLECTIONS } from "../repositories/collections.ts";
import type { BackUpDeps } from "../usecases/operations/back-up.ts";
import { checkPepper } from "../usecases/operations/check-backup.ts";
import { restoreArchive } from "../usecases/operations/restore-archive.ts";
import type { Config } from "./config.ts";
import { claimStore } from "./copied-stores.ts";
import type { Services } from "./services.ts";

const KIND_NAMES = { sqlite: "SQLite", mongodb: "MongoDB" } as const;

/** What a backup of an opened deployment is made with. */
export function backUpDeps(config: Config, { storage, clock }: Services): BackUpDeps {
  const path = sqlitePath(config);
  return {
    copies: storage,
    files: new NodeBackupFiles(),
    clock,
    version: manifest.version,
    outsideSecrets: outsideSecrets(config),
    storePaths: path === null ? [] : [path, `${path}-wal`, `${path}-shm`],
  };
}

/** Throws `invalid_request` when the file of the store is not there: a start would make an empty one. */
export async function requireStore(config: Config): Promise<void> {
  const path = sqlitePath(config);
  if (path === null || path === ":memory:" || (await stat(path).catch(() => null)) !== null) return;
  throw new AppError("invalid_request", "There is no store at STORAGE_URL to be backed up");
}

/** Fills the store of the configuration from a file. Throws as `RestoreStore` does. */
export async function restoreBackup(
  config: Config,
  job: CopyJob & { readonly path: string },
): Promise<Restored> {
  const kind = await new NodeBackupFiles().kindOf(job.path);
  const wanted = sqlitePath(config) === null ? "mongodb" : "sqlite";
  if (kind !== wanted) {
    const text = `The backup is of a store in ${KIND_NAMES[kind]}, and STORAGE_URL names one in ${KIND_NAMES[wanted]}: restore it into one of its kind, then repsync move`;
    throw new AppError("invalid_request", text);
  }
  const mac = new NodeMac();
  const { adminUsername, apiKeyPepper: pepper, logLevel, storageUrl } = config;
  if (wanted === "mongodb") {
    const { restoreDatabase } = await import("../adapters/mongodb/copies/restore.ts");
    const target = { url: storageUrl, clock: new SystemClock(), logger: new PinoLogger(logLevel) };
    const check = (_: BackupFacts, kept: KeptPepper) => checkPepper(mac, pepper, kept);
    return await restoreDatabase(target, { ...job, adminUsername, check });
  }
  const { SealedFile } = await import("../adapters/sqlite/copies/sealed-file.ts");
  const { openBunSqlite } = await import("../adapters/sqlite/driver/bun-driver.ts");
  const backup = new SealedFile(openBunSqlite, job.path, COLLECTIONS);
  const claim = (tables: readonly string[]) =>
    claimStore(storageUrl, { adminUsername, logLevel, tables, by: "restore" });
  return await restoreArchive({ backup, path: job.path, mac, pepper, claim }, job);
}

/** The file of a store in SQLite; null for MongoDB. */
function sqlitePath({ storageUrl }: Config): string | null {
  return storageUrl.startsWith("sqlite:") ? storageUrl.slice("sqlite:".length) : null;
}

/** Names of the secrets that the environment sets. */
function outsideSecrets(config: Config): readonly string[] {
  const isSet: readonly (readonly [string, boolean])[] = [
    ["API_KEY_PEPPER", config.apiKeyPepper !== null],
    ["JWT_SECRET", config.jwtSecret !== null],
    ["SYNC_API_KEY", config.syncApiKey !== ""],
    ["SYNC_REMOTE_KEY", config.remoteKey !== "" && config.remoteKey !== config.syncApiKey],
    ["METRICS_TOKEN", config.metricsToken !== null],
    ["ADMIN_PASSWORD", config.adminPassword !== null],
    ["WEBHOOK_SECRET", config.webhook !== null],
  ];
  return isSet.filter(([, is]) => is).map(([name]) => name);
}
