// Opens the store and makes the dependencies of the use cases, for the service and the command line.

import { BunMac } from "../adapters/bun/bun-mac.ts";
import { BunPasswordHasher } from "../adapters/bun/bun-password-hasher.ts";
import { NodeMac } from "../adapters/node-crypto/node-crypto.ts";
import { tracedFetch, tracedStorage } from "../adapters/opentelemetry/traced-calls.ts";
import { PinoLogger } from "../adapters/pino/pino-logger.ts";
import { SystemClock, SystemIds, SystemRandom, SystemTimer } from "../adapters/system/system.ts";
import { zlibCrc32 } from "../adapters/zlib/zlib-gzip.ts";
import { createSyncClient, type SyncClientOptions } from "../client.ts";
import type { MakeAlert } from "../domain/alerts/alert.ts";
import { AppError } from "../domain/shared/errors.ts";
import { MAX_WAITING_PASSWORDS, PASSWORD_DEADLINE_MS } from "../domain/shared/limits.ts";
import { erasedNameText } from "../domain/sync/people/name-facts.ts";
import { LearnedSizes } from "../domain/sync/run/pacing.ts";
import { findTable, type Registry, type Table } from "../domain/sync/table/table.ts";
import type { Mac, PasswordHasher } from "../ports/crypto/crypto.ts";
import type { DocumentStore } from "../ports/documents.ts";
import type { Clock, Logger, Timer } from "../ports/runtime/runtime.ts";
import { NO_TRACING, type Tracing } from "../ports/runtime/tracing.ts";
import type { FullStorage } from "../ports/storage.ts";
import { Accounts } from "../repositories/accounts/accounts.ts";
import { Administration } from "../repositories/accounts/administration.ts";
import { ApiKeys } from "../repositories/accounts/api-keys.ts";
import { Consents } from "../repositories/accounts/consents.ts";
import { Membership } from "../repositories/accounts/membership.ts";
import { Names } from "../repositories/accounts/names.ts";
import { Profiles } from "../repositories/accounts/profiles.ts";
import { Sessions, SignIns } from "../repositories/accounts/sessions.ts";
import { AlertOutbox, Alerts } from "../repositories/alert-outbox.ts";
import { COLLECTIONS } from "../repositories/collections.ts";
import { ScheduleTimes, Secrets } from "../repositories/kept-values.ts";
import { AuditChains, Subjects } from "../repositories/lookups/audit-chains.ts";
import { AuditLog } from "../repositories/lookups/audit-log.ts";
import { AuditSearch } from "../repositories/lookups/audit-search.ts";
import type { LookupProcessorDeps } from "../repositories/lookups/lookup-processor.ts";
import { Usage } from "../repositories/lookups/usage.ts";
import { Traffic } from "../repositories/traffic.ts";
import { StoreDamage } from "../usecases/operations/health.ts";
import { LiveRegistry } from "../usecases/operations/registry-keeper.ts";
import { TrafficMeter } from "../usecases/operations/traffic-meter.ts";
import type { AccountDeps, AccountStores } from "../usecases/reputation/accounts/deps.ts";
import {
  keptSecret,
  OTHER_PEPPER,
  readReputationSecrets,
} from "../usecases/reputation/accounts/secrets.ts";
import { makePasswordRest, Semaphore } from "../usecases/reputation/accounts/semaphore.ts";
import { createAdministrator } from "../usecases/reputation/accounts/sign-up.ts";
import { LookupTally } from "../usecases/reputation/lookups/lookup-tally.ts";
import { makeSyncRepositories, type SyncDeps } from "../usecases/sync/shared/sync-deps.ts";
import { beginStamps } from "../usecases/sync/shared/write-rows.ts";
import type { Config } from "./config.ts";
import { readableStore, storeAt } from "./stores.ts";

/** Passwords hashed at once: more would leave no core to anything else. */
const MAX_PASSWORD_TASKS = 2;

export type Services = Awaited<ReturnType<typeof makeServices>>;

/** Clock and timer, and hashing that takes long; tests replace them. */
export interface TimeDeps {
  readonly clock: Clock;
  readonly timer: Timer;
  /** Absent: Argon2id. */
  readonly passwords?: PasswordHasher;
}

interface OpenedStore extends TimeDeps {
  readonly storage: FullStorage;
  readonly tracing: Tracing;
  /** Sends requests to the remote; absent: the runtime's. */
  readonly fetch?: SyncClientOptions["fetch"];
  readonly logger: Logger;
  readonly damage: StoreDamage;
}

