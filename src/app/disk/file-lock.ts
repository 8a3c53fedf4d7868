// Lets one process at a time change a file.
import { readFile, rm } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { hasProcessEnded } from "../../adapters/backup-files/node-backup-files.ts";
import { AppError } from "../../domain/shared/errors.ts";
import { createFile } from "./create-file.ts";

const WAIT_MS = 50;
/** A change takes milliseconds. */
const MAX_WAITS = 200;

/**
 * Does the work while no other process holds the lock of the path, a file beside it with the number of its process. Removes the
 * lock of a killed process. Throws `file_failed` when the lock does not become free, and what the work throws.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  for (let waits = 0; !(await createFile(lock, { text: `${process.pid}\n` })); waits++) {
    if (waits === MAX_WAITS) {
      throw new AppError("file_failed", `Another process is changing "${path}": see "${lock}"`);
    }
    if (!((await isAbandoned(lock)) && (await removeAbandoned(lock)))) await wait(WAIT_MS);
  }
  try {
    return await work();
  } finally {
    await rm(lock, { force: true });
  }
}

/** One process at a time, as a second one would remove the new lock of the first. */
async function removeAbandoned(lock: string): Promise<boolean> {
  const removal = `${lock}.remove`;
  if (!(await createFile(removal, { text: "" }))) return false;
  try {
    if (await isAbandoned(lock)) await rm(lock, { force: true });
  } finally {
    await rm(removal, { force: true });
  }
  return true;
}

async function isAbandoned(lock: string): Promise<boolean> {
  const holder = Number(await readFile(lock, "utf8").catch(() => process.pid));
  return hasProcessEnded(holder);
}
