import type { ClientSession, Collection } from "mongodb";
import {
  keptKeyStatus,
  revokedAtAfterRotation,
  revokedAtNow,
} from "../../../domain/reputation/accounts/api-key.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type {
  ApiKeyStore,
  KeyRotation,
  StoredApiKey,
} from "../../../ports/accounts/api-key-store.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { takeNumbers } from "../driver/id-counters.ts";
import { changeKnown, type VersionedParts } from "../driver/known-changes.ts";
import { readSnapshot, SNAPSHOT, writeTogether } from "../driver/operations.ts";
import { hasAccount } from "./account-store.ts";

/** The keys by id, found by what their texts hash to and by account. */
export const API_KEYS: InternalCollection = {
  name: "repsync_api_keys",
  indexes: [
    { name: "repsync_hash", key: { hash: 1 }, unique: true },
    { name: "repsync_username", key: { username: 1, number: -1 } },
  ],
};

/** A key as stored. */
export interface ApiKeyDocument extends Omit<StoredApiKey, "id"> {
  /** Id. */
  readonly _id: string;
  /** Grows with every key. */
  readonly number: number;
}

/** API keys as documents. */
export class MongoApiKeyStore implements ApiKeyStore {
  readonly #parts: VersionedParts;
  readonly #keys: Collection<ApiKeyDocument>;

  constructor(parts: VersionedParts) {
    this.#parts = parts;
    this.#keys = parts.db.collection(API_KEYS.name);
  }

  async create(key: StoredApiKey): Promise<boolean> {
    return await writeTogether(this.#parts, async (session) => {
      const number = await this.#takeNumber(session);
      if (!(await hasAccount(this.#parts.db, { username: key.username, session }))) return false;
      await this.#insert(key, number, session);
      return true;
    });
  }

  async list(
    username: string,
    { limit, beforeId }: { readonly limit: number; readonly beforeId: string | null },
  ): Promise<readonly StoredApiKey[]> {
    return await readSnapshot(this.#parts, async (session) => {
      const options = { ...SNAPSHOT, session };
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

  async revoke(
    username: string,
    { id, nowMs }: { readonly id: string; readonly nowMs: number },
  ): Promise<StoredApiKey | null> {
    return await changeKnown(this.#parts, async ({ session, raise }) => {
      const key = await this.#find(username, { id, session });
      if (key === null || key.isRevoked) return key;
      const revoked = { ...key, revokedAt: revokedAtNow(key, nowMs), isRevoked: true };
      await this.#end(revoked, session);
      await raise();
      return revoked;
    });
  }

  async rotate(username: string, rotation: KeyRotation): Promise<StoredApiKey | "conflict" | null> {
    const { id, nowMs, overlapSeconds } = rotation;
    return await changeKnown(this.#parts, async ({ session, raise }) => {
      const old = await this.#find(username, { id, session });
      if (old === null) return null;
      const revokedAt = revokedAtAfterRotation(old, rotation);
      if (revokedAt === null || keptKeyStatus(old, nowMs) !== "active") return "conflict";
      await this.#end({ ...old, revokedAt, isRevoked: overlapSeconds === 0 }, session);
      await raise();
      const successor: StoredApiKey = {
        ...old,
        ...rotation.successor,
        createdAt: formatMs(nowMs),
        revokedAt: null,
        isRevoked: false,
      };
      await this.#insert(successor, await this.#takeNumber(session), session);
      return successor;
    });
  }

  async #find(
    username: string,
    { id, session }: { readonly id: string; readonly session: ClientSession },
  ): Promise<StoredApiKey | null> {
    const found = await this.#keys.findOne({ _id: id, username }, { session });
    return found === null ? null : storedKeyOf(found);
  }

  async #end(
    { id: _id, revokedAt, isRevoked }: StoredApiKey,
    session: ClientSession,
  ): Promise<void> {
    await this.#keys.updateOne({ _id }, { $set: { revokedAt, isRevoked } }, { session });
  }

  /** One commit after the other, that of an erasure too: so what is read after it stays so until the commit. */
  async #takeNumber(session: ClientSession): Promise<number> {
    return await takeNumbers(this.#parts.db, { name: API_KEYS.name, count: 1, session });
  }

  async #insert(
    { id, ...key }: StoredApiKey,
    number: number,
    session: ClientSession,
  ): Promise<void> {
    await this.#keys.insertOne({ _id: id, number, ...key }, { session });
  }
}

/** The key of a document. */
export function storedKeyOf({ _id, number: _number, ...key }: ApiKeyDocument): StoredApiKey {
  return { id: _id, ...key };
}
