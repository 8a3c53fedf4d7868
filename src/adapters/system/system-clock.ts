import type { Clock } from "../../ports/runtime/clock.ts";

/** The machine's clock. */
export class SystemClock implements Clock {
  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }
}
