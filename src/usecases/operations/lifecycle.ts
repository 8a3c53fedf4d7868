/** Knows whether a deployment serves, is about to stop, or only ends the requests that it has in hand. D-10.5. */
export class Lifecycle {
  #phase: "serving" | "leaving" | "draining" = "serving";
  #inHand = 0;
  #onEmpty = () => {};

  /** False from the stop signal on: balancers are to send nothing more. */
  get isServing(): boolean {
    return this.#phase === "serving";
  }

  /** True once no further request is taken. */
  get isDraining(): boolean {
    return this.#phase === "draining";
  }

  /** A stop was asked for; requests are taken as before. */
  leave(): void {
    if (this.#phase === "serving") this.#phase = "leaving";
  }

  /** Takes no further request. Resolves when those in hand have ended. */
  async drain(): Promise<void> {
    this.#phase = "draining";
    if (this.#inHand === 0) return;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** Notes a request that comes; `end` has to be called for one that was taken. False when it is not taken. */
  begin(): boolean {
    if (this.isDraining) return false;
    this.#inHand++;
    return true;
  }

  end(): void {
    this.#inHand--;
    if (this.#inHand === 0) this.#onEmpty();
  }
}
