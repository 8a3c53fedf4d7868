import type { EventOf, RequestOptions, Told } from "./interface.ts";
import { type AnyOptions, send } from "./request.ts";
import { unreachable } from "./request-error.ts";

type StreamOptions<O extends Told> = RequestOptions<O> & {
  /** Ends the stream when it is aborted. */
  readonly signal: AbortSignal;
  /** Called with each comment but those that only keep the connection open, such as `retry 3 of 8 in 4 s: <reason>`. */
  readonly onComment?: (text: string) => void;
  /** Called with the headers of the reply, before the first event. */
  readonly onHeaders?: (headers: Headers) => void;
};

/**
 * Reads a stream of events, each a JSON value in a `data:` line, until the service ends it. Throws `RequestError`, also when
 * the stream breaks off, and the signal's reason once `signal` is aborted.
 */
export async function* readEventStream<O extends Told>(
  operation: O,
  options: StreamOptions<O>,
): AsyncGenerator<EventOf<O>, void, undefined> {
  const { signal, onComment, onHeaders } = options;
  const response = await send(operation, options as AnyOptions);
  onHeaders?.(response.headers);
  for await (const line of linesOf(response, signal)) {
    if (line.startsWith("data:")) yield JSON.parse(line.slice("data:".length)) as EventOf<O>;
    else if (line.startsWith(": ") && line !== ": keep-alive") onComment?.(line.slice(2));
  }
}

async function* linesOf(response: Response, signal: AbortSignal): AsyncGenerator<string, void> {
  if (response.body === null) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    while (true) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw signal.aborted ? error : unreachable();
      });
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } finally {
    // A reader that stops early ends the request too.
    reader.cancel().catch(() => {});
  }
}
