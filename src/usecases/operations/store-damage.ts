import type { AppError } from "../../domain/shared/errors.ts";
import type { Logger } from "../../ports/runtime/runtime.ts";

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
