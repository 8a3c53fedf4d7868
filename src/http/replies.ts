// Successful replies: how each kind is declared, and how it is written. S-4.1, D-5.1.
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { COMPRESSION_THRESHOLD_BYTES, KEEP_ALIVE_MS } from "../domain/shared/limits.ts";
import { formatMs } from "../domain/shared/time.ts";
import { toWire } from "../domain/shared/wire-names.ts";
import type { Digest, Gzip } from "../ports/crypto/crypto.ts";
import type { Clock, Timer } from "../ports/runtime/runtime.ts";
import { Turns } from "../ports/runtime/turns.ts";
import type { Identity } from "../usecases/reputation/accounts/identity.ts";
import { joinBytes } from "./bodies.ts";
import { headerDoc, type ReplyDocument, replyDocument } from "./document-parts.ts";
import { type Exchange, replyHeaders } from "./exchange.ts";
import { PRIVATE } from "./failures.ts";
import { type Named, namingOf } from "./naming.ts";
import { envelopeOf } from "./schemas/reputation.ts";

/** Records of a page that are written at once, first and in bytes of JSON. */
const FIRST_SLICE_ROWS = 16;
const SLICE_BYTES = 2 * 1024 * 1024;

/** What writing replies takes. */
export interface ReplyTools {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly gzip: Gzip;
  readonly digest: Digest;
  /** Gives a good reply a fresh cookie, when it is time. Never rejects. D-9.3. */
  renewCookie(exchange: Exchange, identity: Identity, reply: Response): Promise<void>;
}

