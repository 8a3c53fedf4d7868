// What the suites of the reputation half work on, and the shortest ways to set a scene.
import { SystemClock } from "../../../src/adapters/system/system.ts";
import { makeReputation, type Reputation } from "../../../src/app/services.ts";
import { type MakeAlert, queuedAlert } from "../../../src/domain/alerts/alert.ts";
import { type Account, NEW_ACCOUNT } from "../../../src/domain/reputation/accounts/account.ts";
import type { StoredApiKey } from "../../../src/domain/reputation/accounts/api-key.ts";
import type {
  Consent,
  ConsentGrant,
  ConsentPurpose,
  LookupEndpoint,
} from "../../../src/domain/reputation/accounts/consent.ts";
import type { AccountPlan } from "../../../src/domain/reputation/accounts/plan.ts";
import type { LookupOutcome } from "../../../src/domain/reputation/lookups/lookup-batch.ts";
import { formatMs } from "../../../src/domain/shared/time.ts";
import { readRegistry } from "../../../src/domain/sync/table/registry.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import {
  LookupProcessor,
  type LookupProcessorDeps,
} from "../../../src/repositories/lookups/lookup-processor.ts";
import { AUDIT_KEY, MAC, NAME_KEY } from "../../repositories/support/people.ts";
import { writeTo } from "../../support/rows/write-to.ts";
import type { RunStorage } from "../../support/run-parts.ts";
import type { OpenedStore, StoreHarness } from "../harness.ts";

/** The deadline of lookups that may take any time. */
export const NO_DEADLINE = Number.POSITIVE_INFINITY;

/** One instance. */
export interface ReputationParts extends Reputation {
  readonly lookupProcessor: LookupProcessor;
  readonly storage: RunStorage;
}

/** A harness of the reputation half. */
export type ReputationHarness = StoreHarness<ReputationParts>;

/** What an administrator asks for. */
export const BY_ROOT = { by: "root", requestId: "request-of-root" };

const registry = readRegistry({ tables: {} });
/** The built-in tables. */
export const PROFILES = registry.get("profiles") as Table;
export const PLATFORM_ACCOUNTS = registry.get("platform_accounts") as Table;

/** Prepares an opened storage and opens its reputation half. */
export async function openParts(
  storage: RunStorage,
  makeCache: LookupProcessorDeps["makeCache"],
  clock: LookupProcessorDeps["clock"] = new SystemClock(),
): Promise<ReputationParts> {
  await storage.tables.prepare([PROFILES, PLATFORM_ACCOUNTS]);
  const kept = makeReputation(storage, registry, {
    ...{ mac: MAC, auditKey: AUDIT_KEY, nameKey: NAME_KEY },
    makeAlert,
  });
  const lookupProcessor = new LookupProcessor({ ...kept.lookupParts, makeCache, clock });
  return { ...kept, lookupProcessor, storage };
}

/** Alerts that are due from the beginning of time on. */
let madeAlerts = 0;
const makeAlert: MakeAlert = (alert) =>
  queuedAlert(alert, { id: `alert-${++madeAlerts}`, atMs: 0, at: "1970-01-01T00:00:00Z" });

/** Sets scenes in one store. */
export class Scene {
  readonly parts: ReputationParts;
  readonly store: OpenedStore<ReputationParts>;
  #count = 0;

  constructor(parts: ReputationParts, store: OpenedStore<ReputationParts>) {
    this.parts = parts;
    this.store = store;
  }

