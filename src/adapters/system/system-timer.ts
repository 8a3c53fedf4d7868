import type { Timer } from "../../ports/runtime/timer.ts";

/** The runtime's timers. */
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
