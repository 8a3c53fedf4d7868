import { AppError } from "../../../domain/shared/errors.ts";
import type { TimeLimit } from "./time-limit.ts";

/** Lets one write at a time hold the only connection that writes, in the order of asking. */
export class WriteQueue {
  #isTaken = false;
  readonly #waiting = new Set<() => void>();

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Runs work while it holds the connection. Throws `store_unavailable` when that takes too long to come. */
  async run<T>(limit: TimeLimit | null, work: () => Promise<T>): Promise<T> {
    if (!this.#take() && !(await this.#wait(limit?.signal ?? null))) {
      throw new AppError(
        "store_unavailable",
        "The database is unavailable: it is being written to",
      );
    }
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  /** True when it was free, and is taken now. */
  #take(): boolean {
    if (this.#isTaken) return false;
    this.#isTaken = true;
    return true;
  }

  /** Resolves to true once all before have released it, and to false, without it, when the signal is aborted before. */
  #wait(signal: AbortSignal | null): Promise<boolean> {
    return new Promise((resolve) => {
      const onTurn = () => {
        signal?.removeEventListener("abort", onAbort);
        resolve(true);
      };
      const onAbort = () => {
        this.#waiting.delete(onTurn);
        resolve(false);
      };
      if (signal?.aborted) {
        resolve(false);
        return;
      }
      this.#waiting.add(onTurn);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  /** Hands it to whoever has waited longest. */
  #release(): void {
    const [next] = this.#waiting;
    this.#isTaken = next !== undefined;
    if (next === undefined) return;
    this.#waiting.delete(next);
    next();
  }
}
