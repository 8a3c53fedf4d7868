// Backups on a schedule, each made by one of the instances on a store. D-10.7.

import { AppError, INTERNAL_MESSAGE, isAppError } from "../../domain/shared/errors.ts";
import { formatMs } from "../../domain/shared/time.ts";
import type { Registry } from "../../domain/sync/table/table.ts";
import type { Ids } from "../../ports/runtime/runtime.ts";
import type { TableStore } from "../../ports/tables/table-store.ts";
import type { Alerts } from "../../repositories/alert-outbox.ts";
import { isDue, type ScheduleDeps } from "../../repositories/kept-values.ts";
import { type LeaseDeps, tryLease } from "../sync/shared/hold-lease.ts";
import { type BackUpDeps, backUp } from "./backups.ts";

interface BackupPlan {
  readonly cronText: string;
  readonly folder: string;
  /** Backups that stay, 1 or more. */
  readonly keep: number;
}

interface ScheduledBackupsDeps extends Omit<LeaseDeps, "clock">, ScheduleDeps, BackUpDeps {
  readonly alerts: Alerts | null;
  readonly ids: Ids;
  readonly registry: Registry;
  readonly tables: Pick<TableStore, "page">;
  readonly deploymentId: string;
}

export interface BackupSchedule {
  /** Lets no backup begin, and ends the one under way, which leaves no file. */
  stop(): Promise<void>;
}

/** Makes backups at the times of a cron expression into one folder, and removes the oldest. */
export function startBackups(deps: ScheduledBackupsDeps, plan: BackupPlan): BackupSchedule {
  const stopping = new AbortController();
  let work: Promise<void> = Promise.resolve();
  deps.logger.info("Schedule started", { schedule: plan.cronText, of: "backup" });
  const schedule = deps.scheduler.start(plan.cronText, () => {
    work = makeOnce(deps, plan, stopping.signal);
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

/** Never rejects: a failure is one log line and one alert. */
async function makeOnce(
  deps: ScheduledBackupsDeps,
  plan: BackupPlan,
  stop: AbortSignal,
): Promise<void> {
  await using held = new AsyncDisposableStack();
  try {
    const lease = await tryLease(deps, "backup schedule", deps.ids.next(), stop);
    if ("heldBy" in lease) {
      deps.logger.info("Scheduled backup skipped: another instance is making it");
      return;
    }
    held.use(lease);
    if (await isDue(deps, "last_backup", plan.cronText)) await makeAndPrune(deps, plan, stop);
  } catch (error) {
    if (!stop.aborted) await tellFailure(deps, plan, error);
  }
}

/** Raises one alert for all instances that fail at a time. Never rejects. */
async function tellFailure(
  deps: ScheduledBackupsDeps,
  { folder, cronText }: BackupPlan,
  error: unknown,
): Promise<void> {
  const { logger, alerts, scheduleTimes, clock } = deps;
  logger.error("Scheduled backup failed", error);
  const text = isAppError(error) ? error.text : INTERNAL_MESSAGE;
  try {
    if (alerts === null || !(await isDue(deps, "last_backup_failure", cronText))) return;
    // Paths of this machine stand in its log only.
    await alerts.raise({ type: "backup.failed", error: text.replaceAll(folder, "…") });
    await scheduleTimes.keep("last_backup_failure", formatMs(clock.nowMs()));
  } catch (cause) {
    logger.error("The alert of a failed backup could not be kept", cause);
  }
}

async function makeAndPrune(
  deps: ScheduledBackupsDeps,
  { folder, keep }: BackupPlan,
  stop: AbortSignal,
): Promise<void> {
  const { files, scheduleTimes, clock, logger, deploymentId } = deps;
  await files.makeFolder(folder);
  const at = formatMs(clock.nowMs());
  const name = backupName(deploymentId, at);
  const made = await backUp(deps, { path: `${folder}/${name}`, isForced: false, stop });
  await scheduleTimes.keep("last_backup", at);
  const { bytes, rows } = made;
  logger.info("Backup made", { file: name, bytes, rows });
  // Older backups stay until all can be read.
  const lacking = await lackingTexts(deps);
  if (lacking.length > 0) {
    throw new AppError("schema_conflict", `Made, but values may be missing. ${lacking.join("\n")}`);
  }
  const old = oldBackups(await files.list(folder), deploymentId, { keep, newest: name });
  for (const file of old) await files.remove(`${folder}/${file}`);
}

/** Why a backup may lack rows: the tables that cannot be read, and, unless it is the whole file, those that are not used. */
async function lackingTexts({ copies, registry, tables }: ScheduledBackupsDeps): Promise<string[]> {
  const { stopped = new Map<string, string>() } = registry;
  const texts = copies.backUp === undefined ? [...stopped.values()] : [];
  for (const table of registry.values()) {
    if (stopped.has(table.name)) continue;
    const reading = tables.page(table, { from: { offsetRows: 0 }, limitRows: 1 });
    const isRead = await reading.then(
      () => true,
      () => false,
    );
    if (!isRead) texts.push(`Table "${table.name}" cannot be read: it may be gone`);
  }
  return texts;
}

/** Last characters of the deployment id in a backup's file name. */
const ID_CHARS = 12;

function backupName(deploymentId: string, at: string): string {
  return `${prefixOf(deploymentId)}${at.slice(0, 19).replaceAll(/[-:]/g, "")}Z.backup`;
}

/**
 * The files to remove: the deployment's backups beyond the last `keep`, and parts that a killed process left. `newest` is the
 * backup made last: those with later names are of a clock that was ahead, and count as the oldest.
 */
function oldBackups(
  files: readonly string[],
  deploymentId: string,
  { keep, newest }: { readonly keep: number; readonly newest: string },
): readonly string[] {
  const prefix = prefixOf(deploymentId);
  const isOwn = (name: string) =>
    name.startsWith(prefix) && /^\d{8}T\d{6}Z\.backup$/.test(name.slice(prefix.length));
  const isRest = (name: string) =>
    name.startsWith(`.${prefix}`) && /Z\.backup\.part-\d+/.test(name);
  const { ahead = [], others = [] } = Object.groupBy(files.filter(isOwn).sort(), (name) =>
    name > newest ? "ahead" : "others",
  );
  return [...[...ahead, ...others].slice(0, -keep), ...files.filter(isRest)];
}

function prefixOf(deploymentId: string): string {
  return `repsync-${deploymentId.slice(-ID_CHARS)}-`;
}
