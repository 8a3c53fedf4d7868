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
