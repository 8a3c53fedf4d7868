// Whether the store answers and is whole, and whether this process takes requests.
import type { AppError } from "../../domain/shared/errors.ts";
import { HEALTH_PROBE_MS } from "../../domain/shared/limits.ts";
import { formatMs } from "../../domain/shared/time.ts";
import type { Clock, Logger } from "../../ports/runtime/runtime.ts";
import type { FullStorage } from "../../ports/storage.ts";

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

/** Whether a deployment serves, is about to stop, or only ends the requests in hand. D-10.5. */
export class Lifecycle {
  #phase: "serving" | "leaving" | "draining" = "serving";
  #inHand = 0;
  #onEmpty = () => {};

  /** False from the stop signal on: balancers send no more requests. */
  get isServing(): boolean {
    return this.#phase === "serving";
  }

  get isDraining(): boolean {
    return this.#phase === "draining";
  }

  /** A stop begins; requests are taken as before. */
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

  /** Takes a request, for which `end` is to be called. False when it is not taken. */
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

/** The damage of the store that this process has met; remembered until it ends. D-11.6. */
export class StoreDamage {
  readonly #logger: Logger;
  readonly #failures = new WeakSet<object>();
  readonly #first = Promise.withResolvers<AppError>();
  #isMet = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  get isMet(): boolean {
    return this.#isMet;
  }

  /** Resolves with the first failure; until then pending. */
  get first(): Promise<AppError> {
    return this.#first.promise;
  }

  /** Logs a failure by damage: the first as an error, later ones as warnings. */
  note(failure: AppError): void {
    this.#failures.add(failure);
    if (this.#isMet) {
      this.#logger.warn("Damage of the store was met again", { error: failure.message });
      return;
    }
    this.#isMet = true;
    this.#logger.error(`The store is damaged. ${failure.hint ?? ""}`, failure);
    this.#first.resolve(failure);
  }

  /** True for a failure that was logged already. */
  isKnown(failure: unknown): boolean {
    return typeof failure === "object" && failure !== null && this.#failures.has(failure);
  }
}
