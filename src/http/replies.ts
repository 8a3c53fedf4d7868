// Successful replies. Field names become those of the wire here.
import { COMPRESSION_THRESHOLD_BYTES, KEEP_ALIVE_MS } from "../domain/shared/limits.ts";
import { formatMs } from "../domain/shared/time.ts";
import { toWire } from "../domain/shared/wire-names.ts";
import type { Digest, Gzip } from "../ports/crypto/crypto.ts";
import type { Clock, Timer } from "../ports/runtime/runtime.ts";
import { Turns } from "../ports/runtime/turns.ts";
import { joinBytes } from "./bodies.ts";

/** Records of a page that are written at once, first and in bytes of JSON. */
const FIRST_SLICE_ROWS = 16;
const SLICE_BYTES = 2 * 1024 * 1024;

interface ReplyOptions {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A reply of exactly `application/json`, as the document writes it; Bun alone would add a charset. */
export function jsonResponse(body: unknown, options: ReplyOptions = {}): Response {
  const headers = { "Content-Type": "application/json", ...options.headers };
  return Response.json(toWire(body), { status: options.status ?? 200, headers });
}

/** Rows of a table: the names inside them are columns, and stay as they are. */
export function rowsResponse({ items, ...list }: { readonly items: readonly object[] }): Response {
  const { table, ...rest } = toWire(list) as { readonly table?: string };
  const headers = { "Content-Type": "application/json" };
  return Response.json({ table, items, ...rest }, { headers });
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
  readonly clock: Clock;
  readonly timer: Timer;
  readonly gzip: Gzip;
  readonly digest: Digest;
}

/** A page; its records are its last field. */
interface Page {
  readonly records?: readonly object[];
}

/** The reply of a pull or a digest: compact JSON with its checksum, compressed from 1024 bytes on. S-4.1.3 to S-4.1.6. */
export async function pageReply(deps: PageReplyDeps, page: object): Promise<Response> {
  const turns = new Turns(deps.clock, () => deps.timer.sleep(0));
  const bytes = await pageBytes(page, turns);
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

/** Records are written in slices, as a page may have 32 MiB of them. D-7.9. */
async function pageBytes(
  { records, ...head }: Page,
  turns: Turns,
): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const headText = JSON.stringify(toWire(head));
  if (records === undefined) return encoder.encode(headText);
  const parts = [encoder.encode(`${headText.slice(0, -1)},"records":[`)];
  let sliceRows = FIRST_SLICE_ROWS;
  for (let from = 0; from < records.length; ) {
    if (turns.isOver) await turns.next();
    const slice = records.slice(from, from + sliceRows);
    const comma = from === 0 ? "" : ",";
    const bytes = encoder.encode(`${comma}${JSON.stringify(slice).slice(1, -1)}`);
    parts.push(bytes);
    from += slice.length;
    sliceRows = Math.max(1, Math.floor((SLICE_BYTES / bytes.length) * slice.length));
  }
  parts.push(encoder.encode("]}"));
  return joinBytes(parts);
}

const STREAM_HEADERS = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache",
  "X-Accel-Buffering": "no",
};
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
 * The reply that tells events as they come, each as one `data:` line, with a comment after each silence of
 * `KEEP_ALIVE_MS`. An event is asked for only when the client has taken the one before it; when the client leaves,
 * `events` is ended. S-4.5.3, D-4.4.
 */
export function eventStream(
  events: AsyncGenerator<object | StreamComment, void, undefined>,
  timer: Timer,
  headers: Readonly<Record<string, string>> = {},
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
        else controller.enqueue(encoder.encode(streamLine(arrival.value)));
      },
      cancel() {
        isLeft = true;
        // Settles with the next event; nothing waits for it.
        void events.return();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { ...STREAM_HEADERS, ...headers } });
}

function streamLine(event: object): string {
  const line =
    event instanceof StreamComment ? `: ${event.text}` : `data: ${JSON.stringify(toWire(event))}`;
  return `${line}\n\n`;
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
