// JavaScriptCore lets garbage grow to several times what is in use: hundreds of megabytes.
// A service that shares its machine collects earlier.
import process from "node:process";

/** Resident memory up to which nothing is done. */
const UNTOUCHED_BYTES = 200_000_000;
/** Growth since the start or the last collection that is waited for: what is in use must not cause them. */
const GROWTH = 1.2;
const CHECK_EVERY_MS = 50;

/** Collects garbage whenever the process has grown large, until the returned function is called. */
export function boundMemory(): () => void {
  const nextLimit = () => Math.max(UNTOUCHED_BYTES, process.memoryUsage.rss() * GROWTH);
  let limitBytes = nextLimit();
  const timer = setInterval(() => {
    if (process.memoryUsage.rss() < limitBytes) return;
    Bun.gc(true);
    limitBytes = nextLimit();
  }, CHECK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
