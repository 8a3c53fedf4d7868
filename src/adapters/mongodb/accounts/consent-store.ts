import type { ClientSession, Collection, Document } from "mongodb";
import {
  type Consent,
  type ConsentGrant,
  forgottenConsents,
  matchesFilter,
  planGrant,
  revokeConsent,
} from "../../../domain/reputation/accounts/consent.ts";
import type { Revocation } from "../../../ports/accounts/api-key-store.ts";
import type { ConsentQuery, ConsentStore } from "../../../ports/accounts/consent-store.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { takeNumbers } from "../driver/id-counters.ts";
import { COMMITTED, readCommitted } from "../driver/operations.ts";
import { changePerson, type VersionedDeps } from "../driver/person-changes.ts";
import { hasAccount } from "./account-store.ts";

/** The consents by id, found by owner, and among those the open ones. */
export const CONSENTS: InternalCollection = {
  name: "repsync_consents",
  indexes: [
    { name: "repsync_username", key: { username: 1, _id: -1 } },
    { name: "repsync_open", key: { username: 1, ended: 1 } },
  ],
};

export interface ConsentDocument extends Omit<Consent, "id"> {
  readonly _id: number;
}

/**
 * A condition for the consents of people that are active, and perhaps some that have just expired, by the server's time
 * or the one given.
 */
export function openConsentsOf(usernames: readonly string[], now: "$$NOW" | Date): Document {
  // As `lastOver`.
  const lastOver = { $dateToString: { date: now, format: "%Y-%m-%dT%H:%M:%S" } };
  return {
    username: { $in: usernames },
    ended: null,
    $expr: { $gt: [{ $ifNull: ["$expiresAt", "~"] }, lastOver] },
  };
}

export class MongoConsentStore implements ConsentStore {
  readonly #deps: VersionedDeps;
  readonly #consents: Collection<ConsentDocument>;

  constructor(deps: VersionedDeps) {
    this.#deps = deps;
    this.#consents = deps.db.collection(CONSENTS.name);
  }

  /** Numbers are taken one commit after the other, by erasures too, so each sees the one before. */
  async grant(username: string, grant: ConsentGrant): Promise<Consent | null> {
    return await changePerson(this.#deps, username, async ({ tx, raise }) => {
      const id = await takeNumbers(this.#deps.db, CONSENTS.name, 1, tx);
      if (!(await hasAccount(this.#deps.db, username, tx))) return null;
      const isOpen = openConsentsOf([username], new Date(grant.nowMs));
      const open = await this.#consents.find(isOpen, { session: tx }).toArray();
      const { superseded, granted } = planGrant(username, open.map(consentOf), grant);
      for (const ended of superseded) await this.#keepEnd(ended, tx);
      await this.#forget(username, grant.nowMs, tx);
      await this.#consents.insertOne({ _id: id, ...granted }, { session: tx });
      await raise();
      return { id, ...granted };
    });
  }

  async revoke(username: string, { id, nowMs }: Revocation<number>): Promise<Consent | null> {
    return await changePerson(this.#deps, username, async ({ tx, raise }) => {
      const found = await this.#consents.findOne({ _id: id, username }, { session: tx });
      if (found === null) return null;
      const consent = consentOf(found);
      const revoked = revokeConsent(consent, nowMs);
      if (revoked === consent) return consent;
      await this.#keepEnd(revoked, tx);
      await this.#forget(username, nowMs, tx);
      await raise();
      return revoked;
    });
  }

  async list(username: string, query: ConsentQuery): Promise<readonly Consent[]> {
    const { beforeId, limit, filter, nowMs } = query;
    const isWanted = {
      username,
      ...(beforeId === null ? {} : { _id: { $lt: beforeId } }),
      ...(filter.purpose === null ? {} : { purpose: filter.purpose }),
    };
    return await readCommitted(this.#deps, async () => {
      const found: Consent[] = [];
      const options = { ...COMMITTED, sort: { _id: -1 }, batchSize: limit } as const;
      for await (const document of this.#consents.find(isWanted, options)) {
        const consent = consentOf(document);
        if (matchesFilter(consent, filter, nowMs)) found.push(consent);
        if (found.length === limit) break;
      }
      return found;
    });
  }

  /** What has been ended for long. */
  async #forget(username: string, nowMs: number, tx: ClientSession): Promise<void> {
    const all = this.#consents.find({ username }, { session: tx, sort: { _id: 1 } });
    const forgotten = forgottenConsents((await all.toArray()).map(consentOf), nowMs);
    if (forgotten.length === 0) return;
    await this.#consents.deleteMany({ username, _id: { $in: [...forgotten] } }, { session: tx });
  }

  async #keepEnd({ id, username, ended }: Consent, tx: ClientSession): Promise<void> {
    await this.#consents.updateOne({ _id: id, username }, { $set: { ended } }, { session: tx });
  }
}

export function consentOf({ _id, ...consent }: ConsentDocument): Consent {
  return { id: _id, ...consent };
}
