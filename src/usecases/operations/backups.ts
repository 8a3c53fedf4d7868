// Backups of whole stores: writing one, whose file gets its name once it is complete, and filling an empty store from one. D-10.7.
import { AppError } from "../../domain/shared/errors.ts";
import { STORE_FORMAT } from "../../domain/shared/store-format.ts";
import { formatMs } from "../../domain/shared/time.ts";
import type {
  BackUpJob,
  Backup,
  BackupFacts,
  BackupFiles,
  CopyCounts,
  CopyJob,
  IsKept,
  StoreCopies,
} from "../../ports/copies/store-copies.ts";
import type { Dump } from "../../ports/copies/store-dump.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";
import type { Clock } from "../../ports/runtime/runtime.ts";
import {
  SECRETS,
  SESSIONS,
  type SecretDocument,
  type SessionDocument,
} from "../../repositories/account-collections.ts";
import { pepperMark } from "../reputation/accounts/secrets.ts";
import { writeArchive } from "./archive.ts";
import { type ClaimStore, copyStore, partOf } from "./copy-store.ts";

export interface BackUpDeps {
  readonly copies: StoreCopies;
  readonly files: BackupFiles;
  readonly clock: Clock;
  readonly mac: Mac;
  readonly version: string;
  /** Names of the secrets that the environment sets. */
  readonly outsideSecrets: readonly string[];
  /** The files of the store, which no backup replaces. */
  readonly storePaths: readonly string[];
}

/**
 * Writes a backup to a new file, or with `isForced` in the place of one. Throws as `StoreCopies.backUp()` and
 * `BackupFiles.begin()`, and then leaves no file.
 */
export async function backUp(
  deps: BackUpDeps,
  { path, isForced, ...job }: CopyJob & { readonly path: string; readonly isForced: boolean },
) {
  const { files, clock, version, outsideSecrets, storePaths } = deps;
  const file = await files.begin(path, { isForced, storePaths });
  try {
    const madeAt = formatMs(clock.nowMs());
    const facts = { madeAt, version, outsideSecrets };
    const counts = await write(deps, { ...job, path: file.tempPath, facts });
    job.stop?.throwIfAborted();
    return { ...counts, madeAt, bytes: await file.commit() };
  } catch (error) {
    await file.abandon();
    throw error;
  }
}

async function write({ copies, files, mac }: BackUpDeps, job: BackUpJob): Promise<CopyCounts> {
  if (copies.backUp !== undefined) return await copies.backUp(job);
  const { path, facts, ...rest } = job;
  const dump = await copies.dump();
  const told = { store: dump.about.store, format: STORE_FORMAT, ...facts };
  try {
    return await writeArchive({ files, path, mac }, dump, { ...rest, facts: told });
  } finally {
    await dump.close();
  }
}

interface RestoreDeps {
  readonly backup: Backup;
  readonly path: string;
  readonly mac: Mac;
  /** `API_KEY_PEPPER`; null where it is not set. */
  readonly pepper: string | null;
  readonly claim: ClaimStore;
}

export interface Restored extends CopyCounts {
  readonly facts: BackupFacts;
  /** Sessions that were left out. */
  readonly sessions: number;
}

const ID_BYTES = 16;
const SAME_PEPPER = "Set API_KEY_PEPPER to the one that the deployment of the backup began with";

/**
 * Reads the whole backup before it writes anything; then the store gets all of it, or nothing. The store gets an id of its own,
 * and no session. Throws `invalid_request`, with the store as it was, for a store that is not empty or that a service holds, and
 * for a file that is no backup or does not fit the pepper; `file_failed` for a damaged file; `conflict` for rows that the store
 * cannot hold; `store_unavailable`, and the reason to stop.
 */
export async function restoreArchive(deps: RestoreDeps, job: CopyJob): Promise<Restored> {
  const { backup, path, mac, pepper, claim } = deps;
  const { facts, counts } = await backup.check(partOf(job, 0, 1 / 3));
  const first = await backup.dump();
  const problem = pepperProblem(mac, pepper, await keptSecrets(first));
  if (problem !== null) throw new AppError("invalid_request", problem, { hint: SAME_PEPPER });
  const target = await claim(first.about.tables.map(({ name }) => name));
  let sessions = 0;
  const isKept: IsKept = (collection, doc) => {
    // Sessions without an account are sign-outs of tokens of an identity provider.
    const isSession = collection === SESSIONS.name && (doc as SessionDocument).username !== "";
    if (isSession) sessions++;
    return !isSession;
  };
  try {
    const filled =
      backup.ownFileOf === target.kind && target.takeBackup !== undefined
        ? await target.takeBackup(path, isKept, job.stop).then(() => counts)
        : await copyStore(backup, { target, mac, isKept }, partOf(job, 1 / 3, 1));
    job.stop?.throwIfAborted();
    await target.finish(mac.randomBytes(ID_BYTES).toHex());
    return { ...filled, facts, sessions };
  } catch (error) {
    await target.giveUp();
    throw error;
  }
}

async function keptSecrets({ parts }: Dump): Promise<ReadonlyMap<string, string>> {
  const secrets = new Map<string, string>();
  for await (const part of parts) {
    const isSecret = part.of === "documents" && part.name === SECRETS.name;
    // Secrets come together, and the rest may be long.
    if (!isSecret && secrets.size > 0) break;
    if (!isSecret) continue;
    for (const doc of part.items as readonly SecretDocument[]) secrets.set(doc.name, doc.secret);
  }
  return secrets;
}

/** Why no API key of the backup would be accepted with this pepper, nor its audit log verify; null when they would. D-10.7. */
function pepperProblem(
  mac: Mac,
  configured: string | null,
  kept: ReadonlyMap<string, string>,
): string | null {
  // A store keeps the pepper that it made itself, and the mark of its first one.
  const pepper = configured ?? kept.get("api_key_pepper");
  const mark = kept.get("api_key_pepper_mark");
  if (mark === undefined) return null;
  if (pepper === undefined) {
    return "API_KEY_PEPPER is missing, which the deployment of the backup had from its environment";
  }
  if (pepperMark(mac, pepper) === mark) return null;
  return configured === null
    ? "The backup does not hold the API_KEY_PEPPER that its deployment began with"
    : "API_KEY_PEPPER does not fit the backup";
}
