// Lookups in memory: the decision on a batch.
import {
  quotaSteps,
  type ToldQuotaSteps,
} from "../../../src/domain/reputation/accounts/account-alerts.ts";
import type { StoredApiKey } from "../../../src/domain/reputation/accounts/api-key.ts";
import type { MeterCharge } from "../../../src/domain/reputation/accounts/call-meter.ts";
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
import type { MemoryAlerts } from "./alerts.ts";
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
  readonly alerts: MemoryAlerts;
}

/** Decides a batch without waiting for anything, so all of it is one commit. It needs no cache, and no deadline. */
export class MemoryLookupProcessor implements LookupProcessor {
  readonly #deps: LookupDeps;
  readonly #told: ToldQuotaSteps;

  constructor(deps: LookupDeps) {
    this.#deps = deps;
    this.#told = deps.usage.told;
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
    for (const { caller } of counted) this.#tellQuota(caller, charges);
    const subjectOf = (username: string) => this.#subject(username);
    const { outcomes, entries, uses } = decideBatch(resolved, { nowMs, subjectOf, charges });
    for (const use of uses) {
      const name = this.#deps.subjects.usernameOf(use.accountId);
      if (name !== null) usage.note(name, use);
    }
    chain.append(entries);
    return outcomes;
  }

  /** Erasure needs to forget nothing: ids of accounts are not given again. */
  #tellQuota(
    { accountId, key, limits }: LimitedCaller & { readonly key: StoredApiKey },
    charges: ReadonlyMap<string, MeterCharge>,
  ): void {
    const charge = charges.get(accountId);
    for (const step of charge === undefined ? [] : quotaSteps(charge, limits)) {
      if (this.#told.has(accountId, step)) continue;
      this.#told.note(accountId, step);
      this.#deps.alerts.tell({ ...step, account: key.username });
    }
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
