// Copies the file in a thread of its own: SQLite does it in one call, in which a thread can do nothing else.
import { isAppError } from "../../../domain/shared/errors.ts";
import { openBunSqlite } from "../driver/bun-driver.ts";
import { type CopyOrder, copyFile } from "./backup-file.ts";

declare const self: Worker;

self.onmessage = async ({ data }: MessageEvent<CopyOrder>) => {
  try {
    const counts = await copyFile(openBunSqlite, data, (news) => self.postMessage({ news }));
    self.postMessage({ end: { counts } });
  } catch (error) {
    const kind = isAppError(error) ? error.kind : null;
    const message = error instanceof Error ? error.message : String(error);
    self.postMessage({ end: { kind, message } });
  }
};
