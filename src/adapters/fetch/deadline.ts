import { RemotePeerError } from "../../ports/tables/remote-peer.ts";

/** The end of one exchange: its time limit and the caller's signal in one. */
export interface Deadline {
  /** Aborted when the exchange has to end; its reason is the `RemotePeerError` that says why. */
  readonly signal: AbortSignal;
  /** Settles as `work` does, or rejects with the signal's reason when that comes first. */
  race<T>(work: Promise<T>): Promise<T>;
  /** Frees the timer and the caller's signal. */
  release(): void;
}

/** Starts the time limit. An aborted `signal` ends the exchange at once. */
export function startDeadline(limits: {
  readonly label: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}): Deadline {
  const { label, timeoutMs, signal } = limits;
  const controller = new AbortController();
  const onAbort = () => {
    const cause: unknown = signal?.reason;
    controller.abort(
      new RemotePeerError("aborted", `${label} was aborted by its caller`, { cause }),
    );
  };
  const onTimeout = () =>
    controller.abort(
      new RemotePeerError("timeout", `${label} got no complete reply within ${timeoutMs} ms`),
    );
  // On a damaged gzip body Node 20 neither fails nor ends, not even when aborted: hence the race.
  const ended = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason));
  });
  ended.catch(() => {});
  const timer = setTimeout(onTimeout, timeoutMs);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort);
  return {
    signal: controller.signal,
    race: (work) => Promise.race([work, ended]),
    release: () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    },
  };
}
