import { useEffect, useState } from "preact/hooks";
import { readEventStream } from "../../api/event-stream.ts";
import { asRequestError, type RequestError } from "../../api/request-error.ts";
import { afterComment, afterEvent, NOTHING_TOLD, type RunProgress } from "./run-progress.ts";

/** How often what came is shown. */
const SHOW_MS = 100;
/** Between two attempts to read on. */
const AGAIN_MS = 1_500;

interface Watched {
  readonly progress: RunProgress;
  /** Why nothing comes at the moment; null when something may. */
  readonly error: RequestError | null;
}

/**
 * What a run or comparison tells, wherever it was started, from its beginning on. A stream that breaks off is read anew until
 * the run has finished. Null watches nothing.
 */
export function useRunProgress(runId: string | null): Watched {
  const [watched, setWatched] = useState<Watched>({ progress: NOTHING_TOLD, error: null });
  useEffect(() => {
    setWatched({ progress: NOTHING_TOLD, error: null });
    if (runId === null) return;
    const controller = new AbortController();
    watch(runId, controller.signal, setWatched).catch(() => {});
    return () => controller.abort();
  }, [runId]);
  return watched;
}

async function watch(
  runId: string,
  signal: AbortSignal,
  show: (watched: Watched) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      if (await readWhole(runId, signal, show)) return;
    } catch (failure) {
      if (signal.aborted) return;
      const error = asRequestError(failure);
      show({ progress: NOTHING_TOLD, error });
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
  show: (watched: Watched) => void,
): Promise<boolean> {
  let progress = NOTHING_TOLD;
  let timer: number | undefined;
  const showNow = () => {
    timer = undefined;
    if (!signal.aborted) show({ progress, error: null });
  };
  const take = (next: RunProgress) => {
    progress = next;
    timer ??= window.setTimeout(showNow, SHOW_MS);
  };
  try {
    const events = readEventStream("get /api/v1/sync/runs/{run_id}/events", {
      path: { run_id: runId },
      signal,
      onComment: (text) => take(afterComment(progress, text)),
    });
    for await (const event of events) take(afterEvent(progress, event));
  } finally {
    clearTimeout(timer);
  }
  showNow();
  return progress.isFinished;
}
