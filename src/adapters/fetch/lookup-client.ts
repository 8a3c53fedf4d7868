// The client of lookups. Web standards only: it runs on Bun, Deno, Node 20 and in browsers.
import type {
  PlatformEntry,
  ProfileBody,
  ReputationBody,
} from "../../domain/reputation/score/profile.ts";
import { orElse } from "../../domain/shared/errors.ts";
import { fromWire } from "../../domain/shared/wire-names.ts";
import { MAX_TIMER_MS } from "../../ports/runtime/runtime.ts";
import { readBaseUrl, readFunction, readLimit } from "./client-options.ts";

export interface LookupClientOptions {
  /** `http:` or `https:` address of the service without `/v1`. */
  readonly baseUrl: string;
  /** An API key, `rep_live_…`. Only this address gets it: redirects are not followed. */
  readonly key: string;
  /** Sends the requests; the runtime's own `fetch` when absent. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Milliseconds for one request, 1 to 2,147,483,647; 15,000 when absent. */
  readonly timeoutMs?: number;
  /** Longest wait in milliseconds after a limit is used up: 0 for none, at most 2,147,483,647; 60,000 when absent. */
  readonly maxWaitMs?: number;
}

export interface LookupRequest {
  /** Ends the request, and its waiting. */
  readonly signal?: AbortSignal;
}

/**
 * `refused`: the service said no, see `code`. `unreachable`, `timeout`: no reply came. `aborted`: the caller ended the lookup.
 * `invalid_reply`: the reply is not the documented one.
 */
export type LookupFailure = "refused" | "unreachable" | "timeout" | "aborted" | "invalid_reply";

export class LookupError extends Error {
  override readonly name = "LookupError";
  readonly kind: LookupFailure;
  /** HTTP status; null without a reply. */
  readonly status: number | null;
  /** Such as `consent_required`; null where the reply has none. */
  readonly code: string | null;
  /** Seconds until another try may succeed; null when the service does not say. */
  readonly retryAfterSeconds: number | null;
  /** The request's name in the service's log; null without a reply. */
  readonly requestId: string | null;

  constructor(
    kind: LookupFailure,
    message: string,
    { status = null, code = null, retryAfterSeconds = null, requestId = null, cause }: Details = {},
  ) {
    super(message, { cause });
    this.kind = kind;
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
    this.requestId = requestId;
  }
}

interface Details
  extends Partial<Pick<LookupError, "status" | "code" | "retryAfterSeconds" | "requestId">> {
  readonly cause?: unknown;
}

const DEFAULT_TIMEOUT_MS = 15_000;
const DEFAULT_MAX_WAIT_MS = 60_000;
const TOO_MANY = 429;
const MS_PER_SECOND = 1000;
const KEY = /^[\x21-\x7e]+$/;
/** The least pause before another try, for a service that names 0 seconds. */
const MIN_WAIT_SECONDS = 1;

/**
 * Every method rejects with `LookupError`. A username that no address can carry is `refused` with `invalid_request`, and nothing
 * is sent. After a reply of 429 the client waits and asks again, as long as `maxWaitMs` allows.
 */
export class LookupClient {
  readonly #url: string;
  readonly #key: string;
  readonly #fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly #timeoutMs: number;
  readonly #maxWaitMs: number;

  /** Throws `TypeError` for an unusable address or key, `RangeError` for an unusable time. */
  constructor(options: LookupClientOptions) {
    const {
      baseUrl,
      key,
      timeoutMs = DEFAULT_TIMEOUT_MS,
      maxWaitMs = DEFAULT_MAX_WAIT_MS,
    } = options;
    const base = readBaseUrl(baseUrl);
    // A missing environment variable would be sent as the text "undefined".
    if (typeof key !== "string" || !KEY.test(key)) {
      throw new TypeError("key is not printable ASCII");
    }
    if (!(maxWaitMs >= 0)) throw new RangeError("maxWaitMs is not a number from 0");
    this.#url = `${base}/v1/public/profiles/`;
    this.#key = key;
    this.#fetch = readFunction("fetch", options.fetch) ?? ((url, init) => fetch(url, init));
    this.#timeoutMs = readLimit("timeoutMs", timeoutMs, MAX_TIMER_MS);
    this.#maxWaitMs = Math.min(maxWaitMs, MAX_TIMER_MS);
  }

