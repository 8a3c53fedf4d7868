// Successful replies. Field names become those of the wire here.
import { COMPRESSION_THRESHOLD_BYTES, KEEP_ALIVE_MS } from "../domain/shared/limits.ts";
import { formatMs } from "../domain/shared/time.ts";
import { toWire } from "../domain/shared/wire-names.ts";
import type { Digest, Gzip } from "../ports/crypto/crypto.ts";
import type { Clock, Timer } from "../ports/runtime/runtime.ts";

interface ReplyOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A reply of exactly `application/json`, as the document writes it; Bun alone would add a charset. */
export function jsonResponse(body: unknown, options: ReplyOptions = {}): Response {
  const headers = { "Content-Type": "application/json", ...options.headers };
  return Response.json(toWire(body), { status: options.status ?? 200, headers });
}

/** Replies with `{success, data, meta}`. D-5.1. */
export function dataReply(
  clock: Pick<Clock, "nowMs">,
  data: object,
  options: ReplyOptions = {},
): Response {
  const meta = { timestamp: formatMs(clock.nowMs()), version: "v1" };
  return jsonResponse({ success: true, data, meta }, options);
}

export interface PageReplyDeps {
  readonly gzip: Gzip;
  readonly digest: Digest;
}

/** The reply of a pull or a digest: compact JSON with its checksum, compressed from 1024 bytes on. S-4.1.3 to S-4.1.6. */
export async function pageReply(deps: PageReplyDeps, page: object): Promise<Response> {
  const bytes = new TextEncoder().encode(JSON.stringify(toWire(page)));
  const checksum = deps.digest.sha256Hex(bytes);
  if (bytes.length < COMPRESSION_THRESHOLD_BYTES) {
    return new Response(bytes, {
      headers: { "Content-Type": "application/json", "X-Content-SHA256": await checksum },
    });
  }
  const [hash, compressed] = await Promise.all([checksum, deps.gzip.compress(bytes)]);
  return new Response(compressed, {
    headers: {
      "Content-Type": "application/json",
      "X-Content-SHA256": hash,
      "Content-Encoding": "gzip",
      "X-Original-Size": String(bytes.length),
      "Content-Length": String(compressed.length),
    },
  });
}

const STREAM_HEADERS = {
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
        // Settles with the next event; nothing waits for it.
        void events.return();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: STREAM_HEADERS });
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