/** With `isReading` no store is made. Until `prepare`, missing tables and collections read as empty. Throws `AppError`. */
export async function openServices(
  config: Config,
  time: TimeDeps = { clock: new SystemClock(), timer: new SystemTimer() },
  isReading = false,
): Promise<Services> {
  const logger = new PinoLogger(config.logLevel);
  const { clock } = time;
  const tables = [...config.registry.values()];
  const { storageUrl: url } = config;
  const store = isReading ? await readableStore(url, tables) : storeAt(url);
  const storage = await store.open({ clock, logger, tables });
  const damage = new StoreDamage(logger);
  storage.watchDamage?.((failure) => damage.note(failure));
  try {
    const traced = await openTraced(config, { storage, system: store.system, logger });
    return await makeServices(config, { ...traced, ...time, logger, damage });
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** The store as it is, or traced where traces are wanted. D-10.9. */
async function openTraced(
  { tracing: settings }: Config,
  { storage, system, logger }: { storage: FullStorage; system: string; logger: Logger },
): Promise<Pick<OpenedStore, "storage" | "tracing" | "fetch">> {
  if (settings === null) return { storage, tracing: NO_TRACING };
  const { startTracing } = await import("../adapters/opentelemetry/start-tracing.ts");
  for (const warning of settings.warnings) logger.warn(warning);
  const tracing = startTracing(settings, { logger, random: new SystemRandom() });
  return { storage: tracedStorage(tracing, storage, system), tracing, fetch: tracedFetch(tracing) };
}

async function makeServices(config: Config, opened: OpenedStore) {
  const { storage, clock, timer, logger, tracing, damage } = opened;
  const mac = macOfRuntime();
  const registry = new LiveRegistry(config.registry);
  const secretDeps = { secrets: new Secrets(storage.documents), mac };
  const secrets = await readReputationSecrets(secretDeps, config.apiKeyPepper);
  const { auditKey, pepperMac, isFirstPepper } = secrets;
  if (!isFirstPepper) logger.warn(OTHER_PEPPER);
  const nameKey = Uint8Array.fromHex(await keptSecret(secretDeps, "erased_names_key"));
  const outbox = new AlertOutbox(storage.documents);
  const alerts =
    config.webhook === null ? null : new Alerts({ outbox, clock, ids: new SystemIds() });
  const makeAlert: MakeAlert | null = alerts === null ? null : (alert) => alerts.make(alert);
  const options = { mac, auditKey, nameKey, makeAlert };
  const { lookupParts, ...stores } = makeReputation(storage, registry, options);
  const tally = new LookupTally();
  const accounts: AccountDeps = {
    ...stores,
    mac,
    crc32: zlibCrc32,
    pepperMac,
    passwords: opened.passwords ?? new BunPasswordHasher(),
    passwordSemaphore: passwordSemaphoreOf(opened, tally),
    clock,
    timer,
    ids: new SystemIds(),
    isSignupEnabled: config.isSignupEnabled,
    accountWritesPerMinute: config.accountWritesPerMinute,
    adminUsername: config.adminUsername,
  };
  const counted = { traffic: new Traffic(storage.documents), lookups: () => tally.decided() };
  const traffic = new TrafficMeter({ ...counted, clock, timer, logger });
  const sync = { ...syncDeps(config, opened, stores.names), registry, traffic, alerts };
  /** Makes tables of the registry in the store. Throws `AppError`. */
  const prepareTables = async (tables: readonly Table[], isServed = false) => {
    await storage.tables.prepare(tables, isServed);
    await beginStamps(sync, tables);
  };
  return {
    clock,
    timer,
    logger,
    tracing,
    storage,
    damage,
    sync,
    registry,
    accounts,
    lookupParts,
    tally,
    audit: { audit: stores.audit, mac, auditKey, clock },
    /** False when the store began with another `API_KEY_PEPPER`. */
    isFirstPepper,
    outbox,
    scheduleTimes: new ScheduleTimes(storage.documents),
    /** Null where `WEBHOOK_URL` is not set. */
    alerts,
    prepareTables,
    /** Makes all collections, and the tables of the registry. Throws `AppError`. */
    async prepare() {
      await storage.documents.prepare(COLLECTIONS);
      await prepareTables([...registry.values()]);
    },
    /** Makes the configured administrator, unless there is an account of that name. Throws `AppError`. */
    makeAdministrator: () => makeConfiguredAdministrator(config, accounts),
    /** Closes the store after the last counts are added. Idempotent. */
    async close() {
      await traffic.stop();
      await storage.close();
      await tracing.close();
    },
  };
}

export function macOfRuntime(): Mac {
  return typeof Bun === "undefined" ? new NodeMac() : new BunMac();
}

function passwordSemaphoreOf({ clock, timer }: OpenedStore, tally: LookupTally): Semaphore {
  return new Semaphore({
    maxRunning: MAX_PASSWORD_TASKS,
    maxWaiting: MAX_WAITING_PASSWORDS,
    maxMs: PASSWORD_DEADLINE_MS,
    clock,
    rest: makePasswordRest(timer, () => tally.begun()),
  });
}

function syncDeps(config: Config, opened: OpenedStore, names: Names) {
  const { storage, clock, timer, logger, tracing, fetch } = opened;
  const ids = new SystemIds();
  return {
    isSyncEnabled: config.isSyncEnabled,
    remoteUrl: config.remoteUrl,
    remoteKey: config.remoteKey,
    lagSeconds: config.lagSeconds,
    maxPageRows: config.maxPageRows,
    deploymentId: storage.identity.deploymentId,
    tables: storage.tables,
    tombstones: storage.tombstones,
    ...makeSyncRepositories(storage.documents, names, ids),
    learned: new LearnedSizes(),
    connectPeer: ({ baseUrl, key }) =>
      createSyncClient({ baseUrl, key, nowMs: () => clock.nowMs(), ...(fetch ? { fetch } : {}) }),
    clock,
    timer,
    random: new SystemRandom(),
    ids,
    logger,
    tracing,
  } satisfies Omit<SyncDeps, "registry">;
}

async function makeConfiguredAdministrator(config: Config, accounts: AccountDeps): Promise<void> {
  const { adminUsername: username, adminPassword: password } = config;
  if (username === null || password === null) return;
  if (await createAdministrator(accounts, { username, password })) return;
  const account = await accounts.accounts.find(username);
  if (account === null || account.role === "administrator") return;
  const text = "ADMIN_USERNAME belongs to somebody who is no administrator";
  throw new AppError("invalid_request", text, { hint: "Set another name" });
}

interface ReputationOptions {
  readonly mac: Mac;
  /** Key of the audit's hashes and signatures, the same on all instances. */
  readonly auditKey: Uint8Array;
  /** Key of the HMACs of erased names, the same on all instances and for ever. D-8.2. */
  readonly nameKey: Uint8Array;
  /** Makes alerts for the commits that cause them: a key that ends, a quota that is used up. Null: none is made. D-10.12. */
  readonly makeAlert: MakeAlert | null;
}

export interface Reputation extends AccountStores {
  /** What lookups share with the stores of accounts. */
  readonly lookupParts: Omit<LookupProcessorDeps, "clock" | "makeCache">;
}

/** The repositories of accounts and people. `registry` has `profiles` and `platform_accounts`. */
export function makeReputation(
  { documents }: { readonly documents: DocumentStore },
  registry: Registry,
  { mac, auditKey, nameKey, makeAlert }: ReputationOptions,
): Reputation {
  const tableOf = (name: string): Table => {
    if (!registry.stopped?.has(name)) return findTable(registry, name);
    throw new AppError("store_unavailable", `The table ${name} is not as it was prepared`);
  };
  const people = {
    get profiles() {
      return tableOf("profiles");
    },
    get platformAccounts() {
      return tableOf("platform_accounts");
    },
  };
  const hmacOf = (username: string) => mac.hmacHex(nameKey, erasedNameText(username));
  const subjects = new Subjects(mac, auditKey);
  const chains = new AuditChains(subjects);
  const shared = { documents, hmacOf, subjects };
  return {
    accounts: new Accounts(shared),
    sessions: new Sessions(documents),
    signIns: new SignIns(documents),
    names: new Names(documents, hmacOf),
    apiKeys: new ApiKeys(documents, makeAlert),
    consents: new Consents(documents),
    profiles: new Profiles(documents, people),
    membership: new Membership({ ...shared, tables: people, chains }),
    administration: new Administration({ documents, hmacOf, chains }),
    usage: new Usage(documents),
    audit: new AuditLog(documents),
    auditSearch: new AuditSearch(documents, subjects),
    lookupParts: { documents, people, subjects, chains, makeAlert },
  };
}
