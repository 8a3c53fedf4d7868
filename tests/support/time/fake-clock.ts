import type { Clock } from "../../../src/ports/runtime/runtime.ts";

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #nowMs: number;
  #monotonicMs = 0;

  /** Starts at an ISO 8601 time. */
  constructor(now = "2026-03-01T12:00:00Z") {
    this.#nowMs = Date.parse(now);
  }

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  /** Lets time pass, on both scales. */
  advance(durationMs: number): void {
    this.#nowMs += durationMs;
    this.#monotonicMs += durationMs;
  }

  /** Sets the time of day, as an operator would: durations do not notice. */
  set(now: string): void {
    this.#nowMs = Date.parse(now);
  }
}

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
