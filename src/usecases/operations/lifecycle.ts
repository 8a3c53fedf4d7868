/** Whether a deployment serves, is about to stop, or only ends the requests in hand. D-10.5. */
export class Lifecycle {
  #phase: "serving" | "leaving" | "draining" = "serving";
  #inHand = 0;
  #onEmpty = () => {};

  /** False from the stop signal on: balancers send no more requests. */
  get isServing(): boolean {
    return this.#phase === "serving";
  }

  get isDraining(): boolean {
    return this.#phase === "draining";
  }

  /** A stop begins; requests are taken as before. */
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

  /** Takes a request, for which `end` is to be called. False when it is not taken. */
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
