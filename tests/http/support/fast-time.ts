// Time that passes faster, for what takes seconds by its nature: waits between attempts, leases, comments in streams.

import type { TimeDeps } from "../../../src/app/services.ts";
import { REPLY_DEADLINE_MS } from "../../../src/domain/shared/limits.ts";

const STEP_MS = 2;
/** A busy machine may leave us without a turn for longer than a lease lasts here: of such a gap only so much counts. */
const LONGEST_STEP_MS = 20;

interface Waiting {
  readonly dueMs: number;
  readonly end: () => void;
}

/** One for every deployment of a test, so that their clocks agree. It passes in steps while somebody waits. */
class FastTime {
  readonly #times: number;
  readonly #startedAtMs = Date.now();
  readonly #waiting = new Set<Waiting>();
  #elapsedMs = 0;
  #readMs = performance.now();
  #steps: ReturnType<typeof setInterval> | undefined;

  constructor(times: number) {
    this.#times = times;
  }

  elapsedMs(): number {
    const nowMs = performance.now();
    const gapMs = nowMs - this.#readMs;
    const countedMs = this.#steps === undefined ? gapMs : Math.min(gapMs, LONGEST_STEP_MS);
    this.#elapsedMs += countedMs * this.#times;
    this.#readMs = nowMs;
    return this.#elapsedMs;
  }

  nowMs(): number {
    return this.#startedAtMs + Math.floor(this.elapsedMs());
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const end = () => {
        this.#waiting.delete(waiting);
        signal?.removeEventListener("abort", end);
        if (this.#waiting.size === 0) this.#stop();
        resolve();
      };
      const waiting = { dueMs: this.elapsedMs() + durationMs, end };
      this.#waiting.add(waiting);
      this.#steps ??= setInterval(() => this.#step(), STEP_MS);
      signal?.addEventListener("abort", end);
    });
  }

  #step(): void {
    const nowMs = this.elapsedMs();
    const due = [...this.#waiting].filter(({ dueMs }) => dueMs <= nowMs);
    for (const { end } of due.sort((a, b) => a.dueMs - b.dueMs)) end();
  }

  #stop(): void {
    this.elapsedMs();
    clearInterval(this.#steps);
    this.#steps = undefined;
  }
}

const shared = new Map<number, FastTime>();

export function fastTime(times = 25): TimeDeps {
  const time = shared.get(times) ?? new FastTime(times);
  shared.set(times, time);
  return {
    clock: { nowMs: () => time.nowMs(), monotonicMs: () => time.elapsedMs() },
    timer: {
      sleep: (durationMs, signal) =>
        // The limit of a request stays as it is: hashing a password is not faster either.
        time.sleep(durationMs * (durationMs === REPLY_DEADLINE_MS ? times : 1), signal),
    },
  };
}
