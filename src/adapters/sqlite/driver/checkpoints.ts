import { CHECKPOINT_PAGES, type OpenConnection, PRAGMAS } from "./open-connection.ts";

/** For long writes, in KiB as SQLite takes it. */
const LONG_WRITE_CACHE = -16_384;

const WORKER = new URL("./checkpoint-worker.ts", import.meta.url);

/** Decides when the log is copied to the file: by a commit, or by another thread where that would take long. */
export class Checkpoints {
  readonly #connection: OpenConnection;
  /** Null for `:memory:`. */
  readonly #path: string | null;
  #isLong = false;
  #isAside = false;
  #isClosed = false;
  /** Ends when the other thread does. */
  #copying: Promise<void> | undefined;

  constructor(connection: OpenConnection, path: string | null) {
    this.#connection = connection;
    this.#path = path;
  }

  /** Lets the commit that finds this many pages in the log copy it; none does while another thread is to. */
  copyAt(pages: number): void {
    if (!this.#isAside && !this.#isClosed) this.#connection.set({ wal_autocheckpoint: pages });
  }

  /**
   * Most pages of the write that is under way go into the log before the commit, which has less to do then. The log is left
   * to another thread, where there is one.
   */
  beginLongWrite(): void {
    if (this.#isLong) return;
    this.#isLong = true;
    this.#connection.set({ cache_size: LONG_WRITE_CACHE });
    if (this.#path === null || this.#connection.driver.runAside === undefined) return;
    this.copyAt(0);
    this.#isAside = true;
  }

  /** Begins to copy, once a write has ended, what was left to another thread. */
  endWrite(): void {
    if (!this.#isLong || this.#isClosed) return;
    this.#isLong = false;
    this.#connection.set({ cache_size: PRAGMAS.cache_size });
    if (!this.#isAside) return;
    const onEnd = () => {
      this.#isAside = false;
      this.copyAt(CHECKPOINT_PAGES);
    };
    // A later commit copies the log where the thread fails.
    this.#copying = this.#connection.driver.runAside?.(WORKER, this.#path).ended.then(onEnd, onEnd);
  }

  /** Waits for the other thread. Call it before the connection is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#copying;
  }
}
