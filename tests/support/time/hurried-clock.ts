import type { Clock } from "../../../src/ports/runtime/runtime.ts";

/** More than a turn, and less than a step that makes a write a long one. */
const STEP_MS = 20;

/** A clock by which every small step takes a whole turn, so that long work lets others in after each. */
export class HurriedClock implements Clock {
  readonly #stepMs: number;
  #ms = 0;

  constructor(stepMs = STEP_MS) {
    this.#stepMs = stepMs;
  }

  nowMs(): number {
    return 0;
  }

  monotonicMs(): number {
    this.#ms += this.#stepMs;
    return this.#ms;
  }
}