  /** Makes an account with its profile. */
  async enrol(username: string, changes: Partial<Account> = {}): Promise<Account> {
    const account: Account = { ...this.#account(username), ...changes };
    const outcome = await this.parts.membership.enrol({ account, displayName: null });
    if (outcome !== "enrolled") throw new Error(`Not enrolled: ${outcome}`);
    return account;
  }

  /** Puts somebody on a plan; the numbers are those of enterprise. */
  async setPlan(username: string, changes: Partial<AccountPlan>): Promise<void> {
    const account = await this.parts.accounts.find(username);
    if (account === null) throw new Error("There is no such account");
    const { plan, callsPerMonth, rateLimitPerMinute } = { ...account, ...changes };
    const changed = { plan, callsPerMonth, rateLimitPerMinute };
    await this.parts.administration.changePlan(username, changed, BY_ROOT);
  }

  /** Makes a key; the hash stands for its text. */
  async giveKey(username: string, changes: Partial<StoredApiKey> = {}): Promise<StoredApiKey> {
    const id = `key-${username}-${++this.#count}`;
    const key: StoredApiKey = {
      id,
      username,
      name: "a key",
      hash: `hash of ${id}`,
      prefix: "rep_live_",
      last4: "abcd",
      createdAt: formatMs(this.store.nowMs()),
      expiresAt: null,
      revokedAt: null,
      isRevoked: false,
      ...changes,
    };
    await this.#giveAccount(username);
    const outcome = await this.parts.apiKeys.create(key, this.store.nowMs());
    if (outcome !== "created") throw new Error(`Not kept: ${outcome}`);
    return key;
  }

  /** Grants a consent. */
  async consent(username: string, purpose: ConsentPurpose = "reputation_lookup") {
    return await this.grant(username, { purpose, expiresAt: null });
  }

  /** Grants a consent of some duration. */
  async grant(username: string, grant: Omit<ConsentGrant, "nowMs">): Promise<Consent> {
    const nowMs = this.store.nowMs();
    await this.#giveAccount(username);
    const consent = await this.parts.consents.grant(username, { ...grant, nowMs });
    if (consent === null) throw new Error("Not granted: there is no account");
    return consent;
  }

  /** Makes an account without a profile where there is none. */
  async #giveAccount(username: string): Promise<void> {
    const { accounts } = this.parts;
    if ((await accounts.find(username)) === null) await accounts.create(this.#account(username));
  }

  #account(username: string): Account {
    return {
      ...NEW_ACCOUNT,
      username,
      email: `${username}@example.com`,
      passwordHash: "hash",
      createdAtMs: this.store.nowMs(),
    };
  }

  /** Pushes rows as sync does. */
  async push(table: Table, ...rows: Row[]): Promise<void> {
    const all = rows.map((row, index) => {
      const missing = table.pushColumns.filter(({ name }) => !Object.hasOwn(row, name));
      return {
        index,
        row: { ...row, ...Object.fromEntries(missing.map(({ name }) => [name, null])) },
      };
    });
    const { failures } = await writeTo(this.parts.storage, table, all);
    if (failures.length > 0) throw new Error(JSON.stringify(failures));
  }

  /** One lookup of the reputation, unless said otherwise. */
  async lookUp(
    keyHash: string,
    username: string,
    endpoint: LookupEndpoint = "reputation",
  ): Promise<LookupOutcome> {
    return (await this.lookUpMany([{ keyHash, username, endpoint }]))[0] as LookupOutcome;
  }

  /** Several lookups as one batch. */
  async lookUpMany(
    calls: readonly { keyHash: string; username: string; endpoint?: LookupEndpoint }[],
  ): Promise<readonly LookupOutcome[]> {
    const numbered = calls.map((call) => ({
      endpoint: "reputation" as const,
      requestId: `request-${++this.#count}`,
      ...call,
    }));
    const { lookupProcessor } = this.parts;
    return (await lookupProcessor.decide(numbered, NO_DEADLINE, (outcomes) => outcomes)).value;
  }
}

/** A scene of an instance that goes by its store's time, or by that of the machine. */
export function realScene(parts: ReputationParts): Scene {
  const time = { nowMs: () => Date.now(), advance: async () => {}, dispose: async () => {} };
  return new Scene(parts, { storage: parts, ...time });
}

/** What became of a lookup, in one word. */
export function wordOf(outcome: LookupOutcome): string {
  if (outcome.kind !== "answered") return outcome.problem;
  return outcome.decision.code ?? "allowed";
}

export { AUDIT_KEY, MAC, NAME_KEY };
