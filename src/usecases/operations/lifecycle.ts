// How far a deployment has come towards its end. D-10.5, D-10.11.

/** Knows whether a deployment serves, is about to stop, or only ends the requests that it has in hand. */
export class Lifecycle {
  #phase: "serving" | "leaving" | "draining" = "serving";
  #inHand = 0;
  #taken = 0;
  #isReplaced = false;
  readonly #onEmpty: (() => void)[] = [];

  /** False from the stop signal on: balancers are to send nothing more. */
  get isServing(): boolean {
    return this.#phase === "serving";
  }

  /** True once no further request is taken. */
  get isDraining(): boolean {
    return this.#phase === "draining";
  }

  /** True once another worker takes the next requests of the same clients. */
  get isReplaced(): boolean {
    return this.#isReplaced;
  }

  /** Requests taken since the start; null while one is in hand. */
  get takenWhenIdle(): number | null {
    return this.#inHand === 0 ? this.#taken : null;
  }

  /** Another worker takes over: requests that still come are answered as before, and their connections closed. */
  replace(): void {
    this.#isReplaced = true;
  }

  /** A stop was asked for; requests are taken as before. */
  leave(): void {
    if (this.#phase === "serving") this.#phase = "leaving";
  }

  /** Takes no further request. Resolves when those in hand have ended. */
  async drain(): Promise<void> {
    this.#phase = "draining";
    await this.empty();
  }

  /** Resolves once no request is in hand. */
  async empty(): Promise<void> {
    if (this.#inHand === 0) return;
    await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  /** Notes a request that comes; `end` has to be called for one that was taken. False when it is not taken. */
  begin(): boolean {
    if (this.isDraining) return false;
    this.#inHand++;
    this.#taken++;
    return true;
  }

  end(): void {
    this.#inHand--;
    if (this.#inHand > 0) return;
    for (const tell of this.#onEmpty.splice(0)) tell();
  }
}
