import type { ClientSession, Collection } from "mongodb";
import type { Alert, MakeAlert } from "../../../domain/alerts/alert.ts";
import {
  revocationAlert,
  rotationAlert,
} from "../../../domain/reputation/accounts/account-alerts.ts";
import {
  boundKeys,
  type KeyRotation,
  planRotation,
  revokedKey,
  type StoredApiKey,
} from "../../../domain/reputation/accounts/api-key.ts";
import type { ApiKeyStore, KeyPage, Revocation } from "../../../ports/accounts/api-key-store.ts";
import { addAlerts } from "../documents/own-documents.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { takeNumbers } from "../driver/id-counters.ts";
import { readSnapshot, SNAPSHOT } from "../driver/operations.ts";
import { changePerson, type VersionedDeps } from "../driver/person-changes.ts";
import { hasAccount } from "./account-store.ts";

/** The keys by id, found by what their texts hash to and by account. */
export const API_KEYS: InternalCollection = {
  name: "repsync_api_keys",
  indexes: [
    { name: "repsync_hash", key: { hash: 1 }, unique: true },
    { name: "repsync_username", key: { username: 1, number: -1 } },
  ],
};

export interface ApiKeyDocument extends Omit<StoredApiKey, "id"> {
  readonly _id: string;
  /** Grows with every key. */
  readonly number: number;
}

export class MongoApiKeyStore implements ApiKeyStore {
  readonly #deps: VersionedDeps;
  readonly #keys: Collection<ApiKeyDocument>;
  readonly #makeAlert: MakeAlert | null;

  constructor(deps: VersionedDeps, makeAlert: MakeAlert | null) {
    this.#deps = deps;
    this.#makeAlert = makeAlert;
    this.#keys = deps.db.collection(API_KEYS.name);
  }

  async create(key: StoredApiKey, nowMs: number): Promise<"created" | "full" | "no_account"> {
    const { username, hash } = key;
    return await changePerson(this.#deps, username, async ({ tx, raise }) => {
      const number = await this.#takeNumber(tx);
      if (!(await hasAccount(this.#deps.db, username, tx))) return "no_account";
      if ((await this.#bound(username, nowMs, tx)).isFull) return "full";
      await this.#insert(key, number, tx);
      await raise(hash);
      return "created";
    });
  }

  async list(username: string, { limit, beforeId }: KeyPage): Promise<readonly StoredApiKey[]> {
    return await readSnapshot(this.#deps, async (tx) => {
      const options = { ...SNAPSHOT, session: tx };
      const before =
        beforeId === null
          ? { number: Number.POSITIVE_INFINITY }
          : await this.#keys.findOne({ _id: beforeId, username }, options);
      if (before === null) return [];
      const found = await this.#keys
        .find({ username, number: { $lt: before.number } }, options)
        .sort({ number: -1 })
        .limit(limit)
        .toArray();
      return found.map(storedKeyOf);
    });
  }

  async revoke(username: string, { id, nowMs }: Revocation<string>): Promise<StoredApiKey | null> {
    return await changePerson(this.#deps, username, async ({ tx, raise }) => {
      const key = await this.#find(username, id, tx);
      if (key === null) return null;
      const revoked = revokedKey(key, nowMs);
      if (revoked === key) return key;
      await this.#end(revoked, tx);
      await this.#bound(username, nowMs, tx);
      await this.#tell(revocationAlert(key, nowMs), tx);
      await raise();
      return revoked;
    });
  }

  async rotate(username: string, rotation: KeyRotation): Promise<StoredApiKey | "conflict" | null> {
    return await changePerson(this.#deps, username, async ({ tx, raise }) => {
      const key = await this.#find(username, rotation.id, tx);
      if (key === null) return null;
      const plan = planRotation(key, rotation);
      if (plan === null) return "conflict";
      await this.#end(plan.old, tx);
      await raise(plan.successor.hash);
      await this.#tell(rotationAlert(key), tx);
      await this.#insert(plan.successor, await this.#takeNumber(tx), tx);
      await this.#bound(username, rotation.nowMs, tx);
      return plan.successor;
    });
  }

  async #find(username: string, id: string, tx: ClientSession): Promise<StoredApiKey | null> {
    const found = await this.#keys.findOne({ _id: id, username }, { session: tx });
    return found === null ? null : storedKeyOf(found);
  }

  async #end({ id: _id, revokedAt, isRevoked }: StoredApiKey, tx: ClientSession): Promise<void> {
    await this.#keys.updateOne({ _id }, { $set: { revokedAt, isRevoked } }, { session: tx });
  }

  /** Forgets what has been ended for long. Within a change that raises the version of the person. */
  async #bound(
    username: string,
    nowMs: number,
    tx: ClientSession,
  ): Promise<{ readonly isFull: boolean }> {
    const all = this.#keys.find({ username }, { session: tx, sort: { number: 1 } });
    const { isFull, forgotten } = boundKeys((await all.toArray()).map(storedKeyOf), nowMs);
    if (forgotten.length > 0) {
      await this.#keys.deleteMany({ _id: { $in: [...forgotten] } }, { session: tx });
    }
    return { isFull };
  }

  async #tell(alert: Alert | null, tx: ClientSession): Promise<void> {
    const makeAlert = this.#makeAlert;
    if (alert !== null && makeAlert !== null)
      await addAlerts(this.#deps.db, [makeAlert(alert)], tx);
  }

  /** One commit after the other, that of an erasure too: so what is read after it stays so until the commit. */
  async #takeNumber(tx: ClientSession): Promise<number> {
    return await takeNumbers(this.#deps.db, API_KEYS.name, 1, tx);
  }

  async #insert({ id, ...key }: StoredApiKey, number: number, tx: ClientSession): Promise<void> {
    await this.#keys.insertOne({ _id: id, number, ...key }, { session: tx });
  }
}

function storedKeyOf({ _id, number: _number, ...key }: ApiKeyDocument): StoredApiKey {
  return { id: _id, ...key };
}
