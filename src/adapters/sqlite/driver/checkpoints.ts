import type { OpenConnection } from "./open-connection.ts";

/** In pages. The commit that finds this many in the log copies them to the file, which takes some milliseconds. */
export const CHECKPOINT_PAGES = 1_000;

/** Decides when the log is copied to the file: by a commit, or by another thread where that would take long. */
export class Checkpoints {
  readonly #connection: OpenConnection;
  #isAside = false;
  #isClosed = false;
  /** Ends when the other thread does. */
  #copying: Promise<void> = Promise.resolve();

  constructor(connection: OpenConnection) {
    this.#connection = connection;
  }

  /** Lets the commit that finds this many pages in the log copy it; none does while another thread is to. */
  copyAt(pages: number): void {
    if (!this.#isAside && !this.#isClosed) this.#connection.set("wal_autocheckpoint", pages);
  }

  /** Leaves the log of the write that is under way to another thread, where there is one. */
  leaveAside(): void {
    if (this.#connection.driver.checkpointAside === undefined) return;
    this.copyAt(0);
    this.#isAside = true;
  }

  /** Begins to copy, once that write has ended, what was left to another thread. */
  copyAside(): void {
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
