// JavaScriptCore lets garbage grow to several times what is in use; a command beside a service collects earlier.

/** Resident memory up to which nothing is done. */
const UNTOUCHED_BYTES = 130_000_000;
/** Growth since the last collection that is waited for: what is in use must not cause them. */
const GROWTH = 1.1;
const CHECK_EVERY_MS = 50;

/** Collects garbage whenever the process has grown, to its end. */
export function boundMemory(): void {
  let limitBytes = UNTOUCHED_BYTES;
  const timer = setInterval(() => {
    try {
      if (process.memoryUsage.rss() < limitBytes) return;
      Bun.gc(true);
      limitBytes = Math.max(UNTOUCHED_BYTES, process.memoryUsage.rss() * GROWTH);
    } catch {
      // It cannot be told while the process has no file descriptor left to read it with.
    }
  }, CHECK_EVERY_MS);
  timer.unref();
}
