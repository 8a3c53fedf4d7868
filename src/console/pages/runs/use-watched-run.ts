import { useEffect, useState } from "preact/hooks";
import { readEventStream } from "../../api/event-stream.ts";
import { asRequestError, type RequestError } from "../../api/request-error.ts";
import { reloadShown } from "../../api/use-resource.ts";
import { afterComment, afterEvent, NOTHING_TOLD, type WatchedRun } from "./watched-run.ts";

/** How often what came is shown. */
const SHOW_MS = 100;
/** Between two attempts to read on. */
const AGAIN_MS = 1_500;

interface Watching {
  readonly watched: WatchedRun;
  /** Why nothing comes at the moment; null when something may. */
  readonly error: RequestError | null;
}

/**
 * What a run or comparison tells, wherever it was started, from its beginning on. A stream that breaks off is read anew until
 * the run has finished; what the page shows of it is loaded again then.
 */
export function useWatchedRun(runId: string): Watching {
  const [watching, setWatching] = useState<Watching>({ watched: NOTHING_TOLD, error: null });
  useEffect(() => {
    setWatching({ watched: NOTHING_TOLD, error: null });
    const controller = new AbortController();
    watch(runId, controller.signal, setWatching).catch(() => {});
    return () => controller.abort();
  }, [runId]);
  return watching;
}

async function watch(
  runId: string,
  signal: AbortSignal,
  show: (watching: Watching) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      if (await readWhole(runId, signal, show)) return await reloadShown();
    } catch (failure) {
      if (signal.aborted) return;
      const error = asRequestError(failure);
      show({ watched: NOTHING_TOLD, error });
      // What is refused now is refused later too.
      if (error.status >= 400 && error.status < 500 && error.status !== 429) return;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

/** Shows what the stream tells, and whether it told the end. */
async function readWhole(
  runId: string,
  signal: AbortSignal,
  show: (watching: Watching) => void,
): Promise<boolean> {
  let watched = NOTHING_TOLD;
  let timer: number | undefined;
  const showNow = () => {
    timer = undefined;
    if (!signal.aborted) show({ watched, error: null });
  };
  const take = (next: WatchedRun) => {
    watched = next;
    timer ??= window.setTimeout(showNow, SHOW_MS);
  };
  try {
    const events = readEventStream("get /api/v1/sync/runs/{run_id}/events", {
      path: { run_id: runId },
      signal,
      onComment: (text) => take(afterComment(watched, text)),
    });
    for await (const event of events) take(afterEvent(watched, event));
  } finally {
    clearTimeout(timer);
  }
  showNow();
  return watched.isFinished;
}
