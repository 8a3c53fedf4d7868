// Fills an empty store from a backup of any kind of store. D-10.7.
import { AppError } from "../../domain/shared/errors.ts";
import type {
  Backup,
  BackupFacts,
  CopyCounts,
  CopyJob,
  IsKept,
} from "../../ports/copies/store-copies.ts";
import type { Dump } from "../../ports/copies/store-dump.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";
import {
  SECRETS,
  SESSIONS,
  type SecretDocument,
  type SessionDocument,
} from "../../repositories/account-collections.ts";
import { pepperMark } from "../reputation/accounts/secrets.ts";
import { type ClaimStore, copyStore, partOf } from "./copy-store.ts";

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
  checkPepper(mac, pepper, await keptPepper(first));
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

async function keptPepper({ parts }: Dump): Promise<KeptPepper> {
  const secrets = new Map<string, string>();
  for await (const part of parts) {
    const isSecret = part.of === "documents" && part.name === SECRETS.name;
    // Secrets come together, and the rest may be long.
    if (!isSecret && secrets.size > 0) break;
    if (!isSecret) continue;
    for (const doc of part.items as readonly SecretDocument[]) secrets.set(doc.name, doc.secret);
  }
  return {
    pepper: secrets.get("api_key_pepper") ?? null,
    mark: secrets.get("api_key_pepper_mark") ?? null,
  };
}

const SAME_PEPPER = "Set API_KEY_PEPPER to the one that the deployment of the backup began with";

/** The pepper of a backup; null where it has none. */
interface KeptPepper {
  /** The pepper that the store made itself. */
  readonly pepper: string | null;
  /** The mark of the store's first pepper. */
  readonly mark: string | null;
}

/**
 * Throws `invalid_request` for a pepper with which no API key of the backup would be accepted, nor its audit log verify. D-10.7.
 */
function checkPepper(mac: Mac, configured: string | null, kept: KeptPepper): void {
  if (kept.mark === null) return;
  const pepper = configured ?? kept.pepper;
  if (pepper === null) {
    const text =
      "API_KEY_PEPPER is missing, which the deployment of the backup had from its environment";
    throw new AppError("invalid_request", text, { hint: SAME_PEPPER });
  }
  if (pepperMark(mac, pepper) === kept.mark) return;
  const text =
    configured === null
      ? "The backup does not hold the API_KEY_PEPPER that its deployment began with"
      : "API_KEY_PEPPER does not fit the backup";
  throw new AppError("invalid_request", text, { hint: SAME_PEPPER });
}
