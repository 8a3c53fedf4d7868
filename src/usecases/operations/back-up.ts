// Writes a backup; its file gets its name once it is complete. D-10.7.
import { STORE_FORMAT } from "../../domain/shared/store-format.ts";
import { formatMs } from "../../domain/shared/time.ts";
import type {
  BackUpJob,
  BackupFiles,
  CopyCounts,
  CopyJob,
  StoreCopies,
} from "../../ports/copies/store-copies.ts";
import type { Mac } from "../../ports/crypto/crypto.ts";
import type { Clock } from "../../ports/runtime/runtime.ts";
import { writeArchive } from "./archive.ts";

export interface BackUpDeps {
  readonly copies: StoreCopies;
  readonly files: BackupFiles;
  readonly clock: Clock;
  readonly mac: Mac;
  readonly version: string;
  /** Names of the secrets that the environment sets. */
  readonly outsideSecrets: readonly string[];
  /** The files of the store, which no backup replaces. */
  readonly storePaths: readonly string[];
}

/**
 * Writes a backup to a new file, or with `isForced` in the place of one. Throws as `StoreCopies.backUp()` and
 * `BackupFiles.begin()`, and then leaves no file.
 */
export async function backUp(
  deps: BackUpDeps,
  { path, isForced, ...job }: CopyJob & { readonly path: string; readonly isForced: boolean },
) {
  const { files, clock, version, outsideSecrets, storePaths } = deps;
  const file = await files.begin(path, { isForced, storePaths });
  try {
    const madeAt = formatMs(clock.nowMs());
    const facts = { madeAt, version, outsideSecrets };
    const counts = await write(deps, { ...job, path: file.tempPath, facts });
    job.stop?.throwIfAborted();
    return { ...counts, madeAt, bytes: await file.commit() };
  } catch (error) {
    await file.abandon();
    throw error;
  }
}

async function write({ copies, files, mac }: BackUpDeps, job: BackUpJob): Promise<CopyCounts> {
  if (copies.backUp !== undefined) return await copies.backUp(job);
  const { path, facts, ...rest } = job;
  const dump = await copies.dump();
  const told = { store: dump.about.store, format: STORE_FORMAT, ...facts };
  try {
    return await writeArchive({ files, path, mac }, dump, { ...rest, facts: told });
  } finally {
    await dump.close();
  }
}