/** A reply on its way; `headers` are its own, beside those of its kind. */
export interface Sending {
  readonly exchange: Exchange;
  readonly tools: ReplyTools;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** A reply as an operation declares it: what the document shows, and how a value of it is written. */
export interface ReplyKind<Value> {
  readonly document: ReplyDocument;
  send(value: Value, sending: Sending): Response | Promise<Response>;
}

type HeaderDocs = Readonly<Record<string, object>>;

/** JSON of exactly these fields. */
export function json<Schema extends TSchema>(
  description: string,
  schema: Schema,
  headers: HeaderDocs = {},
): ReplyKind<Named<Static<Schema>>> {
  const naming = namingOf(schema);
  return {
    document: replyDocument(description, { "application/json": { schema } }, headers),
    send: (value, sending) => send(JSON.stringify(naming(value)), "application/json", sending),
  };
}

/** `{success, data, meta}`. D-5.1. */
export function data<Schema extends TSchema>(
  description: string,
  schema: Schema,
  headers: HeaderDocs = {},
): ReplyKind<Named<Static<Schema>>> {
  const naming = namingOf(schema);
  const content = { "application/json": { schema: envelopeOf(schema) } };
  return {
    document: replyDocument(description, content, { ...PRIVATE, ...headers }),
    send: (value, sending) => {
      const timestamp = formatMs(sending.tools.clock.nowMs());
      const meta = `{"timestamp":"${timestamp}","version":"v1"}`;
      const text = `{"success":true,"data":${JSON.stringify(naming(value))},"meta":${meta}}`;
      return send(text, "application/json", sending);
    },
  };
}

/** Compact JSON with its checksum, compressed from 1024 bytes on. S-4.1.3 to S-4.1.6. */
export function page<Schema extends TSchema>(
  description: string,
  schema: Schema,
): ReplyKind<Named<Static<Schema>>> {
  const naming = namingOf(schema);
  return {
    document: replyDocument(description, { "application/json": { schema } }, PAGE_HEADERS),
    send: async (value, { exchange, tools }) => {
      const turns = new Turns(tools.clock, () => tools.timer.sleep(0));
      const bytes = await pageBytes(naming(value) as Page, turns);
      const { body, headers } = await compressed(tools, bytes);
      return new Response(body, { headers: { ...headers, ...replyHeaders(exchange) } });
    },
  };
}

const PAGE_HEADERS = {
  "X-Content-SHA256": headerDoc("Lowercase hexadecimal SHA-256 of the uncompressed body"),
  "X-Original-Size": headerDoc("Uncompressed bytes, only with gzip"),
  "Content-Encoding": headerDoc("gzip, for bodies of 1024 bytes or more"),
};

/** Server-sent events as they come; `event` is the schema of each. S-4.5.3. */
export function events<Schema extends TSchema>(
  description: string,
  event: Schema,
  headers: HeaderDocs = {},
): ReplyKind<AsyncGenerator<Named<Static<Schema>> | StreamComment, void, undefined>> {
  const naming = namingOf(event);
  const line = (told: object) =>
    told instanceof StreamComment ? `: ${told.text}` : `data: ${JSON.stringify(naming(told))}`;
  const schema = Type.String({ description: "Each `data:` line is an `x-event`" });
  const content = { "text/event-stream": { schema, "x-event": event } };
  return {
    document: replyDocument(description, content, { ...STREAM_HEADER_DOCS, ...headers }),
    send: (told, { exchange, tools, headers: own }) => {
      const all = { ...STREAM_HEADERS, ...own, ...replyHeaders(exchange) };
      return new Response(streamOf(told as AsyncGenerator<object>, line, tools.timer), {
        headers: all,
      });
    },
  };
}

/** A reply that is no JSON: `type` is that of its content, null for one without. */
export function plain(
  description: string,
  type: string | null,
  headers: HeaderDocs = {},
): ReplyKind<string | Uint8Array<ArrayBuffer> | null> {
  const content = type === null ? null : { [type]: { schema: Type.String() } };
  return {
    document: replyDocument(description, content, headers),
    send: (body, sending) => send(body, type, sending),
  };
}

function send(
  body: string | Uint8Array<ArrayBuffer> | null,
  type: string | null,
  { exchange, status, headers }: Sending,
): Response {
  const typed = type === null ? {} : { "Content-Type": type };
  return new Response(body, {
    status,
    headers: { ...typed, ...headers, ...replyHeaders(exchange) },
  });
}

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
export async function pageReply(deps: PageReplyDeps, value: object): Promise<Response> {
  const turns = new Turns(deps.clock, () => deps.timer.sleep(0));
  const { records, ...head } = value as Page;
  const named = { ...(toWire(head) as object), ...(records === undefined ? {} : { records }) };
  const { body, headers } = await compressed(deps, await pageBytes(named, turns));
  return new Response(body, { headers });
}

async function compressed(
  { digest, gzip }: Pick<PageReplyDeps, "digest" | "gzip">,
  bytes: Uint8Array<ArrayBuffer>,
) {
  const checksum = digest.sha256Hex(bytes);
  const isLarge = bytes.length >= COMPRESSION_THRESHOLD_BYTES;
  const [hash, body] = await Promise.all([checksum, isLarge ? gzip.compress(bytes) : bytes]);
  const headers = { "Content-Type": "application/json", "X-Content-SHA256": hash };
  if (!isLarge) return { body, headers };
  const encoding = { "Content-Encoding": "gzip", "X-Original-Size": String(bytes.length) };
  return { body, headers: { ...headers, ...encoding, "Content-Length": String(body.length) } };
}

/** Records are written in slices, as a page may have 32 MiB of them. D-7.9. */
async function pageBytes(
  { records, ...head }: Page,
  turns: Turns,
): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const headText = JSON.stringify(head);
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
const STREAM_HEADER_DOCS = {
  "Cache-Control": headerDoc("Always no-cache"),
  "X-Accel-Buffering": headerDoc("Always no"),
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

/** The reply that tells events as they come. S-4.5.3, D-4.4. */
export function eventStream(
  told: AsyncGenerator<object | StreamComment, void, undefined>,
  timer: Timer,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const line = (event: object) =>
    event instanceof StreamComment ? `: ${event.text}` : `data: ${JSON.stringify(toWire(event))}`;
  return new Response(streamOf(told, line, timer), { headers: { ...STREAM_HEADERS, ...headers } });
}

/**
 * Events as they come, each as one line, with a comment after each silence of `KEEP_ALIVE_MS`. An event is asked for only
 * when the client has taken the one before it; when the client leaves, `told` is ended. S-4.5.3, D-4.4.
 */
function streamOf(
  told: AsyncGenerator<object, void, undefined>,
  lineOf: (event: object) => string,
  timer: Timer,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isLeft = false;
  let next: Promise<IteratorResult<object, void>> | null = null;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        next ??= told.next();
        const arrival = await beforeSilence(next, timer);
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

/** Null when nothing has come in time. */
async function beforeSilence<T>(next: Promise<T>, timer: Timer): Promise<T | null> {
  const come = new AbortController();
  try {
    return await Promise.race([next, timer.sleep(KEEP_ALIVE_MS, come.signal).then(() => null)]);
  } finally {
    come.abort();
  }
}
