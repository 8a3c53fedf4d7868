// The only file that sees adapters: chooses one per port and wires the use cases to them.
import { CronerScheduler } from "./adapters/croner/croner-scheduler.ts";
import { JoseTokenIssuer } from "./adapters/jose/jose-token-issuer.ts";
import { JwksIdentityProvider } from "./adapters/jose/jwks-identity-provider.ts";
import { LruVersionedCache } from "./adapters/lru-cache/lru-versioned-cache.ts";
import { NodeMac, NodeSecretComparison } from "./adapters/node-crypto/node-crypto.ts";
import { PinoLogger } from "./adapters/pino/pino-logger.ts";
import { PrometheusMetrics } from "./adapters/prometheus/prometheus-metrics.ts";
import { InstalledAssets } from "./adapters/swagger-ui/installed-assets.ts";
import {
  SystemClock,
  SystemIds,
  SystemRandom,
  SystemTimer,
  SystemTurns,
} from "./adapters/system/system.ts";
import { WebCryptoDigest } from "./adapters/webcrypto/web-crypto-digest.ts";
import { ZlibGzip } from "./adapters/zlib/zlib-gzip.ts";
import { createSyncClient } from "./client.ts";
import type { Config } from "./config.ts";
import { REMEMBERED_LOOKUP_MS } from "./domain/shared/limits.ts";
import { createRequestHandler } from "./http/app.ts";
import { DOCUMENTATION } from "./http/openapi.ts";
import type { PasswordHasher } from "./ports/crypto/crypto.ts";
import type { RequestHandler, StartHttpServer } from "./ports/http/http-server.ts";
import type { CacheCounts, VersionedCache } from "./ports/lookups/versioned-cache.ts";
import type { Logger } from "./ports/runtime/logger.ts";
import type { Clock, Timer } from "./ports/runtime/runtime.ts";
import type { FullStorage } from "./ports/storage.ts";
import type { PreparedTables } from "./ports/tables/table-store.ts";
import { createAdministrator } from "./usecases/reputation/accounts/create-administrator.ts";
import type { ReputationDeps } from "./usecases/reputation/accounts/deps.ts";
import {
  keptSecret,
  OTHER_PEPPER,
  readReputationSecrets,
} from "./usecases/reputation/accounts/secrets.ts";
import { Slots } from "./usecases/reputation/accounts/slots.ts";
import { createLookups } from "./usecases/reputation/lookups/look-up.ts";
import { type ActiveRuns, createActiveRuns } from "./usecases/sync/runs/active-runs.ts";
import { startSchedule } from "./usecases/sync/runs/scheduled-runs.ts";
import type { SyncDeps } from "./usecases/sync/shared/sync-deps.ts";

/** Time that runs under way have to end when a deployment closes. */
const CLOSE_GRACE_MS = 5_000;
/** More at once would leave no core to anything else. */
const PASSWORD_SLOTS = 2;

/** What the use cases need, opened: for a deployment and for the command line alike. */
export interface Services {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly storage: FullStorage;
  readonly sync: SyncDeps;
  readonly reputation: ReputationDeps;
  /** Memories that lookups are answered from. */
  readonly caches: readonly VersionedCache<unknown>[];
  /** Closes the store. Idempotent. */
  close(): Promise<void>;
}

/** A composed deployment, ready to serve. */
export interface Deployment {
  readonly services: Services;
  readonly handler: RequestHandler;
  readonly startServer: StartHttpServer;
  /**
   * Ends the schedule, and every run before its next write. Resolves when all have ended, or after `graceMs`. Idempotent.
   */
  stopRuns(graceMs: number): Promise<void>;
  /** Closes the store, the runs ended. Idempotent; call it after the server has stopped. */
  close(): Promise<void>;
}

/** Time as a deployment sees it; tests let it pass faster. */
export interface TimeParts {
  readonly clock: Clock;
  readonly timer: Timer;
}

/** Opens the store, makes its tables and puts one deployment together. Throws `AppError`. */
export async function compose(config: Config, time?: TimeParts): Promise<Deployment> {
  const services = await openServices(config, time);
  const { sync, reputation, caches, logger } = services;
  const runtimeVersion = isBun() ? `bun ${Bun.version}` : denoVersion();
  const { version } = DOCUMENTATION.info;
  const startedAtMs = services.clock.nowMs();
  const metrics = new PrometheusMetrics({ version, runtimeVersion, startedAtMs });
  const activeRuns = createActiveRuns({ ...sync, metrics });
  const lookups = createLookups(reputation);
  const handler = createRequestHandler({
    ...config,
    ...sync,
    reputation: { ...config, ...reputation, lookups },
    syncRuns: { ...sync, sync, activeRuns, identity: reputation },
    ...{ storage: services.storage, metrics, activeRuns, runtimeVersion },
    lookupMetrics: { outcomes: lookups.counts, cache: () => sumCounts(caches) },
    gzip: new ZlibGzip(),
    digest: new WebCryptoDigest(),
    comparison: new NodeSecretComparison(),
    docsAssets: new InstalledAssets(),
  });
  const schedule = scheduleRuns(config, { sync, activeRuns, logger });
  const stopRuns = async (graceMs: number) => {
    schedule?.stop();
    await activeRuns.stop(graceMs);
  };
  return {
    ...{ services, handler, stopRuns },
    startServer: await serverOfRuntime(),
    async close() {
      await stopRuns(CLOSE_GRACE_MS);
      await services.close();
    },
  };
}

