import { type FileHandle, open } from "node:fs/promises";
import { AppError } from "../../domain/errors.ts";

/**
 * Brings the write-ahead log of a database to the disk without stopping the event loop, once for all who wait for it.
 * A commit that SQLite did not sync itself is durable when the sync that began after it has ended: its frames are in
 * the log, or a checkpoint has synced both files since.
 */
export class WalSync {
  readonly #path: string;
  #file: Promise<FileHandle> | null = null;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(databasePath: string) {
    this.#path = `${databasePath}-wal`;
  }

  /** Resolves when everything written before the call is on the disk. Throws `store_unavailable`. */
  sync(): Promise<void> {
    const begin = () => {
      this.#running = this.#next ?? this.#running;
      this.#next = null;
      return this.#syncNow();
    };
    this.#next ??= this.#running.then(begin, begin);
    return this.#next;
  }

  /** Lets the file go. */
  async close(): Promise<void> {
    const file = await this.#file?.catch(() => null);
    this.#file = null;
    await file?.close();
  }

  async #syncNow(): Promise<void> {
    try {
      this.#file ??= open(this.#path, "r+");
      await (await this.#file).datasync();
    } catch (cause) {
      this.#file = null;
      throw new AppError("store_unavailable", "The database is unavailable: the disk failed", {
        cause,
      });
    }
  }
}
