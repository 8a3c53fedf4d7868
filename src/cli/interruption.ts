import { AppError } from "../domain/shared/errors.ts";

/**
 * SIGINT and SIGTERM. The first one stops the command where it can be stopped between two writes, and ends the process
 * otherwise; the second one ends it at once. Writes are commits, so neither leaves half of one.
 */
export class Interruption {
  readonly #end: (signal: NodeJS.Signals) => void;
  readonly #stops = new Set<() => void>();
  #received: NodeJS.Signals | null = null;

  /** Starts watching. `end` ends the process. */
  constructor(end: (signal: NodeJS.Signals) => void) {
    this.#end = end;
    process.on("SIGINT", (signal) => this.#receive(signal));
    process.on("SIGTERM", (signal) => this.#receive(signal));
  }

  /** Calls `stop` at the first signal, instead of ending the process. */
  onStop(stop: () => void): void {
    this.#stops.add(stop);
  }

  /** The last signal; null when there was none. */
  received(): NodeJS.Signals | null {
    return this.#received;
  }

  /** Aborted at the first signal; its reason is the `AppError` to end with. */
  stopSignal(): AbortSignal {
    const stopping = new AbortController();
    this.onStop(() => {
      stopping.abort(new AppError("sync_failed", `Stopped by ${this.#received}`));
    });
    return stopping.signal;
  }

  #receive(signal: NodeJS.Signals): void {
    const isFirst = this.#received === null;
    this.#received = signal;
    if (!isFirst || this.#stops.size === 0) this.#end(signal);
    else for (const stop of this.#stops) stop();
  }
}
