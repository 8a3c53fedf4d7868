// Lookups in memory: the decision on a batch.
import { effectiveLimits } from "../../../src/domain/reputation/accounts/plan.ts";
import type { LookupSubject } from "../../../src/domain/reputation/lookups/lookup.ts";
import {
  decideBatch,
  type LimitedCaller,
  type LookupCall,
  type LookupOutcome,
  resolveCallers,
} from "../../../src/domain/reputation/lookups/lookup-batch.ts";
import type { LookupProcessor } from "../../../src/ports/lookups/lookup-processor.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import type { MemoryAccountStore, MemoryApiKeyStore, MemoryConsentStore } from "./accounts.ts";
import type { MemoryChainWriter } from "./audit.ts";
import type { PeopleTables, Subjects } from "./people.ts";
import type { MemoryUsageStore } from "./usage.ts";

/** What decides a lookup. */
export interface LookupDeps extends PeopleTables {
  readonly clock: Clock;
  readonly accounts: MemoryAccountStore;
  readonly apiKeys: MemoryApiKeyStore;
  readonly consents: MemoryConsentStore;
  readonly usage: MemoryUsageStore;
  readonly subjects: Subjects;
  readonly chain: MemoryChainWriter;
}

/** Decides a batch without waiting for anything, so all of it is one commit. It needs no cache, and no deadline. */
export class MemoryLookupProcessor implements LookupProcessor {
  readonly #deps: LookupDeps;

  constructor(deps: LookupDeps) {
    this.#deps = deps;
  }

  async decide(calls: readonly LookupCall[]): Promise<readonly LookupOutcome[]> {
    const { clock, usage, chain } = this.#deps;
    const nowMs = clock.nowMs();
    const callerOf = (keyHash: string) => this.#caller(keyHash);
    const { resolved, counted } = resolveCallers(calls, { nowMs, callerOf });
    const charges = new Map(
      counted.map(({ caller, calls: count }) => [
        caller.accountId,
        usage.charge(caller.key.username, count, caller.limits),
      ]),
    );
    const subjectOf = (username: string) => this.#subject(username);
    const { outcomes, entries, uses } = decideBatch(resolved, { nowMs, subjectOf, charges });
    for (const use of uses) {
      const name = this.#deps.subjects.usernameOf(use.accountId);
      if (name !== null) usage.note(name, use);
    }
    chain.append(entries);
    return outcomes;
  }

  #caller(keyHash: string) {
    const { accounts, apiKeys, subjects } = this.#deps;
    const key = apiKeys.findByHash(keyHash);
    const account = key === null ? null : accounts.findNow(key.username);
    if (key === null || account === null) return null;
    const accountId = subjects.accountId(account.username);
    const isSuspended = account.suspendedAtMs !== null;
    return {
      key,
      accountId,
      isSuspended,
      limits: effectiveLimits(account),
    } satisfies LimitedCaller;
  }

  #subject(username: string): LookupSubject {
    const { profiles, platformAccounts, consents, subjects } = this.#deps;
    const [profile] = profiles.read(username);
    if (profile === undefined) {
      const subjectHmac = subjects.hmacOfNobody(username);
      return { profile: null, accounts: [], consents: [], subjectHmac };
    }
    return {
      profile,
      accounts: platformAccounts.read(username),
      consents: consents.allOf(username),
      subjectHmac: subjects.hmac(username),
    };
  }
}
