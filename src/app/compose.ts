// Composes one deployment: the opened services, the routes over them, and its schedules.

import { BuiltConsoleFiles, InstalledAssets } from "../adapters/built-files/built-files.ts";
import { CronerScheduler } from "../adapters/croner/croner-scheduler.ts";
import { JoseTokenIssuer, JwksIdentityProvider } from "../adapters/jose/jose-tokens.ts";
import { LruValueCache } from "../adapters/lru-cache/lru-value-cache.ts";
import { NodeSecretComparison } from "../adapters/node-crypto/node-crypto.ts";
import { WebhookSender } from "../adapters/node-http/webhook-sender.ts";
import { PrometheusMetrics } from "../adapters/prometheus/prometheus-metrics.ts";
import { systemCollectGarbage, systemDefer } from "../adapters/system/system.ts";
import { WebCryptoDigest } from "../adapters/webcrypto/web-crypto-digest.ts";
import { ZlibGzip } from "../adapters/zlib/zlib-gzip.ts";
import { REMEMBERED_LOOKUP_MS } from "../domain/shared/limits.ts";
import { createRequestHandler } from "../http/app.ts";
import { DOCUMENTATION } from "../http/openapi.ts";
import type { ServedSync } from "../http/routes/sync/page-routes.ts";
import type { RequestHandler } from "../ports/http/http.ts";
import type { Metrics } from "../ports/runtime/metrics.ts";
import { type Clock, type Logger, type ValueCache, within } from "../ports/runtime/runtime.ts";
import { Secrets } from "../repositories/kept-values.ts";
import { LookupProcessor } from "../repositories/lookups/lookup-processor.ts";
import { Traffic } from "../repositories/traffic.ts";
import { AlertDelivery } from "../usecases/alerts/alert-delivery.ts";
import { Lifecycle } from "../usecases/operations/health.ts";
import { RegistryKeeper } from "../usecases/operations/registry-keeper.ts";
import { type BackupSchedule, startBackups } from "../usecases/operations/scheduled-backups.ts";
import { TableHistories } from "../usecases/operations/table-histories.ts";
import type { SessionDeps } from "../usecases/reputation/accounts/deps.ts";
import { keptSecret } from "../usecases/reputation/accounts/secrets.ts";
import { AuditVerifications } from "../usecases/reputation/audit/verify-audit.ts";
import { Lookups } from "../usecases/reputation/lookups/look-up.ts";
import { startPruning } from "../usecases/sync/pages/delete-rows.ts";
import {
  ActiveRuns,
  type Schedule,
  startCompareSchedule,
  startSchedule,
} from "../usecases/sync/runs/active-runs.ts";
import { watchAbandonedRuns } from "../usecases/sync/runs/stored-runs.ts";
import { RememberedRemote } from "../usecases/sync/shared/sync-status.ts";
import { backUpDeps } from "./backups.ts";
import type { Config } from "./config.ts";
import { fileFormats } from "./files.ts";
import { runtimeName } from "./process.ts";
import { RegistryFile } from "./registry-file.ts";
import { openServices, type Services, type TimeDeps } from "./services.ts";

const CLOSE_GRACE_MS = 5_000;
/** Adapters of which one serves all parts. */
const TOOLS = {
  digest: new WebCryptoDigest(),
  gzip: new ZlibGzip(),
  comparison: new NodeSecretComparison(),
};

export interface Deployment {
  readonly logger: Logger;
  readonly handler: RequestHandler;
  /** True where this start made the store. */
  readonly isNewStore: boolean;
  hasAdministrator(): Promise<boolean>;
  /** Reads the registry file now. Never rejects. D-14.6. */
  lookAtRegistry(): Promise<void>;
  /** Tells balancers to send no more, and serves on. D-10.5. */
  leave(): void;
  /** Takes no further request. Resolves to the milliseconds left of `graceMs` when those in hand have ended, or to 0. */
  drain(graceMs: number): Promise<number>;
  /** Ends schedules, verifications, and runs before their next write. Resolves once all ended, or after `graceMs`. Idempotent. */
  stopRuns(graceMs: number): Promise<void>;
  /** Stops the runs and closes the store; to be called after the server has stopped. Idempotent. */
  close(): Promise<void>;
}

