// Checks the options of both clients once, so that no request fails because of them.
import { DEFAULT_MAX_DECOMPRESSED_BYTES } from "../../domain/shared/limits.ts";
import type { Digest } from "../../ports/crypto/crypto.ts";
import { type Clock, MAX_TIMER_MS, type Timer } from "../../ports/runtime/runtime.ts";

const DEFAULT_REQUEST_TIMEOUT_MS = 15_000;
const SYNC_PATH = "/api/v1/sync";

export interface SyncClientOptions {
  /** `http:` or `https:` address without `/api/v1/sync`; may have a path and a slash at its end. */
  readonly baseUrl: string;
  /**
   * The peer's `SYNC_API_KEY`, printable ASCII and not empty. All requests but the status have it, and only this address gets
   * it: redirects are not followed.
   */
  readonly key: string;
  /** Sends the requests; the runtime's own `fetch` when absent. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /**
   * Milliseconds for one request, from its start to the last byte of its reply: 1 to 2,147,483,647;
   * 15,000 when absent. D-4.6.
   */
  readonly timeoutMs?: number;
  /**
   * Greatest reply after decompression in bytes, 1 or more; 268,435,456 (256 MiB) when absent.
   * Reading stops beyond it and the request fails with `invalid_reply`.
   */
  readonly maxReplyBytes?: number;
  /** Milliseconds since 1970. Without it a `Retry-After` date is ignored in a reply without `Date`. */
  readonly nowMs?: () => number;
}

export interface ClientDeps {
  readonly digest: Digest;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly timer: Timer;
}

export interface Settings
  extends Required<Omit<SyncClientOptions, "baseUrl" | "nowMs">>,
    Pick<ClientDeps, "clock" | "timer"> {
  /** Origin, path and `/api/v1/sync`, without a slash at the end. */
  readonly syncUrl: string;
  readonly nowMs: (() => number) | null;
}

/** Checks options and fills in defaults. Throws `TypeError` or `RangeError` that show neither key nor address. */
export function readSettings(options: SyncClientOptions, { clock, timer }: ClientDeps): Settings {
  const timeoutMs = options.timeoutMs ?? DEFAULT_REQUEST_TIMEOUT_MS;
  const maxReplyBytes = options.maxReplyBytes ?? DEFAULT_MAX_DECOMPRESSED_BYTES;
  return {
    syncUrl: readSyncUrl(options.baseUrl),
    key: readKey(options.key),
    fetch: readFunction("fetch", options.fetch) ?? ((url, init) => fetch(url, init)),
    timeoutMs: readLimit("timeoutMs", timeoutMs, MAX_TIMER_MS),
    maxReplyBytes: readLimit("maxReplyBytes", maxReplyBytes, Number.MAX_SAFE_INTEGER),
    nowMs: readFunction("nowMs", options.nowMs) ?? null,
    clock,
    timer,
  };
}

function readSyncUrl(baseUrl: string): string {
  const base = readBaseUrl(baseUrl);
  if (base.endsWith(SYNC_PATH)) throw new TypeError(`baseUrl must not include ${SYNC_PATH}`);
  return base + SYNC_PATH;
}

/** Checked early, as runtimes quote a header value that they refuse. */
function readKey(key: string): string {
  if (typeof key === "string" && /^[!-~](?:[ -~]*[!-~])?$/.test(key)) return key;
  throw new TypeError("key must be printable ASCII, not empty and without spaces at its ends");
}

/** The address without a slash at its end. Throws `TypeError`, without the address, where no path can be added. */
export function readBaseUrl(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) throw new TypeError("baseUrl is not an absolute URL");
  const url = new URL(baseUrl);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new TypeError("baseUrl does not start with http:// or https://");
  }
  if (url.username !== "" || url.password !== "") {
    throw new TypeError("baseUrl must not contain a user name or password");
  }
  if (url.search !== "" || url.hash !== "") {
    throw new TypeError("baseUrl must not have a query or fragment");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** Throws `TypeError` unless the option is absent or a function. */
export function readFunction<F>(name: string, option: F): F {
  if (option === undefined || typeof option === "function") return option;
  throw new TypeError(`${name} is not a function`);
}

/** Throws `RangeError` unless the value is a whole number from 1 to `greatest`. */
export function readLimit(name: string, value: number, greatest: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= greatest) return value;
  throw new RangeError(`${name} is not a whole number from 1 to ${greatest}: ${value}`);
}
