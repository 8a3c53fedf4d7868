// Copies in a thread of its own, as SQLite blocks the thread during the one call.
import { isAppError } from "../../../domain/shared/errors.ts";
import { openBunSqlite } from "../driver/bun-driver.ts";
import { type CopyOrder, copyFile, type WorkerEnd } from "./sealed-file.ts";

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<CopyOrder>) => {
  const end = await copyFile(openBunSqlite, data).then(
    (counts): WorkerEnd => ({ counts }),
    (error: unknown): WorkerEnd => {
      const { kind, hint } = isAppError(error) ? error : { kind: null, hint: null };
      return { kind, hint, message: error instanceof Error ? error.message : String(error) };
    },
  );
  self.postMessage(end);
};
