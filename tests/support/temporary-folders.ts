import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SHARED_MEMORY = "/dev/shm";
const PLENTY_BYTES = 8 * 1024 ** 3;

/**
 * The folder for temporary files: shared memory where there is plenty and programs can be started from it, else the system's.
 * On a disk, servers sync their files all the time, and a tenth of the tests' processor time goes into files.
 */
export function memoryRoot(): string {
  const probe = join(SHARED_MEMORY, `repsync-probe-${process.pid}`);
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    if (bavail * bsize < PLENTY_BYTES) return tmpdir();
    writeFileSync(probe, "", { mode: 0o700 });
    accessSync(probe, constants.X_OK);
    return SHARED_MEMORY;
  } catch {
    return tmpdir();
  } finally {
    rmSync(probe, { force: true });
  }
}

/** Removes a folder once its standard input ends, as it does with our process, however that comes about. */
const REMOVE_FOLDER_AT_EOF = `
trap "" INT TERM HUP
read -r _
tries=0
while [ -e "$1" ] && [ $tries -lt 100 ]; do
  rm -rf "$1" 2>/dev/null
  tries=$((tries + 1))
  sleep 0.1
done`;

/** Held, so that none is collected: its standard input would end. */
const guards = new Set<ChildProcess>();

/** A temporary folder that cannot outlive this process, not even after a SIGKILL. */
export interface GuardedFolder {
  readonly path: string;
  /** Removes it before that; programs that use it have ended. */
  remove(): void;
}

export function makeGuardedFolder(prefix: string, root = memoryRoot()): GuardedFolder {
  const path = mkdtempSync(join(root, prefix));
  const guard = spawn("sh", ["-c", REMOVE_FOLDER_AT_EOF, "sh", path], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  guards.add(guard);
  return {
    path,
    remove() {
      rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
      guard.stdin.end();
      guards.delete(guard);
    },
  };
}
