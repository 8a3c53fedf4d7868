import { HEALTH_PROBE_MS } from "../../domain/shared/limits.ts";
import { formatMs } from "../../domain/shared/time.ts";
import type { Clock, Logger } from "../../ports/runtime/runtime.ts";
import type { FullStorage } from "../../ports/storage.ts";
import type { Lifecycle } from "./lifecycle.ts";

export interface HealthDeps {
  readonly storage: Pick<FullStorage, "ping">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly runtimeVersion: string;
}

export interface ProbeDeps extends HealthDeps {
  readonly lifecycle: Lifecycle;
}

/** Answers within a second. `php` holds the runtime's name and version, whatever the runtime., D-6.8. */
export async function checkHealth(deps: HealthDeps) {
  const isReachable = await reach(deps);
  return {
    status: isReachable ? "ok" : "degraded",
    db: isReachable ? "ok" : "unavailable",
    php: deps.runtimeVersion,
    timestamp: formatMs(deps.clock.nowMs()),
  } as const;
}

/** `ok` when requests may be sent here: the store answers, and no stop is under way. D-10.5. */
export async function checkReady(deps: ProbeDeps): Promise<"ok" | "stopping" | "unavailable"> {
  if (!deps.lifecycle.isServing) return "stopping";
  return (await reach(deps)) ? "ok" : "unavailable";
}

async function reach(deps: HealthDeps): Promise<boolean> {
  try {
    await deps.storage.ping(HEALTH_PROBE_MS);
    return true;
  } catch (error) {
    deps.logger.error("Store does not answer", error);
    return false;
  }
}
