import { AppError, type AppErrorKind } from "../../../domain/shared/errors.ts";
import type { BackUpJob, CopyCounts, CopyProgress } from "../../../ports/copies/store-copies.ts";
import type { OpenSqlite, SqliteConnection } from "../driver/driver.ts";
import { copyFile } from "./backup-file.ts";

const WORKER = new URL("./copy-worker.ts", import.meta.url);

type WorkerEnd =
  | { readonly counts: CopyCounts }
  | { readonly kind: AppErrorKind | null; readonly message: string };

/** The file of a store, and how it is opened. */
export interface StoreFile {
  readonly openSqlite: OpenSqlite;
  /** Null for `:memory:`. */
  readonly path: string | null;
}

/** As `StoreCopies.backUp()`, beside other work of this process where the driver has threads. */
export async function backUp({ openSqlite, path }: StoreFile, job: BackUpJob): Promise<CopyCounts> {
  if (path === null) {
    const text = "The store is kept in the memory of one process: no other one can read it";
    throw new AppError("invalid_request", text);
  }
  const { facts, onProgress = () => {}, stop } = job;
  stop?.throwIfAborted();
  const order = { source: path, target: job.path, facts };
  const probe = await openSqlite(path);
  try {
    if (probe.runAside === undefined) return await copyFile(openSqlite, order, onProgress);
    return await copyAside(probe.runAside, order, { onProgress, stop });
  } finally {
    probe.close();
  }
}

async function copyAside(
  runAside: NonNullable<SqliteConnection["runAside"]>,
  order: object,
  {
    onProgress,
    stop,
  }: { onProgress: (progress: CopyProgress) => void; stop: AbortSignal | undefined },
): Promise<CopyCounts> {
  const work = runAside(WORKER, order, (news) => onProgress(news as CopyProgress));
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const onStop = () => {
    work.stop();
    reject(stop?.reason);
  };
  stop?.addEventListener("abort", onStop, { once: true });
  try {
    const end = (await Promise.race([work.ended, stopped])) as WorkerEnd;
    if ("counts" in end) return end.counts;
    if (end.kind === null) throw new Error(end.message);
    throw new AppError(end.kind, end.message);
  } finally {
    work.ended.catch(() => {});
    stop?.removeEventListener("abort", onStop);
  }
}
