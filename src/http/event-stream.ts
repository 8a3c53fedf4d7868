import { KEEP_ALIVE_MS } from "../domain/shared/limits.ts";
import { toWire } from "../domain/shared/wire-names.ts";
import type { Timer } from "../ports/runtime/runtime.ts";

const HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache",
  "X-Accel-Buffering": "no",
};
const KEEP_ALIVE = ": keep-alive\n\n";

/**
 * The reply that tells events as they come, each as one `data:` line, with a comment after each silence of
 * `KEEP_ALIVE_MS`. An event is asked for only when the client has taken the one before it; when the client leaves,
 * `events` is ended. S-4.5.3, D-4.4.
 */
export function eventStream(
  events: AsyncGenerator<object, void, undefined>,
  timer: Timer,
): Response {
  const encoder = new TextEncoder();
  let isLeft = false;
  let next: Promise<IteratorResult<object, void>> | null = null;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= events.next();
        const arrival = await beforeSilence(next, timer);
        if (isLeft) return;
        if (arrival === null) {
          controller.enqueue(encoder.encode(KEEP_ALIVE));
          return;
        }
        next = null;
        if (arrival.done) controller.close();
        else
          controller.enqueue(encoder.encode(`data: ${JSON.stringify(toWire(arrival.value))}\n\n`));
      },
      cancel() {
        isLeft = true;
        // Settles with the next event, which nobody waits for.
        void events.return();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: HEADERS });
}

/** Null when nothing has come in time. */
async function beforeSilence<T>(next: Promise<T>, timer: Timer): Promise<T | null> {
  const come = new AbortController();
  try {
    return await Promise.race([next, timer.sleep(KEEP_ALIVE_MS, come.signal).then(() => null)]);
  } finally {
    come.abort();
  }
}
