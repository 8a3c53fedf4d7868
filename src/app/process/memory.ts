/** Collects the garbage of this process early, from `untouchedBytes` of resident memory on, where its runtime lets it grow. */
export async function boundMemory(untouchedBytes: number): Promise<void> {
  if (typeof Bun === "undefined") return;
  (await import("../../adapters/bun/memory-bound.ts")).boundMemory(untouchedBytes);
}
