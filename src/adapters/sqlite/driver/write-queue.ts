/** Lets one write at a time hold the only connection that writes, in the order of asking. */
export class WriteQueue {
  #isTaken = false;
  readonly #waiting = new Set<() => void>();

  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** True when it was free, and is taken now. */
  take(): boolean {
    if (this.#isTaken) return false;
    this.#isTaken = true;
    return true;
  }

  /** Resolves to true once all before have released it, and to false, without it, when the signal is aborted before. */
  wait(signal: AbortSignal | null): Promise<boolean> {
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
  release(): void {
    const [next] = this.#waiting;
    this.#isTaken = next !== undefined;
    if (next === undefined) return;
    this.#waiting.delete(next);
    next();
  }
}
