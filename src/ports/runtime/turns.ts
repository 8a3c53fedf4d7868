import { TURN_MS } from "../../domain/shared/limits.ts";
import type { Clock } from "./runtime.ts";

/** Work in small steps, between which others may have their turn. Its result is that of the last step. */
export type Steps<T> = Generator<undefined, T, undefined>;

/**
 * Shares the event loop: work that may take long asks it after every small step whether others are to have their turn.
 * D-7.9.
 */
export class Turns {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #pause: () => Promise<void>;
  #beganMs: number;

  /** The first turn begins now. `pause` resolves when others have had theirs. */
  constructor(clock: Pick<Clock, "monotonicMs">, pause: () => Promise<void>) {
    this.#clock = clock;
    this.#pause = pause;
    this.#beganMs = clock.monotonicMs();
  }

  /** Since the turn began. */
  get elapsedMs(): number {
    return this.#clock.monotonicMs() - this.#beganMs;
  }

  /** True when the turn has taken its time. */
  get isOver(): boolean {
    return this.elapsedMs >= TURN_MS;
  }

  /** Lets others have their turn, and begins the next one. */
  async next(): Promise<void> {
    await this.#pause();
    this.#beganMs = this.#clock.monotonicMs();
  }

  /** Does all steps, with turns for others in between. */
  async run<T>(steps: Steps<T>): Promise<T> {
    let step = steps.next();
    for (; !step.done; step = steps.next()) if (this.isOver) await this.next();
    return step.value;
  }
}
