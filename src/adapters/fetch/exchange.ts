import { RemotePeerError } from "../../ports/tables/remote-peer.ts";
import { startDeadline } from "./deadline.ts";
import { readBody } from "./read-body.ts";
import type { Settings } from "./settings.ts";
import { invalidReply, statusError, unreachable } from "./wire-errors.ts";

/** Longest body of a reply other than 200 that is searched for an error text. */
const MAX_ERROR_BODY_BYTES = 64 * 1024;

/** One request, and what its caller may stop it with. */
export interface ExchangeRequest {
  readonly method: "GET" | "POST";
  /** Below `/api/v1/sync`, with the query, percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal | undefined;
}

/** A complete reply with status 200. */
export interface Reply {
  /** Method and address without query, to begin messages with. */
  readonly label: string;
  readonly headers: Headers;
  /** As sent before compression. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Sends one request and reads its reply within the limits. Throws `RemotePeerError` only. */
export async function exchange(settings: Settings, request: ExchangeRequest): Promise<Reply> {
  // Taken out of its object: browsers refuse a `fetch` that is called as a method of another one.
  const { fetch: send, maxReplyBytes: maxBytes, timeoutMs } = settings;
  const url = `${settings.syncUrl}${request.path}`;
  const label = `${request.method} ${url.replace(/\?.*$/, "")}`;
  const deadline = startDeadline({ label, timeoutMs, signal: request.signal });
  const { signal } = deadline;
  let problem = "got no reply";
  try {
    signal.throwIfAborted();
    const response = await deadline.race(send(url, requestInit(request, signal)));
    const { headers, status } = response;
    problem = "got a reply that broke off";
    if (status === 200) {
      const body = await deadline.race(readBody(response.body, { maxBytes, signal }));
      if (body !== null) return { label, headers, body };
      const problem = `it is longer than ${maxBytes} bytes`;
      throw invalidReply(label, { problem, isTooLong: true });
    }
    const errorBody = readBody(response.body, { maxBytes: MAX_ERROR_BODY_BYTES, signal });
    // The status is known, so neither a broken body nor the time limit may hide it.
    const body = await deadline.race(errorBody).catch(() => null);
    if (request.signal?.aborted) throw signal.reason;
    throw statusError({ label, url, response, body, key: settings.key, nowMs: settings.nowMs });
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
    ...(body === undefined ? {} : { body }),
    signal,
    // A followed redirect would take the key to another host.
    redirect: "manual",
    cache: "no-store",
    credentials: "omit",
  };
}
