import { SystemClock } from "../adapters/system/system.ts";

/** On Bun, which lets garbage grow, collects it once resident memory is above `untouchedBytes`. */
export async function boundMemory(untouchedBytes: number): Promise<void> {
  if (typeof Bun === "undefined") return;
  (await import("../adapters/bun/memory-bound.ts")).boundMemory(untouchedBytes, new SystemClock());
}
