import type { Random } from "../../ports/runtime/random.ts";

/** The runtime's generator. */
export class SystemRandom implements Random {
  next(): number {
    return Math.random();
  }
}
