// Time that passes faster, for what takes seconds by its nature: waits between attempts, leases, comments in streams.

import type { TimeDeps } from "../../../src/app/services.ts";
import { REPLY_DEADLINE_MS } from "../../../src/domain/shared/limits.ts";

const startedAtMs = Date.now();
const startedMonotonicMs = performance.now();

/** One scale for every deployment of a test, so that their clocks agree. */
export function fastTime(times = 25): TimeDeps {
  const elapsedMs = () => (performance.now() - startedMonotonicMs) * times;
  return {
    clock: {
      nowMs: () => startedAtMs + Math.floor(elapsedMs()),
      monotonicMs: elapsedMs,
    },
    timer: {
      sleep: (durationMs, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve();
          const end = () => {
            clearTimeout(timer);
            signal?.removeEventListener("abort", end);
            resolve();
          };
          // The limit of a request stays as it is: hashing a password is not faster either.
          const scale = durationMs === REPLY_DEADLINE_MS ? 1 : times;
          const timer = setTimeout(end, durationMs / scale);
          signal?.addEventListener("abort", end);
        }),
    },
  };
}
