// Backups on a schedule. Of several instances on one store, one makes each of them. D-10.7.
import { isAppError } from "../../domain/shared/errors.ts";
import { dateTimeMs, formatMs } from "../../domain/shared/time.ts";
import type { CronTimes, Ids, Scheduler } from "../../ports/runtime/runtime.ts";
import type { Settings } from "../../repositories/settings.ts";
import type { Alerts } from "../alerts/alerts.ts";
import { type LeaseDeps, tryLease } from "../sync/shared/hold-lease.ts";
import { type BackUpDeps, backUp } from "./back-up.ts";

/** When, where and how many. */
export interface BackupPlan {
  readonly cronText: string;
  readonly folder: string;
  /** Backups that stay, 1 or more. */
  readonly keep: number;
}

interface ScheduledBackupsDeps extends Omit<LeaseDeps, "clock">, BackUpDeps {
  readonly scheduler: Scheduler;
  readonly cron: CronTimes;
  readonly settings: Settings;
  readonly alerts: Alerts | null;
  readonly ids: Ids;
  readonly deploymentId: string;
}

/** When the last scheduled backup was made; a canonical time. */
const LAST_BACKUP = "last_backup";
/** Of an id, as much as tells the deployments of one folder apart. */
const ID_CHARS = 12;

export interface BackupSchedule {
  /** Lets none begin, and ends the one under way, which leaves no file. */
  stop(): Promise<void>;
}

/** Makes backups at the times of a cron expression, into files of one folder, and removes the oldest of them. */
export function startBackups(deps: ScheduledBackupsDeps, plan: BackupPlan): BackupSchedule {
  const stopping = new AbortController();
  const holder = deps.ids.next();
  let work: Promise<void> = Promise.resolve();
  deps.logger.info("Schedule started", { schedule: plan.cronText, of: "backup" });
  const schedule = deps.scheduler.start(plan.cronText, () => {
    work = makeOnce(deps, plan, { holder, stop: stopping.signal });
    return work;
  });
  return {
    async stop() {
      schedule.stop();
      stopping.abort(new Error("The service stops"));
      await work;
    },
  };
}

/** Seconds since the last scheduled backup, by its time; null before the first. */
export function backupAgeSeconds(last: string | null, nowMs: number): number | null {
  return last === null ? null : Math.max(0, nowMs - dateTimeMs(last)) / 1000;
}

interface Turn {
  readonly holder: string;
  readonly stop: AbortSignal;
}

/** Never rejects: a failure is one log line and one alert. */
async function makeOnce(
  deps: ScheduledBackupsDeps,
  plan: BackupPlan,
  { holder, stop }: Turn,
): Promise<void> {
  const { logger, alerts } = deps;
  try {
    const lease = await tryLease(deps, "backup schedule", holder, stop);
    if ("heldBy" in lease) {
      logger.info("Scheduled backup skipped: another instance is making it");
      return;
    }
    try {
      if (await isDue(deps, plan)) await makeAndPrune(deps, plan, stop);
    } finally {
      await lease.release();
    }
  } catch (error) {
    if (stop.aborted) return;
    logger.error("Scheduled backup failed", error);
    const text = isAppError(error) ? error.message : "Internal error; the log has the details";
    // A path of this machine is for its log.
    const alert = { type: "backup.failed", error: text.replaceAll(plan.folder, "…") } as const;
    await alerts?.raise(alert).catch((cause: unknown) => {
      logger.error("The alert of a failed backup could not be kept", cause);
    });
  }
}

/** False when another instance, whose clock is ahead, has just made the backup of this time. */
async function isDue({ settings, cron, clock }: ScheduledBackupsDeps, { cronText }: BackupPlan) {
  const last = await settings.read(LAST_BACKUP);
  if (last === null) return true;
  const lastMs = dateTimeMs(last);
  const nowMs = clock.nowMs();
  const nextMs = cron.nextAfter(cronText, lastMs);
  // A time to come was written before the clock was set back.
  return lastMs > nowMs || (nextMs !== null && nextMs <= nowMs);
}

async function makeAndPrune(
  deps: ScheduledBackupsDeps,
  { folder, keep }: BackupPlan,
  stop: AbortSignal,
): Promise<void> {
  const { files, settings, clock, logger } = deps;
  await files.makeFolder(folder);
  const at = formatMs(clock.nowMs());
  const prefix = `repsync-${deps.deploymentId.slice(-ID_CHARS)}-`;
  const name = `${prefix}${at.slice(0, 19).replaceAll(/[-:]/g, "")}Z.backup`;
  const made = await backUp(deps, { path: `${folder}/${name}`, isForced: false, stop });
  await settings.keep(LAST_BACKUP, at);
  const { bytes, rows } = made;
  logger.info("Backup made", { file: name, bytes, rows });
  // Sorted by time. What a killed process has left of one is ours, too.
  const own = (await files.list(folder)).filter((found) => isOwn(found, prefix)).sort();
  const rest = (await files.list(folder)).filter((found) => isRest(found, prefix));
  for (const old of [...own.slice(0, -keep), ...rest]) await files.remove(`${folder}/${old}`);
}

function isOwn(name: string, prefix: string): boolean {
  return name.startsWith(prefix) && /^\d{8}T\d{6}Z\.backup$/.test(name.slice(prefix.length));
}

function isRest(name: string, prefix: string): boolean {
  return name.startsWith(`.${prefix}`) && /Z\.backup\.part-\d+/.test(name);
}
