import type {
  Clock,
  CollectGarbage,
  Defer,
  Ids,
  Random,
  Timer,
} from "../../ports/runtime/runtime.ts";

export class SystemClock implements Clock {
  nowMs(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }
}

export class SystemTimer implements Timer {
  async sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, durationMs);
      signal?.addEventListener("abort", end);
    });
  }
}

export class SystemIds implements Ids {
  next(): string {
    return crypto.randomUUID();
  }
}

export class SystemRandom implements Random {
  next(): number {
    return Math.random();
  }
}

export const systemDefer: Defer = (work) => void setImmediate(work);

/** Deno cannot be told to collect. */
export const systemCollectGarbage: CollectGarbage = () => {
  (globalThis as { Bun?: { gc(isForced: boolean): void } }).Bun?.gc(true);
};
