import type { ConnectionInfo } from "../ports/http/http-server.ts";

/** What is known of a request while it is answered, beside the request itself. */
export interface Exchange {
  /** D-5.3. */
  readonly requestId: string;
  readonly connection: ConnectionInfo;
  /** Set by a route whose reply already carries what all replies carry. */
  hasCommonHeaders: boolean;
  /** What a handler threw, before the framework makes a reply of it; null when none did. */
  failure: { readonly error: unknown } | null;
}

/** For a request that did not come through the handler. */
const NO_EXCHANGE: Exchange = {
  requestId: "",
  connection: { remoteAddress: null, keepOpen: () => {} },
  hasCommonHeaders: false,
  failure: null,
};

/** On the request itself: a map of all requests under way would cost every one of them more. */
const EXCHANGE = Symbol("exchange");
type RequestWithExchange = Request & { [EXCHANGE]?: Exchange };

/** Begins the exchange of a request. */
export function beginExchange(
  request: RequestWithExchange,
  requestId: string,
  connection: ConnectionInfo,
): Exchange {
  const exchange: Exchange = { requestId, connection, hasCommonHeaders: false, failure: null };
  request[EXCHANGE] = exchange;
  return exchange;
}

/** The exchange of a request that is being answered. */
export function exchangeOf(request: RequestWithExchange): Exchange {
  return request[EXCHANGE] ?? NO_EXCHANGE;
}