/** Opens the store, makes its tables and composes the deployment. Throws `AppError`. */
export async function compose(config: Config, time?: TimeDeps): Promise<Deployment> {
  const services = await openServices(config, time);
  const accounts = await takeStore(config, services);
  const { clock, timer, logger, storage, sync } = services;
  const { lookups, caches, stop: stopLookups } = makeLookups(services);
  const runtimeVersion = runtimeName();
  warnOf(config, services);
  const { version } = DOCUMENTATION.info;
  const metrics = new PrometheusMetrics({ version, runtimeVersion, startedAtMs: clock.nowMs() });
  const activeRuns = new ActiveRuns({ ...sync, metrics });
  const verifications = new AuditVerifications({ ...services.audit, timer, logger });
  const lifecycle = new Lifecycle();
  const health = { storage, clock, logger, runtimeVersion, lifecycle };
  const remote = new RememberedRemote(sync);
  const source = new RegistryFile(config.tablesFile, config.lagSeconds);
  const registryKeeper = new RegistryKeeper({ ...sync, ...services, source });
  registryKeeper.watch();
  const measured = { ...sync, ...services, ...TOOLS, metrics, activeRuns, registryKeeper };
  const handler = createRequestHandler({
    ...services,
    ...TOOLS,
    ids: sync.ids,
    metrics,
    docsAssets: new InstalledAssets(),
    consoleFiles: config.isConsoleEnabled ? new BuiltConsoleFiles() : null,
    browsers: config,
    lifecycle,
    health,
    metricsRoute: { ...measured, caches, metricsToken: config.metricsToken },
    pages: servedSync(config, sync, remote),
    runs: {
      identity: accounts,
      sync,
      activeRuns,
      files: fileFormats,
      registryKeeper,
      overview: {
        sync,
        health,
        remote,
        registryKeeper,
        traffic: new Traffic(storage.documents),
        histories: new TableHistories(),
        cron: new CronerScheduler(),
        schedule: config.schedule,
      },
    },
    reputation: { accounts, lookups, verifications },
  });
  const schedules = startSchedules(config, services, activeRuns);
  const alertDelivery = startAlertDelivery(config, services, metrics);
  const stopRuns = async (graceMs: number) => {
    await Promise.all(schedules.map((schedule) => schedule.stop()));
    verifications.stop();
    await activeRuns.stop(graceMs);
  };
  return {
    logger,
    handler,
    isNewStore: storage.identity.isNew,
    hasAdministrator: () => accounts.accounts.hasAdministrator(),
    lookAtRegistry: () => registryKeeper.look(),
    leave: () => lifecycle.leave(),
    async drain(graceMs) {
      const startedAtMs = clock.monotonicMs();
      await within(timer, graceMs, lifecycle.drain());
      return Math.max(0, graceMs - (clock.monotonicMs() - startedAtMs));
    },
    stopRuns,
    async close() {
      await stopRuns(CLOSE_GRACE_MS);
      await registryKeeper.stop();
      await alertDelivery?.stop();
      await stopLookups();
      await services.close();
    },
  };
}

/** Warns of settings with which a service starts, but hardly works. */
function warnOf({ isSyncEnabled, syncApiKey, tls }: Config, { clock, logger }: Services): void {
  if (isSyncEnabled && syncApiKey === "") {
    logger.warn("SYNC_API_KEY is not set: pull and push answer 500 until it is");
  }
  if (tls !== null && tls.expiresAtMs <= clock.nowMs()) {
    logger.warn("The certificate of TLS_CERT_FILE has expired: clients refuse it");
  }
}

/** Null where `WEBHOOK_URL` is not set. */
function startAlertDelivery(
  { webhook }: Config,
  services: Services,
  metrics: Metrics,
): AlertDelivery | null {
  if (webhook === null) return null;
  const { url, secret, allowsPrivate } = webhook;
  const delivery = new AlertDelivery({
    ...services.sync,
    outbox: services.outbox,
    sender: new WebhookSender({ url: new URL(url), allowsPrivate }),
    secret,
    mac: services.accounts.mac,
    metrics,
  });
  void tellDamage(services, delivery);
  return delivery;
}

