import { Turns } from "../../../ports/runtime/turns.ts";
import type { Stopwatch } from "./deadline.ts";

/** Turns of work on many rows, the first of which begins now. D-7.9. */
export function beginTurns(clock: Stopwatch): Turns {
  return new Turns(clock, () => new Promise((resolve) => setImmediate(resolve)));
}
