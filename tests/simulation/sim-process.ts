// A process of one deployment that can be killed or paused at any moment: between any two of its steps, and between a
// step and the moment it learns of it.
import type { Timer } from "../../src/ports/runtime/runtime.ts";
import type { SeededRandom } from "../support/seeded-random.ts";
import { never, type SimTime } from "../support/time/sim-time.ts";

/** A running process. What it waits for never comes once it is killed. */
export class SimProcess implements Timer {
  isDead = false;
  #pausedUntilMs = 0;
  readonly #time: SimTime;
  readonly #random: SeededRandom;
  /** Longest time that a call of a store takes, each way. */
  readonly #maxDelayMs: number;

  constructor(time: SimTime, random: SeededRandom, maxDelayMs: number) {
    this.#time = time;
    this.#random = random;
    this.#maxDelayMs = maxDelayMs;
  }

  kill(): void {
    this.isDead = true;
  }

  /** Stops doing anything for a while, as a machine that is suspended. */
  pause(durationMs: number): void {
    this.#pausedUntilMs = this.#time.nowMs + durationMs;
  }

  async sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    await this.#time.sleep(durationMs, signal);
    while (this.#pausedUntilMs > this.#time.nowMs) {
      await this.#time.sleep(this.#pausedUntilMs - this.#time.nowMs);
    }
    if (this.isDead) await never();
  }

  /** The store, or part of it, as this process reaches it. */
  reach<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        return async (...args: unknown[]) => {
          await this.sleep(this.#random.next() * this.#maxDelayMs);
          const result: unknown = await member.apply(target, args);
          await this.sleep(this.#random.next() * this.#maxDelayMs);
          return isLease(result) ? this.reach(result) : result;
        };
      },
    });
  }
}

function isLease(value: unknown): value is object {
  return typeof value === "object" && value !== null && "renew" in value;
}
