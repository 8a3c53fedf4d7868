// Server-sent events. S-4.5.3, D-4.4.
import { KEEP_ALIVE_MS } from "../domain/shared/limits.ts";
import { type Timer, within } from "../ports/runtime/runtime.ts";

const KEEP_ALIVE = ": keep-alive\n\n";

/** A line of a stream that is no event; programs that read events skip it. */
export class StreamComment {
  readonly text: string;

  /** `text` is one line. */
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Events as they come, each as one `data:` line, with a comment after each silence of `KEEP_ALIVE_MS`. An event is asked for
 * only when the client has taken the one before it; when the client leaves, `told` is ended.
 */
export function streamOf(
  told: AsyncGenerator<object, void, undefined>,
  naming: (event: object) => unknown,
  timer: Timer,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const lineOf = (event: object) =>
    event instanceof StreamComment ? `: ${event.text}` : `data: ${JSON.stringify(naming(event))}`;
  let isLeft = false;
  let next: Promise<IteratorResult<object, void>> | null = null;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= told.next();
        const arrival = await within(timer, KEEP_ALIVE_MS, next);
        if (isLeft) return;
        if (arrival === null) {
          controller.enqueue(encoder.encode(KEEP_ALIVE));
          return;
        }
        next = null;
        if (arrival.done) controller.close();
        else controller.enqueue(encoder.encode(`${lineOf(arrival.value)}\n\n`));
      },
      cancel() {
        isLeft = true;
        // Settles with the next event; nothing waits for it.
        void told.return();
      },
    },
    { highWaterMark: 0 },
  );
}
