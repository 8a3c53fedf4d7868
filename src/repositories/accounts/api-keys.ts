import type { Alert, MakeAlert } from "../../domain/alerts/alert.ts";
import {
  type KeyRotation,
  keyBounds,
  planRotation,
  revocationAlert,
  revokedKey,
  rotationAlert,
  type StoredApiKey,
} from "../../domain/reputation/accounts/api-key.ts";
import { keysOf } from "../../domain/shared/document-key.ts";
import type { DocumentStore, Transaction } from "../../ports/documents.ts";
import { ACCOUNTS, KEYS, type KeyDocument, replaced } from "../account-collections.ts";
import { queueAlerts } from "../alert-outbox.ts";
import { removeKeyUses } from "../lookups/usage.ts";
import { Repository } from "../repository.ts";

/** Of a key or a consent. */
export interface Revocation<Id> {
  readonly id: Id;
  readonly nowMs: number;
}

/** Changes also remove keys that have been ended for long (`keyBounds`), as if they had never been. */
export class ApiKeys extends Repository {
  readonly #makeAlert: MakeAlert | null;

  /** Without `makeAlert` nobody is told. */
  constructor(documents: DocumentStore, makeAlert: MakeAlert | null) {
    super(documents);
    this.#makeAlert = makeAlert;
  }

  /** Keeps a new key durably; else `no_account`, or `full` with as many active keys as may be, also where several come at once. */
  async create(key: StoredApiKey, nowMs: number): Promise<"created" | "full" | "no_account"> {
    const { username, hash } = key;
    return await this.writing("api_keys.create", async (tx) => {
      const { hasAccount, keys } = await readKeyRing(tx, username);
      if (!hasAccount) return "no_account";
      const { isFull, forgotten } = keyBounds(keys, nowMs);
      await forget(tx, username, forgotten);
      if (isFull) return "full";
      tx.put(KEYS, { ...key, number: nextNumber(keys) });
      tx.raise([username, hash]);
      return "created";
    });
  }

  /** Newest first; with `beforeId` only older keys than that one, none for an unknown id. */
  async list(
    username: string,
    { limit, beforeId }: { readonly limit: number; readonly beforeId: string | null },
  ): Promise<readonly StoredApiKey[]> {
    const stretch = { index: "order", within: keysOf(username), isReverse: true };
    const [keys] = await this.ask("api_keys.list", { from: KEYS, stretch });
    const start = beforeId === null ? 0 : keys.findIndex(({ id }) => id === beforeId) + 1;
    if (beforeId !== null && start === 0) return [];
    return keys.slice(start, start + limit).map(storedKeyOf);
  }

  /** Once it has resolved no instance accepts the key. Idempotent; null for no such key. Keeps the first alert `key.revoked`. */
  async revoke(username: string, { id, nowMs }: Revocation<string>): Promise<StoredApiKey | null> {
    return await this.writing("api_keys.revoke", async (tx) => {
      const { keys } = await readKeyRing(tx, username);
      const found = keys.find((key) => key.id === id);
      if (found === undefined) return null;
      const key = storedKeyOf(found);
      const revoked = revokedKey(key, nowMs);
      if (revoked === key) return key;
      const changed = { ...revoked, number: found.number };
      tx.put(KEYS, changed);
      await forget(tx, username, keyBounds(replaced(keys, [changed]), nowMs).forgotten);
      this.#tell(tx, revocationAlert(key, nowMs));
      tx.raise([username]);
      return revoked;
    });
  }

  /** Writes both keys and the alert `key.rotated` in one commit. `conflict` for an inactive old key, null for none. */
  async rotate(username: string, rotation: KeyRotation): Promise<StoredApiKey | "conflict" | null> {
    return await this.writing("api_keys.rotate", async (tx) => {
      const { keys } = await readKeyRing(tx, username);
      const found = keys.find((key) => key.id === rotation.id);
      if (found === undefined) return null;
      const key = storedKeyOf(found);
      const plan = planRotation(key, rotation);
      if (plan === null) return "conflict";
      const old = { ...plan.old, number: found.number };
      const successor = { ...plan.successor, number: nextNumber(keys) };
      for (const changed of [old, successor]) tx.put(KEYS, changed);
      const all = [...replaced(keys, [old]), successor];
      await forget(tx, username, keyBounds(all, rotation.nowMs).forgotten);
      this.#tell(tx, rotationAlert(key));
      tx.raise([username, successor.hash]);
      return plan.successor;
    });
  }

  #tell(tx: Transaction, alert: Alert | null): void {
    const makeAlert = this.#makeAlert;
    if (alert !== null && makeAlert !== null) queueAlerts(tx, [makeAlert(alert)]);
  }
}

/** Locks an account, and reads all its keys in the order in which they were made. */
async function readKeyRing(tx: Transaction, username: string) {
  const within = keysOf(username);
  const [accounts, keys] = await tx.read(
    { from: ACCOUNTS, keys: within, lock: true },
    { from: KEYS, stretch: { index: "order", within } },
  );
  return { hasAccount: accounts.length > 0, keys };
}

async function forget(tx: Transaction, username: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  for (const id of ids) tx.remove(KEYS, [username, id]);
  await removeKeyUses(tx, username, ids);
  tx.raise([username]);
}

function nextNumber(keys: readonly KeyDocument[]): number {
  return (keys.at(-1)?.number ?? 0) + 1;
}

function storedKeyOf({ number: _, ...key }: KeyDocument): StoredApiKey {
  return key;
}
