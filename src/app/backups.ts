// Puts together what copies whole stores: backups, and the way back. Beside services.ts and compose.ts it sees adapters.
import { stat } from "node:fs/promises";
import manifest from "../../package.json" with { type: "json" };
import { NodeBackupFiles } from "../adapters/backup-files/node-backup-files.ts";
import { NodeMac } from "../adapters/node-crypto/node-crypto.ts";
import { AppError } from "../domain/shared/errors.ts";
import type { Backup, CopyJob } from "../ports/copies/store-copies.ts";
import type { Mac } from "../ports/crypto/crypto.ts";
import { COLLECTIONS } from "../repositories/collections.ts";
import { Archive } from "../usecases/operations/archive.ts";
import type { BackUpDeps } from "../usecases/operations/back-up.ts";
import { type Restored, restoreArchive } from "../usecases/operations/restore-archive.ts";
import type { Config } from "./config.ts";
import { claimStore, sqlitePath } from "./copied-stores.ts";
import type { Services } from "./services.ts";

/** What a backup of an opened deployment is made with. */
export function backUpDeps(config: Config, { storage, clock }: Services): BackUpDeps {
  const path = sqlitePath(config.storageUrl);
  return {
    copies: storage,
    files: new NodeBackupFiles(),
    clock,
    mac: new NodeMac(),
    version: manifest.version,
    outsideSecrets: outsideSecrets(config),
    storePaths: path === null ? [] : [path, `${path}-wal`, `${path}-shm`],
  };
}

/** Throws `invalid_request` when the file of the store is not there: a start would make an empty one. */
export async function requireStore(config: Config): Promise<void> {
  const path = sqlitePath(config.storageUrl);
  if (path === null || path === ":memory:" || (await stat(path).catch(() => null)) !== null) return;
  throw new AppError("invalid_request", "There is no store at STORAGE_URL to be backed up");
}

/** Fills the store of the configuration from a file. Throws as `restoreArchive` does. */
export async function restoreBackup(
  config: Config,
  job: CopyJob & { readonly path: string },
): Promise<Restored> {
  const { path } = job;
  const { adminUsername, apiKeyPepper: pepper, logLevel, storageUrl } = config;
  const mac = new NodeMac();
  const backup = await openBackup(path, mac);
  const claim = (tables: readonly string[]) =>
    claimStore(storageUrl, { adminUsername, logLevel, tables, by: "restore" });
  return await restoreArchive({ backup, path, mac, pepper, claim }, job);
}

async function openBackup(path: string, mac: Mac): Promise<Backup> {
  const files = new NodeBackupFiles();
  if ((await files.formOf(path)) === "archive") return new Archive({ files, path, mac });
  const { SealedFile } = await import("../adapters/sqlite/copies/sealed-file.ts");
  const { openBunSqlite } = await import("../adapters/sqlite/driver/bun-driver.ts");
  return new SealedFile(openBunSqlite, path, COLLECTIONS);
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
