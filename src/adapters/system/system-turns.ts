import type { Turns } from "../../ports/runtime/turns.ts";

/** Turns of the runtime's event loop. */
export class SystemTurns implements Turns {
  afterThis(work: () => void): void {
    setImmediate(work);
  }
}
