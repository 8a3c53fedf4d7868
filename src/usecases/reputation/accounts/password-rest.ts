import { BUSY_LOOKUPS, PASSWORD_REST_MS } from "../../../domain/shared/limits.ts";
import type { Timer } from "../../../ports/runtime/runtime.ts";

/** Called when the check of a password begins; what it returns, when it has ended: resolves after the rest. */
export type PasswordRest = () => () => Promise<void>;

/**
 * Lets passwords rest while lookups are answered, as each password takes a core for about 20 ms. `lookups` counts those since
 * the start. D-8.5.
 */
export function makePasswordRest(timer: Timer, lookups: () => number): PasswordRest {
  return () => {
    const before = lookups();
    return async () => {
      if (lookups() - before >= BUSY_LOOKUPS) await timer.sleep(PASSWORD_REST_MS);
    };
  };
}
