import type { ConnectionInfo } from "../ports/http/http-server.ts";
import { NO_TRACING, type Tracing } from "../ports/runtime/tracing.ts";
import type { Identity } from "../usecases/reputation/accounts/identity.ts";
import { isPrivatePath } from "./paths.ts";

export interface BrowserSettings {
  /** Name of the session cookie; under TLS `__Host-` stands before it. D-8.6. */
  readonly sessionCookie: string;
  /** Origins whose pages may call both interfaces, as browsers write them. */
  readonly corsOrigins: readonly string[];
  readonly trustedProxyHops: number;
}

/** Facts of a request while it is answered. */
export interface Exchange {
  readonly request: Request;
  /** Every segment can be percent-decoded. */
  readonly path: string;
  readonly requestId: string;
  readonly connection: ConnectionInfo;
  readonly browsers: BrowserSettings;
  readonly tracing: Tracing;
  /** Whether the request itself came over TLS. */
  readonly isTls: boolean;
  /** Whom the session cookie let pass; null without, and for a token in a header. */
  cookieIdentity: Identity | null;
  /** Aborted when the request has been answered, in time or not; null where no deadline is kept. D-8.3. */
  answered: AbortSignal | null;
  /** Set by a route whose reply already has the headers of every reply. */
  hasCommonHeaders: boolean;
  /** The error of a handler, before the framework makes a reply of it; null without one. */
  failure: { readonly error: unknown } | null;
}

const NO_EXCHANGE: Exchange = {
  request: new Request("http://localhost/"),
  path: "/",
  requestId: "",
  connection: { remoteAddress: null, keepOpen: () => {} },
  browsers: { sessionCookie: "", corsOrigins: [], trustedProxyHops: 0 },
  tracing: NO_TRACING,
  isTls: false,
  cookieIdentity: null,
  answered: null,
  hasCommonHeaders: false,
  failure: null,
};

/** Kept on the request itself: a map of all open requests would cost each of them more. */
const EXCHANGE = Symbol("exchange");
type RequestWithExchange = Request & { [EXCHANGE]?: Exchange };

export function beginExchange(
  request: RequestWithExchange,
  facts: Pick<Exchange, "path" | "requestId" | "connection" | "browsers" | "tracing">,
): Exchange {
  const isTls = request.url.startsWith("https:");
  const exchange: Exchange = {
    ...facts,
    request,
    isTls,
    cookieIdentity: null,
    answered: null,
    hasCommonHeaders: false,
    failure: null,
  };
  request[EXCHANGE] = exchange;
  return exchange;
}

export function exchangeOf(request: RequestWithExchange): Exchange {
  return request[EXCHANGE] ?? NO_EXCHANGE;
}

/** Aborted when nobody waits for the reply any more. D-11.8. */
export function callerGone(request: Request): AbortSignal {
  const { answered } = exchangeOf(request);
  return answered === null ? request.signal : AbortSignal.any([request.signal, answered]);
}

/** The use case, in a span of its name. D-10.9. */
export function traced<UseCase extends (...args: never[]) => unknown>(
  request: Request,
  useCase: UseCase,
  name: string = useCase.name,
): UseCase {
  const { tracing } = exchangeOf(request);
  if (!tracing.isOn) return useCase;
  const run = (...args: never[]) => tracing.inSpan(name, () => useCase(...args));
  return run as UseCase;
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
  const asHost = `http://[${address.split("%", 1)[0]}]`;
  if (!URL.canParse(asHost)) return address;
  const canonical = new URL(asHost).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return canonical;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join(".");
}

/** Headers of every reply. D-5.3. */
export function replyHeaders({ path, requestId }: Exchange): Record<string, string> {
  const headers: Record<string, string> = { "X-Request-Id": requestId };
  if (isPrivatePath(path)) headers["Cache-Control"] = "private, no-store";
  return headers;
}
