import { HEALTH_PROBE_MS } from "../../domain/shared/limits.ts";
import { formatMs } from "../../domain/shared/time.ts";
import type { Clock, Logger } from "../../ports/runtime/runtime.ts";
import type { Storage } from "../../ports/storage.ts";

export interface HealthDeps {
  readonly storage: Pick<Storage, "ping">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly runtimeVersion: string;
}

/**
 * Pings the store. Answers within a second, whatever the store does; `php` holds the runtime's name and version whatever the
 * runtime is., D-6.8.
 */
export async function checkHealth(deps: HealthDeps) {
  const isReachable = await reach(deps);
  return {
    status: isReachable ? "ok" : "degraded",
    db: isReachable ? "ok" : "unavailable",
    php: deps.runtimeVersion,
    timestamp: formatMs(deps.clock.nowMs()),
  } as const;
}

/** True when requests may be sent here: the store answers, and no stop was asked for. D-10.5. */
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

// A deployment on the way to its end. D-10.5.

/** Knows whether a deployment serves, is about to stop, or only ends the requests that it has in hand. */
export class Lifecycle {
  #phase: "serving" | "leaving" | "draining" = "serving";
  #inHand = 0;
  #onEmpty = () => {};

  /** False from the stop signal on: balancers are to send nothing more. */
  get isServing(): boolean {
    return this.#phase === "serving";
  }

  /** True once no further request is taken. */
  get isDraining(): boolean {
    return this.#phase === "draining";
  }

  /** A stop was asked for; requests are taken as before. */
  leave(): void {
    if (this.#phase === "serving") this.#phase = "leaving";
  }

  /** Takes no further request. Resolves when those in hand have ended. */
  async drain(): Promise<void> {
    this.#phase = "draining";
    if (this.#inHand === 0) return;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  /** Notes a request that comes; `end` has to be called for one that was taken. False when it is not taken. */
  begin(): boolean {
    if (this.isDraining) return false;
    this.#inHand++;
    return true;
  }

  end(): void {
    this.#inHand--;
    if (this.#inHand === 0) this.#onEmpty();
  }
}
