import type { EventOf, RequestOptions, StreamOperation } from "./interface.ts";
import { type AnyOptions, cutBy, Patience, send } from "./request.ts";

type StreamOptions<O extends StreamOperation> = RequestOptions<O> & {
  readonly signal: AbortSignal;
  /** Called with each comment but `keep-alive`, such as `retry 3 of 8 in 4 s: <reason>`. */
  readonly onComment?: (text: string) => void;
  /** Called before the first event. */
  readonly onHeaders?: (headers: Headers) => void;
};

/**
 * Reads events, each a JSON value in a `data:` line, until the service ends the stream. Throws `RequestError`, also for a stream that
 * breaks off or falls silent, and the signal's reason once `signal` is aborted.
 */
export async function* readEventStream<O extends StreamOperation>(
  operation: O,
  options: StreamOptions<O>,
): AsyncGenerator<EventOf<O>, void, undefined> {
  const { signal, onComment, onHeaders } = options;
  const patience = new Patience(operation, signal);
  try {
    const response = await send(operation, options as AnyOptions, patience);
    onHeaders?.(response.headers);
    for await (const line of linesOf(response, patience)) {
      if (line.startsWith("data:")) yield JSON.parse(line.slice("data:".length)) as EventOf<O>;
      else if (line.startsWith(": ") && line !== ": keep-alive") onComment?.(line.slice(2));
    }
  } finally {
    patience.end();
  }
}

/** An idle service sends a comment every 5 seconds. */
async function* linesOf(response: Response, patience: Patience): AsyncGenerator<string, void> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    while (true) {
      const { done, value } = await reader.read().catch(cutBy(patience));
      if (done) break;
      patience.renew();
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    // Leaving early ends the request.
    reader.cancel().catch(() => {});
  }
}
