// Composes one deployment: the opened services, the routes over them, and its schedules.
import { BuiltConsoleFiles, InstalledAssets } from "../adapters/built-files/built-files.ts";
import { CronerScheduler } from "../adapters/croner/croner-scheduler.ts";
import { NodeSecretComparison } from "../adapters/node-crypto/node-crypto.ts";
import { WebhookSender } from "../adapters/node-http/webhook-sender.ts";
import { PrometheusMetrics } from "../adapters/prometheus/prometheus-metrics.ts";
import { systemCollectGarbage } from "../adapters/system/system.ts";
import { WebCryptoDigest } from "../adapters/webcrypto/web-crypto-digest.ts";
import { ZlibGzip } from "../adapters/zlib/zlib-gzip.ts";
import { createRequestHandler } from "../http/app.ts";
import { DOCUMENTATION } from "../http/openapi.ts";
import type { MetricsRouteDeps } from "../http/routes/operations/operation-routes.ts";
import type { ServedSync } from "../http/routes/sync/page-routes.ts";
import type { RequestHandler } from "../ports/http/http.ts";
import type { Metrics } from "../ports/runtime/metrics.ts";
import { type Logger, within } from "../ports/runtime/runtime.ts";
import { Traffic } from "../repositories/traffic.ts";
import { AlertDelivery } from "../usecases/alerts/alert-delivery.ts";
import { Lifecycle } from "../usecases/operations/health.ts";
import { RegistryKeeper } from "../usecases/operations/registry-keeper.ts";
import { type BackupSchedule, startBackups } from "../usecases/operations/scheduled-backups.ts";
import { TableHistories } from "../usecases/operations/table-histories.ts";
import type { SessionDeps } from "../usecases/reputation/accounts/deps.ts";
import { AuditVerifications } from "../usecases/reputation/audit/verify-audit.ts";
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
import { makeLookups, makeSessionDeps } from "./service-only.ts";
import { openServices, type Services, type TimeDeps } from "./services.ts";

const CLOSE_GRACE_MS = 5_000;

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
  const registryKeeper = watchRegistry(config, services);
  const counted = { metrics, activeRuns, registryKeeper, caches };
  const handler = createRequestHandler({
    clock,
    timer,
    ids: sync.ids,
    logger,
    metrics,
    docsAssets: new InstalledAssets(),
    consoleFiles: config.isConsoleEnabled ? new BuiltConsoleFiles() : null,
    digest: new WebCryptoDigest(),
    gzip: new ZlibGzip(),
    browsers: config,
    tracing: services.tracing,
    lifecycle,
    damage: services.damage,
    health,
    metricsRoute: metricsRouteDeps(config, services, counted),
    pages: servedSync(config, services, remote),
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
    drain: (graceMs) => drainWithin(graceMs, lifecycle, services),
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

function metricsRouteDeps(
  { metricsToken }: Config,
  services: Services,
  counted: Pick<MetricsRouteDeps, "metrics" | "activeRuns" | "registryKeeper" | "caches">,
): MetricsRouteDeps {
  const { memory, rejected } = services.sync;
  const comparison = new NodeSecretComparison();
  return { ...services, ...counted, metricsToken, comparison, memory, rejected };
}

function watchRegistry({ tablesFile, lagSeconds }: Config, services: Services): RegistryKeeper {
  const { ids, leases } = services.sync;
  const source = new RegistryFile(tablesFile, lagSeconds);
  const keeper = new RegistryKeeper({ ...services, ids, leases, source });
  keeper.watch();
  return keeper;
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

function servedSync(
  config: Config,
  { sync, storage }: Services,
  remote: RememberedRemote,
): ServedSync {
  return {
    ...sync,
    deploymentId: storage.identity.deploymentId,
    syncApiKey: config.syncApiKey,
    maxBodyBytes: config.maxBodyBytes,
    maxDecompressedBytes: config.maxDecompressedBytes,
    maxPushRecords: config.maxPushRecords,
    readRemoteId: () => remote.deploymentId(),
    collectGarbage: systemCollectGarbage,
    gzip: new ZlibGzip(),
    digest: new WebCryptoDigest(),
    comparison: new NodeSecretComparison(),
  };
}

/** Starts the configured schedules, without those of runs while sync is disabled, and pruning. */
function startSchedules(
  config: Config,
  services: Services,
  activeRuns: ActiveRuns,
): readonly (Schedule | BackupSchedule)[] {
  const scheduler = new CronerScheduler();
  const pruning = startPruning({ ...services.sync, scheduler }, config.tombstoneDays);
  const backups = startScheduledBackups(config, services, scheduler);
  const runs = startRunSchedules(config, services, activeRuns, scheduler);
  return [pruning, ...(backups === null ? [] : [backups]), ...runs];
}

/** Null where `BACKUP_SCHEDULE` is not set. */
function startScheduledBackups(
  config: Config,
  services: Services,
  scheduler: CronerScheduler,
): BackupSchedule | null {
  if (config.backups === null) return null;
  const { storage, sync, scheduleTimes } = services;
  const { deploymentId } = storage.identity;
  const deps = { ...sync, ...backUpDeps(config, services), scheduleTimes, deploymentId, scheduler };
  return startBackups(deps, config.backups);
}

function startRunSchedules(
  { schedule, compareSchedule, compareRepair }: Config,
  { sync, scheduleTimes, logger }: Services,
  activeRuns: ActiveRuns,
  scheduler: CronerScheduler,
): readonly Schedule[] {
  if (!sync.isSyncEnabled) {
    const ignored = schedule === null ? "SYNC_COMPARE_SCHEDULE" : "SYNC_SCHEDULE";
    const isAny = schedule !== null || compareSchedule !== null;
    if (isAny) logger.warn(`${ignored} is ignored, because SYNC_ENABLED is not true`);
    return [];
  }
  const deps = { ...sync, scheduleTimes, scheduler, activeRuns };
  return [
    ...(sync.alerts ? [watchAbandonedRuns(sync)] : []),
    ...(schedule === null ? [] : [startSchedule(deps, schedule)]),
    ...(compareSchedule === null
      ? []
      : [startCompareSchedule(deps, compareSchedule, compareRepair)]),
  ];
}

async function drainWithin(
  graceMs: number,
  lifecycle: Lifecycle,
  { clock, timer }: Services,
): Promise<number> {
  const startedAtMs = clock.monotonicMs();
  await within(timer, graceMs, lifecycle.drain());
  return Math.max(0, graceMs - (clock.monotonicMs() - startedAtMs));
}
