// JavaScriptCore lets garbage grow to several times what is in use: hundreds of megabytes.
// A service that shares its machine collects earlier.
import process from "node:process";

/** Resident memory up to which nothing is done. */
const UNTOUCHED_BYTES = 200_000_000;
/** Growth since the start or the last collection that is waited for: what is in use must not cause them. */
const GROWTH = 1.2;
/**
 * The same after a collection that gave less than half of the growth back. Each stops the service for up to 100 ms; where
 * they free little, as under lookups, what JavaScriptCore does beside the work keeps the process as small.
 */
const GROWTH_AFTER_VAIN = 1.4;
const CHECK_EVERY_MS = 50;

/** Collects garbage whenever the process has grown large, until the returned function is called. */
export function boundMemory(): () => void {
  let leastBytes = residentBytes();
  let limitBytes = Math.max(UNTOUCHED_BYTES, leastBytes * GROWTH);
  const timer = setInterval(() => {
    const beforeBytes = residentBytes();
    if (beforeBytes < limitBytes) return;
    Bun.gc(true);
    const afterBytes = residentBytes();
    const isVain = beforeBytes - afterBytes < (beforeBytes - leastBytes) / 2;
    leastBytes = afterBytes;
    limitBytes = Math.max(UNTOUCHED_BYTES, afterBytes * (isVain ? GROWTH_AFTER_VAIN : GROWTH));
  }, CHECK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** 0 where it cannot be told, as while the process has no file descriptor left to read it with. */
function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}
