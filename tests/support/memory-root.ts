import { accessSync, constants, rmSync, statfsSync, writeFileSync } from "node:fs";
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
