import { AppError } from "../domain/shared/errors.ts";

/** SIGINT and SIGTERM, as a command meets them. */
export interface Interruption {
  /** Calls `stop` at the first signal, instead of ending the process; returns what takes that back. */
  onStop(stop: () => void): () => void;
  /** The signal that came; null when none has. */
  received(): NodeJS.Signals | null;
}

/** Aborted at the first signal; its reason is the `AppError` to end with. */
export function stopSignal(interruption: Interruption): AbortSignal {
  const stopping = new AbortController();
  interruption.onStop(() =>
    stopping.abort(new AppError("sync_failed", `Stopped by ${interruption.received()}`)),
  );
  return stopping.signal;
}

/**
 * Watches for signals. The first one stops the command where it can be stopped between two writes, and ends the process
 * otherwise; the second one ends it at once. Writes are commits, so neither leaves half of one.
 */
export function watchInterruption(end: (signal: NodeJS.Signals) => void): Interruption {
  const stops = new Set<() => void>();
  let received: NodeJS.Signals | null = null;

  function receive(signal: NodeJS.Signals): void {
    const isFirst = received === null;
    received = signal;
    if (!isFirst || stops.size === 0) end(signal);
    else for (const stop of stops) stop();
  }

  process.on("SIGINT", receive);
  process.on("SIGTERM", receive);
  return {
    onStop(stop) {
      stops.add(stop);
      return () => stops.delete(stop);
    },
    received: () => received,
  };
}
