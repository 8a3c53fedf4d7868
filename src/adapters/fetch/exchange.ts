// An HTTP request and its reply, within a time limit, a length limit and the caller's signal.
import { joinBytes } from "../../domain/shared/bytes.ts";
import { Turns } from "../../ports/runtime/turns.ts";
import { RemotePeerError } from "../../ports/tables/remote-peer.ts";
import type { Settings } from "./client-options.ts";
import { invalidReply, statusError, unreachable } from "./errors.ts";

/** Bytes of an error body that are searched for its text. */
const MAX_ERROR_BODY_BYTES = 64 * 1024;

interface ExchangeRequest {
  readonly method: "GET" | "POST";
  /** Below `/api/v1/sync`, with the query, percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal | undefined;
}

/** A complete reply with status 200. */
export interface Reply {
  /** Method and address without query; messages begin with it. */
  readonly label: string;
  readonly headers: Headers;
  /** After decompression. */
  readonly body: Uint8Array<ArrayBuffer>;
  readonly turns: Turns;
}

/** Sends one request and reads its reply within the limits. Throws `RemotePeerError` only. */
export async function exchange(settings: Settings, request: ExchangeRequest): Promise<Reply> {
  // Browsers refuse `fetch` as a method of `settings`.
  const { fetch: send, maxReplyBytes, timeoutMs } = settings;
  const url = `${settings.syncUrl}${request.path}`;
  const label = `${request.method} ${url.replace(/\?.*$/, "")}`;
  const deadline = new Deadline(label, timeoutMs, request.signal);
  const { signal } = deadline;
  let problem = "got no reply";
  try {
    signal.throwIfAborted();
    const response = await deadline.race(send(url, requestInit(request, signal)));
    const { headers, status } = response;
    problem = "got a reply that broke off";
    if (status === 200) {
      const body = await deadline.race(readBody(response.body, maxReplyBytes, signal));
      const turns = new Turns(settings.clock, () => settings.timer.sleep(0));
      if (body !== null) return { label, headers, body, turns };
      const problem = `it is longer than ${maxReplyBytes} bytes`;
      throw invalidReply(label, { problem, isTooLong: true });
    }
    // The status counts, even when the body breaks off or comes too late.
    const errorBody = await deadline
      .race(readBody(response.body, MAX_ERROR_BODY_BYTES, signal))
      .catch(() => null);
    if (request.signal?.aborted) throw signal.reason;
    const { key, nowMs } = settings;
    throw statusError({ label, url, response, body: errorBody, key, nowMs });
  } catch (error) {
    if (error instanceof RemotePeerError) throw error;
    throw signal.aborted ? signal.reason : unreachable(label, { problem, cause: error });
  } finally {
    deadline.release();
  }
}

function requestInit(request: ExchangeRequest, signal: AbortSignal): RequestInit {
  const { method, headers, body } = request;
  return {
    method,
    headers: { Accept: "application/json", ...headers },
    body: body ?? null,
    signal,
    // Following a redirect would send the key to another address.
    redirect: "manual",
    cache: "no-store",
    credentials: "omit",
  };
}

class Deadline {
  readonly #controller = new AbortController();
  readonly #ended: Promise<never>;
  readonly release: () => void;

  /** Starts the timer. An already aborted signal ends the exchange at once. */
  constructor(label: string, timeoutMs: number, caller: AbortSignal | undefined) {
    const { signal } = this;
    this.#ended = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
    });
    this.#ended.catch(() => {});
    const end = (kind: "timeout" | "aborted", problem: string, cause?: unknown) =>
      this.#controller.abort(new RemotePeerError(kind, `${label} ${problem}`, { cause }));
    const timer = setTimeout(
      () => end("timeout", `got no complete reply within ${timeoutMs} ms`),
      timeoutMs,
    );
    const onAbort = () => end("aborted", "was aborted by its caller", caller?.reason);
    if (caller?.aborted) onAbort();
    else caller?.addEventListener("abort", onAbort);
    this.release = () => {
      clearTimeout(timer);
      caller?.removeEventListener("abort", onAbort);
    };
  }

  /** Aborts when the exchange has to end, with a `RemotePeerError` as its reason. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Settles as `work` does, or rejects with the signal's reason. Aborting `work` is not enough: on a damaged gzip body Node 20
   * neither fails nor ends.
   */
  race<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#ended]);
  }
}

/**
 * Reads the decompressed body. Null when it is longer than `maxBytes`; then, and when `signal` is aborted, the connection is
 * freed. Rejects when the body breaks off.
 */
async function readBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let lengthBytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return joinBytes(chunks);
    lengthBytes += value.byteLength;
    if (lengthBytes > maxBytes) {
      cancel();
      return null;
    }
    chunks.push(value);
  }
}