/** Alerts of the first damage, once. D-11.6. */
async function tellDamage({ damage, alerts }: Services, delivery: AlertDelivery): Promise<void> {
  const { message } = await damage.first;
  const alert = alerts?.make({ type: "store.damaged", error: message });
  if (alert !== undefined) await delivery.tell(alert);
}

/** Prepares the store, keeps others from filling it, and resolves to what signing in needs. Throws `AppError`, with the store closed. */
async function takeStore(config: Config, services: Services): Promise<SessionDeps> {
  const { storage, close } = services;
  try {
    await services.prepare();
    await services.makeAdministrator();
    await storage.hold();
    return await makeSessionDeps(config, services);
  } catch (error) {
    await close();
    throw error;
  }
}

function servedSync(config: Config, sync: Services["sync"], remote: RememberedRemote): ServedSync {
  return {
    ...sync,
    ...TOOLS,
    syncApiKey: config.syncApiKey,
    maxBodyBytes: config.maxBodyBytes,
    maxDecompressedBytes: config.maxDecompressedBytes,
    maxPushRecords: config.maxPushRecords,
    readRemoteId: () => remote.deploymentId(),
    collectGarbage: systemCollectGarbage,
  };
}

/** Starts pruning and the configured schedules, without those of runs while sync is disabled. */
function startSchedules(
  config: Config,
  services: Services,
  activeRuns: ActiveRuns,
): readonly (Schedule | BackupSchedule)[] {
  const { backups, schedule, compareSchedule } = config;
  const { sync, scheduleTimes, logger } = services;
  const deps = { ...sync, scheduleTimes, scheduler: new CronerScheduler(), activeRuns };
  const started: (Schedule | BackupSchedule)[] = [startPruning(deps, config.tombstoneDays)];
  if (backups !== null) {
    started.push(startBackups({ ...deps, ...backUpDeps(config, services) }, backups));
  }
  if (!sync.isSyncEnabled) {
    const ignored = schedule === null ? "SYNC_COMPARE_SCHEDULE" : "SYNC_SCHEDULE";
    const isAny = schedule !== null || compareSchedule !== null;
    if (isAny) logger.warn(`${ignored} is ignored, because SYNC_ENABLED is not true`);
    return started;
  }
  if (sync.alerts) started.push(watchAbandonedRuns(sync));
  if (schedule !== null) started.push(startSchedule(deps, schedule));
  if (compareSchedule !== null) {
    started.push(startCompareSchedule(deps, compareSchedule, config.compareRepair));
  }
  return started;
}

/** The lookups of a service, the caches that they fill, and their end. */
function makeLookups({ lookupParts, accounts, tally, clock, timer, tracing }: Services) {
  const caches: ValueCache<object>[] = [];
  const makeCache = <Value extends object>(maxEntries: number): ValueCache<Value> => {
    const cache = new LruValueCache<Value>({ maxEntries, ttlMs: REMEMBERED_LOOKUP_MS, clock });
    caches.push(cache as ValueCache<object>);
    return cache;
  };
  const lookupProcessor = new LookupProcessor({ ...lookupParts, makeCache, clock });
  const { pepperMac, crc32 } = accounts;
  const own = { lookupProcessor, pepperMac, crc32, tally };
  const deps = { ...own, clock, timer, tracing, defer: systemDefer };
  return { lookups: new Lookups(deps), caches, stop: () => lookupProcessor.stop() };
}

/** Signs with the configured secret, or one that the store keeps from the first start on. */
async function makeSessionDeps(
  config: Config,
  { accounts, storage, clock }: Services,
): Promise<SessionDeps> {
  const secretDeps = { secrets: new Secrets(storage.documents), mac: accounts.mac };
  const jwtSecret = config.jwtSecret ?? (await keptSecret(secretDeps, "jwt_secret"));
  const tokens = new JoseTokenIssuer(jwtSecret, clock);
  return { ...accounts, tokens, identityProvider: identityProviderOf(config, clock) };
}

function identityProviderOf(config: Config, clock: Clock): JwksIdentityProvider | null {
  const { jwtJwksUrl: jwksUrl, jwtIssuer: issuer, jwtAudience: audience } = config;
  if (jwksUrl === null || issuer === null || audience === null) return null;
  return new JwksIdentityProvider({ jwksUrl, issuer, audience, clock });
}
