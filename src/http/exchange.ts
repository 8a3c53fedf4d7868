import type { ConnectionInfo } from "../ports/http/http-server.ts";

/** Facts of a request while it is answered. */
interface Exchange {
  readonly requestId: string;
  readonly connection: ConnectionInfo;
  /** Set by a route whose reply already has the headers of every reply. */
  hasCommonHeaders: boolean;
  /** The error of a handler, before the framework makes a reply of it; null without one. */
  failure: { readonly error: unknown } | null;
}

const NO_EXCHANGE: Exchange = {
  requestId: "",
  connection: { remoteAddress: null, keepOpen: () => {} },
  hasCommonHeaders: false,
  failure: null,
};

/** Kept on the request itself: a map of all open requests would cost each of them more. */
const EXCHANGE = Symbol("exchange");
type RequestWithExchange = Request & { [EXCHANGE]?: Exchange };

export function beginExchange(
  request: RequestWithExchange,
  requestId: string,
  connection: ConnectionInfo,
): Exchange {
  const exchange: Exchange = { requestId, connection, hasCommonHeaders: false, failure: null };
  request[EXCHANGE] = exchange;
  return exchange;
}

export function exchangeOf(request: RequestWithExchange): Exchange {
  return request[EXCHANGE] ?? NO_EXCHANGE;
}

/**
 * The client's address. Each proxy appends to `X-Forwarded-For` the address it was asked from; with N trusted proxies
 * the last N entries are believed, as a client may have sent the entries before them. D-1.3.
 */
export function clientAddress(
  headers: Headers,
  { remoteAddress }: ConnectionInfo,
  trustedHops: number,
): string {
  const socketAddress = remoteAddress ?? "unknown";
  if (trustedHops === 0) return socketAddress;
  const forwarded = (headers.get("x-forwarded-for") ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  const path = [...forwarded, socketAddress];
  return plainAddress(path[Math.max(0, path.length - 1 - trustedHops)] ?? socketAddress);
}

/** One spelling per address: proxies write it in several ways, some with the port. Other text stays. */
function plainAddress(entry: string): string {
  const [, inBrackets, beforePort] = /^(?:\[(.*)\]|([^:]+))(?::\d+)?$/.exec(entry) ?? [];
  const address = inBrackets ?? beforePort ?? entry;
  const asHost = `http://[${address.replace(/%.*$/, "")}]`;
  if (!URL.canParse(asHost)) return address;
  const canonical = new URL(asHost).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return canonical;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join(".");
}
