import { CHECKPOINT_PAGES, type OpenConnection, PRAGMAS } from "./open-connection.ts";

/** The cache during a long write; negative numbers are KiB. */
const LONG_WRITE_CACHE = -16_384;

const WORKER = new URL("./checkpoint-worker.ts", import.meta.url);

/** Copies the log to the file: in a commit, or after a long write in another thread. */
export class Checkpoints {
  readonly #connection: OpenConnection;
  /** Null for `:memory:`. */
  readonly #path: string | null;
  #isLong = false;
  #isAside = false;
  #isClosed = false;
  #copying: Promise<void> | undefined;

  constructor(connection: OpenConnection, path: string | null) {
    this.#connection = connection;
    this.#path = path;
  }

  /** Sets the pages in the log at which a commit copies it. Does nothing while the log is left to another thread. */
  copyAt(pages: number): void {
    if (!this.#isAside && !this.#isClosed) this.#connection.set({ wal_autocheckpoint: pages });
  }

  /** Spills pages of the running write into the log before its commit, and leaves the log to another thread where there is one. */
  beginLongWrite(): void {
    if (this.#isLong) return;
    this.#isLong = true;
    this.#connection.set({ cache_size: LONG_WRITE_CACHE });
    if (this.#path === null || this.#connection.driver.runAside === undefined) return;
    this.copyAt(0);
    this.#isAside = true;
  }

  /** Starts to copy a log that was left to another thread. */
  endWrite(): void {
    if (!this.#isLong || this.#isClosed) return;
    this.#isLong = false;
    this.#connection.set({ cache_size: PRAGMAS.cache_size });
    if (!this.#isAside) return;
    const onEnd = () => {
      this.#isAside = false;
      this.copyAt(CHECKPOINT_PAGES);
    };
    // A later commit copies the log when the thread fails.
    this.#copying = this.#connection.driver.runAside?.(WORKER, this.#path).ended.then(onEnd, onEnd);
  }

  /** Waits for the other thread; to be called before the connection is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#copying;
  }
}
