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
  const nextLimit = () => Math.max(UNTOUCHED_BYTES, residentBytes() * GROWTH);
  let limitBytes = nextLimit();
  const timer = setInterval(() => {
    if (residentBytes() < limitBytes) return;
    Bun.gc(true);
    limitBytes = nextLimit();
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