/** Begins the schedule that the configuration names; null when it names none, or sync is disabled. */
function scheduleRuns(
  { schedule, isSyncEnabled }: Config,
  parts: { readonly sync: SyncDeps; readonly activeRuns: ActiveRuns; readonly logger: Logger },
): { stop(): void } | null {
  if (schedule === null) return null;
  if (isSyncEnabled) {
    const scheduler = new CronerScheduler();
    return startSchedule({ ...parts.sync, ...parts, scheduler }, schedule);
  }
  parts.logger.warn("SYNC_SCHEDULE rests, as SYNC_ENABLED is not true");
  return null;
}

/** Opens the store and makes its tables. Throws `AppError`. */
export async function openServices(
  config: Config,
  { clock, timer }: TimeParts = { clock: new SystemClock(), timer: new SystemTimer() },
): Promise<Services> {
  const logger = new PinoLogger(config.logLevel);
  const storage = await openStorage(config.storageUrl, clock);
  try {
    const tables = await storage.tables.prepare([...config.registry.values()]);
    const opened = { storage, tables, clock, timer };
    const { deps: reputation, caches } = await openReputation(config, opened);
    if (!reputation.isFirstPepper) logger.warn(OTHER_PEPPER);
    return {
      ...{ clock, logger, storage },
      sync: syncDeps(config, { storage, clock, timer, logger }),
      ...{ reputation, caches },
      close: () => storage.close(),
    };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

function syncDeps(
  config: Config,
  opened: TimeParts & { readonly storage: FullStorage; readonly logger: Logger },
): SyncDeps {
  const { tables, rows, markers, leases, runs, rejected } = opened.storage;
  const { clock, timer, logger } = opened;
  return {
    ...config,
    ...{ tables, rows, markers, leases, runs, rejected, clock, timer, logger },
    connectPeer: ({ baseUrl, key }) =>
      createSyncClient({ baseUrl, key, nowMs: () => clock.nowMs() }),
    random: new SystemRandom(),
    ids: new SystemIds(),
  };
}

/** Opens the reputation half, and makes the administrator that the configuration names. */
async function openReputation(
  config: Config,
  {
    storage,
    tables,
    clock,
    timer,
  }: TimeParts & { readonly storage: FullStorage; readonly tables: PreparedTables },
) {
  const mac = new NodeMac();
  const caches: VersionedCache<unknown>[] = [];
  const makeCache = <Value>(maxEntries: number): VersionedCache<Value> => {
    const cache = new LruVersionedCache<Value>({ maxEntries, ttlMs: REMEMBERED_LOOKUP_MS, clock });
    caches.push(cache as VersionedCache<unknown>);
    return cache;
  };
  const secrets = await readReputationSecrets(
    { secrets: storage.secrets, mac },
    config.apiKeyPepper,
  );
  const jwtSecret =
    config.jwtSecret ?? (await keptSecret({ secrets: storage.secrets, mac }, "jwt_secret"));
  const { auditKey } = secrets;
  const stores = await storage.openReputation(tables, { mac, auditKey, makeCache });
  const { accounts, sessions, signIns } = storage;
  const deps: ReputationDeps = {
    ...{ ...stores, ...secrets, accounts, sessions, signIns, clock, mac },
    tokens: new JoseTokenIssuer(jwtSecret, clock),
    passwords: await passwordHasherOfRuntime(),
    passwordSlots: new Slots(PASSWORD_SLOTS),
    identityProvider: identityProviderOf(config, clock),
    ids: new SystemIds(),
    turns: new SystemTurns(),
    timer,
    isSignupEnabled: config.isSignupEnabled,
  };
  const { adminUsername: username, adminPassword: password } = config;
  if (username !== null && password !== null)
    await createAdministrator(deps, { username, password });
  return { deps, caches };
}

function identityProviderOf(config: Config, clock: Clock): JwksIdentityProvider | null {
  const { jwtJwksUrl: jwksUrl, jwtIssuer: issuer, jwtAudience: audience } = config;
  if (jwksUrl === null || issuer === null || audience === null) return null;
  return new JwksIdentityProvider({ jwksUrl, issuer, audience, clock });
}

function sumCounts(caches: readonly VersionedCache<unknown>[]): CacheCounts {
  const counts = caches.map((cache) => cache.counts());
  const sum = (name: keyof CacheCounts) => counts.reduce((total, count) => total + count[name], 0);
  return {
    hits: sum("hits"),
    misses: sum("misses"),
    evictions: sum("evictions"),
    entries: sum("entries"),
  };
}

async function passwordHasherOfRuntime(): Promise<PasswordHasher> {
  const { BunPasswordHasher } = await import("./adapters/bun/bun-password-hasher.ts");
  return new BunPasswordHasher();
}

/** Opens the store that `STORAGE_URL` names, loading only that adapter. */
async function openStorage(url: string, clock: Clock): Promise<FullStorage> {
  if (!url.startsWith("sqlite:")) {
    const { openMongoStorage } = await import("./adapters/mongodb/storage.ts");
    return await openMongoStorage({ url, clock });
  }
  const { SqliteStorage } = await import("./adapters/sqlite/storage.ts");
  const openSqlite = isBun()
    ? (await import("./adapters/sqlite/driver/bun-driver.ts")).openBunSqlite
    : (await import("./adapters/sqlite/driver/node-driver.ts")).openNodeSqlite;
  return await SqliteStorage.open(openSqlite, url.slice("sqlite:".length), { clock });
}

async function serverOfRuntime(): Promise<StartHttpServer> {
  if (isBun()) return (await import("./adapters/bun/http-server.ts")).startBunServer;
  return (await import("./adapters/deno/http-server.ts")).startDenoServer;
}

function isBun(): boolean {
  return typeof Bun !== "undefined";
}

function denoVersion(): string {
  const { Deno } = globalThis as unknown as { Deno: { version: { deno: string } } };
  return `deno ${Deno.version.deno}`;
}
