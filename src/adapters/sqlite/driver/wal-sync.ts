import { open } from "node:fs/promises";
import { AppError } from "../../../domain/shared/errors.ts";

/** An open file that can be synced. */
interface SyncedFile {
  /** Resolves when everything written to the file, by whatever process, is on the disk. */
  datasync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a file that exists. */
export type OpenSyncedFile = (path: string) => Promise<SyncedFile>;

/**
 * Syncs the write-ahead log of a database without blocking the event loop; callers that wait at the same time share one
 * sync. A commit that SQLite did not sync itself is durable once a sync that began after it has succeeded: its frames
 * are in the log, or a checkpoint has synced both files since (docs/decisions/0040).
 */
export class WalSync {
  readonly #path: string;
  readonly #open: OpenSyncedFile;
  #file: Promise<SyncedFile> | null = null;
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  constructor(databasePath: string, openFile: OpenSyncedFile = openToSync) {
    this.#path = `${databasePath}-wal`;
    this.#open = openFile;
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

  /** Closes the log file. */
  async close(): Promise<void> {
    const file = await this.#file?.catch(() => null);
    this.#file = null;
    await file?.close();
  }

  async #syncNow(): Promise<void> {
    try {
      this.#file ??= this.#open(this.#path);
      await (await this.#file).datasync();
    } catch (cause) {
      await this.close().catch(() => {});
      throw new AppError("store_unavailable", "The database is unavailable: the disk failed", {
        cause,
      });
    }
  }
}

function openToSync(path: string): Promise<SyncedFile> {
  return open(path, "r+");
}