  /** Score and stars. R-3. */
  async reputation(username: string, request: LookupRequest = {}): Promise<ReputationBody> {
    return (await this.#getObject(username, "/reputation", request)) as unknown as ReputationBody;
  }

  async profile(username: string, request: LookupRequest = {}): Promise<ProfileBody> {
    return (await this.#getObject(username, "", request)) as unknown as ProfileBody;
  }

  async platforms(
    username: string,
    request: LookupRequest = {},
  ): Promise<readonly PlatformEntry[]> {
    const platforms = await this.#get(username, "/platforms", request);
    if (!Array.isArray(platforms) || !platforms.every(isObject)) {
      throw new LookupError("invalid_reply", "No list of platforms");
    }
    return platforms.map((one) => fromWire(one) as unknown as PlatformEntry);
  }

  async #getObject(username: string, rest: string, request: LookupRequest) {
    const data = await this.#get(username, rest, request);
    if (!isObject(data)) throw new LookupError("invalid_reply", "The reply holds a list");
    return fromWire(data);
  }

  async #get(username: string, rest: string, { signal }: LookupRequest) {
    const url = this.#url + userPath(username) + rest;
    for (let waitedMs = 0; ; ) {
      const outcome = await this.#ask(url, signal);
      if (!(outcome instanceof LookupError)) return outcome;
      const { status, retryAfterSeconds: seconds } = outcome;
      if (status !== TOO_MANY || seconds === null) throw outcome;
      const waitMs = Math.max(seconds, MIN_WAIT_SECONDS) * MS_PER_SECOND;
      if (waitedMs + waitMs > this.#maxWaitMs) throw outcome;
      await pause(waitMs, signal);
      waitedMs += waitMs;
    }
  }

  /** Returns the data or the refusal; throws every other failure. */
  async #ask(url: string, signal: AbortSignal | undefined) {
    const timeout = AbortSignal.timeout(this.#timeoutMs);
    const headers = { "X-API-Key": this.#key, Accept: "application/json" };
    const ending = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
    let reply: Response;
    let text: string;
    try {
      reply = await this.#fetch(url, { headers, redirect: "manual", signal: ending });
      text = await reply.text();
    } catch (cause) {
      if (signal?.aborted) throw new LookupError("aborted", "The lookup was ended", { cause });
      const kind = timeout.aborted ? "timeout" : "unreachable";
      throw new LookupError(kind, "The service did not answer", { cause });
    }
    return readReply(reply, text);
  }
}

/** The username as one path segment. URLs drop `.` and `..`, even encoded. */
function userPath(username: string): string {
  if (username === "" || username === "." || username === ".." || !username.isWellFormed()) {
    const code = "invalid_request";
    throw new LookupError("refused", "No address can carry this username", { code });
  }
  return encodeURIComponent(username);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readReply(reply: Response, text: string): object | LookupError {
  const { status, headers } = reply;
  const requestId = headers.get("x-request-id");
  const body: Readonly<Record<string, unknown>> = { ...orElse(null, () => JSON.parse(text)) };
  if (status === 200) {
    const { data } = body;
    if (typeof data === "object" && data !== null) return data;
    throw new LookupError("invalid_reply", "The reply holds no data", { status, requestId });
  }
  const wait = headers.get("retry-after") ?? "";
  const { code, detail } = body;
  return new LookupError("refused", typeof detail === "string" ? detail : `Status ${status}`, {
    status,
    code: typeof code === "string" ? code : null,
    retryAfterSeconds: /^\d+$/.test(wait) ? Number(wait) : null,
    requestId,
  });
}

function pause(durationMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      if (signal?.aborted) reject(new LookupError("aborted", "The lookup was ended"));
      else resolve();
    };
    const timer = setTimeout(end, durationMs);
    signal?.addEventListener("abort", end);
    if (signal?.aborted) end();
  });
}
