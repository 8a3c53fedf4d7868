import type { Clock } from "../../src/ports/runtime/runtime.ts";

/** A clock by which every small step takes a whole turn, so that long work lets others in after each. */
export class HurriedClock implements Clock {
  #ms = 0;

  nowMs(): number {
    return 0;
  }

  monotonicMs(): number {
    this.#ms += 1_000;
    return this.#ms;
  }
}
