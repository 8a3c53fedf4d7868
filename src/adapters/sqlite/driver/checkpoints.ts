import { CHECKPOINT_PAGES, type OpenConnection, PRAGMAS } from "./open-connection.ts";

/** For long writes, in KiB as SQLite takes it. */
const LONG_WRITE_CACHE = -16_384;

/** Decides when the log is copied to the file: by a commit, or by another thread where that would take long. */
export class Checkpoints {
  readonly #connection: OpenConnection;
  #isLong = false;
  #isAside = false;
  #isClosed = false;
  /** Ends when the other thread does. */
  #copying: Promise<void> = Promise.resolve();

  constructor(connection: OpenConnection) {
    this.#connection = connection;
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
    if (this.#connection.driver.checkpointAside === undefined) return;
    this.copyAt(0);
    this.#isAside = true;
  }

  /** Begins to copy, once a write has ended, what was left to another thread. */
  endWrite(): void {
    if (!this.#isLong || this.#isClosed) return;
    this.#isLong = false;
    this.#connection.set({ cache_size: PRAGMAS.cache_size });
    if (!this.#isAside) return;
    const copied = this.#connection.driver.checkpointAside?.() ?? Promise.resolve();
    this.#copying = copied.then(() => {
      this.#isAside = false;
      this.copyAt(CHECKPOINT_PAGES);
    });
  }

  /** Waits for the other thread. Call it before the connection is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#copying;
  }
}
