// Time in which work that lets others have their turn stops there, until the test lets it go on.
import { SystemClock, SystemTimer } from "../../../src/adapters/system/system.ts";
import type { TimeDeps } from "../../../src/app/services.ts";

/** Real time but for that. */
export function holdTurns(): { readonly time: TimeDeps; release(): void } {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const timer = new SystemTimer();
  const sleep = (durationMs: number, signal?: AbortSignal) =>
    durationMs === 0 ? released : timer.sleep(durationMs, signal);
  return { time: { clock: new SystemClock(), timer: { sleep } }, release };
}
