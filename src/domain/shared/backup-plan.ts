// Backups on a schedule: what is wanted of them, their names, and which of them are too old. D-10.7.
import { dateTimeMs } from "./time.ts";

export interface BackupPlan {
  readonly cronText: string;
  readonly folder: string;
  /** Backups that stay, 1 or more. */
  readonly keep: number;
}

/** The setting that holds the canonical time of the last backup. */
export const LAST_BACKUP = "last_backup";
/** Last characters of the deployment id in a backup's file name. */
const ID_CHARS = 12;

export function backupName(deploymentId: string, at: string): string {
  return `${prefixOf(deploymentId)}${at.slice(0, 19).replaceAll(/[-:]/g, "")}Z.backup`;
}

/**
 * The files to remove: the deployment's backups beyond the last `keep`, and parts that a killed process left. `newest` is the
 * backup made last: those with later names are of a clock that was ahead, and count as the oldest.
 */
export function oldBackups(
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

/** Null before the first scheduled backup; `last` is its canonical time. */
export function backupAgeSeconds(last: string | null, nowMs: number): number | null {
  return last === null ? null : Math.max(0, nowMs - dateTimeMs(last)) / 1000;
}
