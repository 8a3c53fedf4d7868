import { stat } from "node:fs/promises";
import type { AppErrorKind } from "../../../domain/shared/error-kinds.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import type { BackUpJob, CopyCounts } from "../../../ports/copies/store-copies.ts";
import type { OpenSqlite } from "../driver/driver.ts";
import { copyFile } from "./sealed-file.ts";

const WORKER = new URL("./copy-worker.ts", import.meta.url);
const LOOK_EVERY_MS = 200;

/** The last message of the thread. */
export type WorkerEnd =
  | { readonly counts: CopyCounts }
  | { readonly kind: AppErrorKind | null; readonly message: string; readonly hint: string | null };

export interface StoreFile {
  readonly openSqlite: OpenSqlite;
  /** Null for `:memory:`. */
  readonly path: string | null;
}

/** Throws `invalid_request` for `:memory:`. */
export function pathOf({ path }: StoreFile): string {
  if (path !== null) return path;
  const text = "The store is kept in the memory of one process: no other one can read it";
  throw new AppError("invalid_request", text);
}

/** Copies in another thread, where the driver has threads. */
export async function backUp(file: StoreFile, job: BackUpJob): Promise<CopyCounts> {
  const { openSqlite } = file;
  const path = pathOf(file);
  const { facts, stop } = job;
  stop?.throwIfAborted();
  const order = { source: path, target: job.path, facts };
  const probe = await openSqlite(path);
  try {
    if (probe.runAside === undefined) return await copyFile(openSqlite, order);
    const work = probe.runAside(WORKER, order);
    const { promise: stopped, reject } = Promise.withResolvers<never>();
    const onStop = () => {
      work.stop();
      reject(stop?.reason);
    };
    stop?.addEventListener("abort", onStop, { once: true });
    const looking = setInterval(() => void tellBytes(path, job), LOOK_EVERY_MS);
    try {
      return resultOf((await Promise.race([work.ended, stopped])) as WorkerEnd);
    } finally {
      clearInterval(looking);
      work.ended.catch(() => {});
      stop?.removeEventListener("abort", onStop);
    }
  } finally {
    probe.close();
  }
}

function resultOf(end: WorkerEnd): CopyCounts {
  if ("counts" in end) return end.counts;
  if (end.kind === null) throw new Error(end.message);
  throw new AppError(end.kind, end.message, { hint: end.hint });
}

/** Watches the size of the copy, as SQLite copies in one call and reports nothing. */
async function tellBytes(source: string, { path, onProgress }: BackUpJob): Promise<void> {
  const [whole, copied] = await Promise.all(
    [source, path].map((file) => stat(file).catch(() => null)),
  );
  if (!whole || !copied) return;
  onProgress?.({ rows: 0, part: Math.min(1, copied.size / Math.max(1, whole.size)) });
}
