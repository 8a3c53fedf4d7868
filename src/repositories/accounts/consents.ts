import {
  type Consent,
  type ConsentFilter,
  type ConsentGrant,
  forgottenConsents,
  matchesFilter,
  planGrant,
  revokeConsent,
} from "../../domain/reputation/accounts/consent.ts";
import { keysOf } from "../../domain/shared/document-key.ts";
import type { Transaction } from "../../ports/documents.ts";
import { ACCOUNTS, CONSENTS, replaced } from "../account-collections.ts";
import { SEQUENCES } from "../collections.ts";
import { Repository } from "../repository.ts";
import type { Revocation } from "./api-keys.ts";

interface ConsentQuery {
  readonly filter: ConsentFilter;
  readonly nowMs: number;
  /** 1 or more. */
  readonly limit: number;
  /** Only consents with a smaller id; null for all. */
  readonly beforeId: number | null;
}

/** Consents by the username of their owner. A change also removes those that have been ended for long (`forgottenConsents`). */
export class Consents extends Repository {
  /**
   * Keeps a new consent under the next id, and ends the active ones of the same purpose (`planGrant`), in one commit. Ids grow with
   * every grant over all owners and are never used again. Of two grants at once, one is superseded. Writes nothing and resolves to
   * null when the owner has no account.
   */
  async grant(username: string, grant: ConsentGrant): Promise<Consent | null> {
    // All grants take their ids from one document.
    const options = { name: "consents.grant", isQueued: true } as const;
    return await this.writing(options, async (tx) => {
      const within = keysOf(username);
      const [[account], earlier, [sequence]] = await tx.read(
        { from: ACCOUNTS, keys: within, lock: true },
        { from: CONSENTS, stretch: { within } },
        { from: SEQUENCES, keys: [["consents"]] },
      );
      if (account === undefined) return null;
      const { superseded, granted } = planGrant(username, earlier, grant);
      const id = (sequence?.last ?? 0) + 1;
      tx.put(SEQUENCES, { name: "consents", last: id });
      for (const ended of superseded) tx.put(CONSENTS, ended);
      forget(tx, replaced(earlier, superseded), grant.nowMs);
      tx.put(CONSENTS, { id, ...granted });
      tx.raise([username]);
      return { id, ...granted };
    });
  }

  /** As `revokeConsent`. Once resolved, no instance answers by the consent. Null when the owner has no such consent. */
  async revoke(username: string, { id, nowMs }: Revocation<number>): Promise<Consent | null> {
    return await this.writing("consents.revoke", async (tx) => {
      const within = keysOf(username);
      const [, all] = await tx.read(
        { from: ACCOUNTS, keys: within, lock: true },
        { from: CONSENTS, stretch: { within } },
      );
      const consent = all.find((one) => one.id === id);
      if (consent === undefined) return null;
      const revoked = revokeConsent(consent, nowMs);
      if (revoked === consent) return consent;
      tx.put(CONSENTS, revoked);
      forget(tx, replaced(all, [revoked]), nowMs);
      tx.raise([username]);
      return revoked;
    });
  }

  /** Newest first. */
  async list(
    username: string,
    { beforeId, limit, filter, nowMs }: ConsentQuery,
  ): Promise<readonly Consent[]> {
    const within = keysOf(username);
    const after = beforeId === null ? {} : { after: [username, beforeId] };
    const [all] = await this.ask("consents.list", {
      from: CONSENTS,
      stretch: { within, ...after, isReverse: true },
    });
    return all.filter((consent) => matchesFilter(consent, filter, nowMs)).slice(0, limit);
  }
}

/** Removes the consents that ended long ago; `all` are those of one owner, ordered by id. */
function forget(tx: Transaction, all: readonly Consent[], nowMs: number): void {
  const forgotten = new Set(forgottenConsents(all, nowMs));
  for (const consent of all)
    if (forgotten.has(consent.id)) tx.remove(CONSENTS, CONSENTS.keyOf(consent));
}
