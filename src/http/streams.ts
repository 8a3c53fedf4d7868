// Bodies that take long: server-sent events, and the bytes of files in and out. S-4.5.3, D-4.4, D-14.4.
import { AppError } from "../domain/shared/errors.ts";
import { FILE_SILENCE_MS, KEEP_ALIVE_MS } from "../domain/shared/limits.ts";
import { type Timer, within } from "../ports/runtime/runtime.ts";

const KEEP_ALIVE = ": keep-alive\n\n";

/** A line of a stream that readers of events skip. */
export class StreamComment {
  readonly text: string;

  /** `text` is one line. */
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Events as they come, each as one `data:` line, with a comment after each silence of `KEEP_ALIVE_MS`. The next event is asked
 * for when the client has taken the last; `told` ends when the client leaves.
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

// Of files only the present part is held; whoever is silent for a minute is cut off.

/** Bodies come in parts of a megabyte. Each is cut into parts of this size, as all records of a part are held at once. */
const PART_BYTES = 64 * 1024;

type Parts = AsyncGenerator<string | Uint8Array, void, undefined>;

/** The body of a reply. `parts` end when the client leaves or takes nothing for a minute; what they throw cuts the body. */
export function outgoing(parts: Parts, timer: Timer): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let taken = new AbortController();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        taken.abort();
        const { done, value } = await parts.next();
        if (done === true) return controller.close();
        controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
        taken = whenSilent(timer, () => {
          controller.error(new AppError("file_failed", "The reader took nothing for a minute"));
          void parts.return();
        });
      },
      cancel() {
        taken.abort();
        // Settles with the part in hand; nothing waits for it.
        void parts.return();
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * The bytes of a request's body, to be read once. Throws `file_failed` where it breaks off or no byte comes for a minute, and the
 * reason of `stop`, which also ends the wait. From the call on nobody else can read the body.
 */
export function incoming(
  request: Request,
  timer: Timer,
  stop: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const declared = request.headers.get("content-length");
  const reader = request.body?.getReader() ?? new Blob([]).stream().getReader();
  return bytesOf(reader, declared, timer, stop);
}

async function* bytesOf(
  reader: Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel" | "releaseLock">,
  declared: string | null,
  timer: Timer,
  stop: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let problem: string | null = null;
  let receivedBytes = 0;
  const leave = () => void reader.cancel().catch(() => {});
  stop.addEventListener("abort", leave);
  try {
    for (;;) {
      const heard = whenSilent(timer, () => {
        problem = "No byte of the body came for a minute";
        leave();
      });
      const { done, value } = await reader.read().finally(() => heard.abort());
      stop.throwIfAborted();
      if (problem !== null) throw new AppError("file_failed", problem);
      if (done) break;
      receivedBytes += value.length;
      for (let at = 0; at < value.length; at += PART_BYTES)
        yield value.subarray(at, at + PART_BYTES);
    }
    // A broken connection may look like an end.
    if (declared !== null && receivedBytes < Number(declared)) throw brokenOff();
  } catch (error) {
    stop.throwIfAborted();
    throw error instanceof AppError ? error : brokenOff(error);
  } finally {
    stop.removeEventListener("abort", leave);
    reader.releaseLock();
  }
}

/** Calls `cut` after the allowed silence, unless the returned controller is aborted before. */
function whenSilent(timer: Timer, cut: () => void): AbortController {
  const heard = new AbortController();
  void timer.sleep(FILE_SILENCE_MS, heard.signal).then(() => {
    if (!heard.signal.aborted) cut();
  });
  return heard;
}

function brokenOff(cause?: unknown): AppError {
  return new AppError("file_failed", "The body broke off before its end", { cause });
}
