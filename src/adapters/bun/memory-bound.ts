// JavaScriptCore lets garbage grow to several times the memory in use, to hundreds of megabytes. A program that shares its
// machine collects earlier.
import process from "node:process";

/** Growth since the last collection that starts another, so that memory in use does not: files stay below 256 MiB. */
const GROWTH = 1.1;
/**
 * The same after a collection that freed less than half of the growth. A collection stops the service for up to 100 ms;
 * where it frees little, as under lookups, JavaScriptCore's own collections keep the process as small.
 */
const GROWTH_AFTER_VAIN = 1.22;
const CHECK_EVERY_MS = 50;

/** From now on, collects garbage each time resident memory has grown, once it is above `untouchedBytes`. */
export function boundMemory(untouchedBytes: number): void {
  let leastBytes = residentBytes();
  let limitBytes = Math.max(untouchedBytes, leastBytes * GROWTH);
  const timer = setInterval(() => {
    const beforeBytes = residentBytes();
    if (beforeBytes < limitBytes) return;
    Bun.gc(true);
    const afterBytes = residentBytes();
    const isVain = beforeBytes - afterBytes < (beforeBytes - leastBytes) / 2;
    leastBytes = afterBytes;
    limitBytes = Math.max(untouchedBytes, afterBytes * (isVain ? GROWTH_AFTER_VAIN : GROWTH));
  }, CHECK_EVERY_MS);
  timer.unref();
}

/** 0 when it cannot be read, such as while the process has no file descriptor left. */
function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}
