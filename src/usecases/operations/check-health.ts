import { HEALTH_PROBE_MS } from "../../domain/shared/limits.ts";
import { formatMs } from "../../domain/shared/time.ts";
import type { Clock, Logger } from "../../ports/runtime/runtime.ts";
import type { Storage } from "../../ports/storage.ts";
import type { Lifecycle } from "./lifecycle.ts";

/** `php` holds the runtime's name and version whatever the runtime is. D-6.8. */
interface Health {
  readonly status: "ok" | "degraded";
  readonly db: "ok" | "unavailable";
  readonly php: string;
  readonly timestamp: string;
}

export interface HealthDeps {
  readonly storage: Pick<Storage, "ping">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly runtimeVersion: string;
}

/** Pings the store. Answers within a second, whatever the store does. D-6.8. */
export async function checkHealth(deps: HealthDeps): Promise<Health> {
  const isReachable = await reach(deps);
  return {
    status: isReachable ? "ok" : "degraded",
    db: isReachable ? "ok" : "unavailable",
    php: deps.runtimeVersion,
    timestamp: formatMs(deps.clock.nowMs()),
  };
}

/** Whether requests may be sent here: the store answers, and no stop was asked for. D-10.5. */
export async function checkReady(
  deps: HealthDeps & { readonly lifecycle: Lifecycle },
): Promise<"ok" | "stopping" | "unavailable"> {
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
