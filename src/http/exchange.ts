import type { ConnectionInfo } from "../ports/http/http-server.ts";

/** What routes may know of a request beside the request itself. */
export interface Exchange {
  /** D-5.3. */
  readonly requestId: string;
  readonly connection: ConnectionInfo;
  /** Set by a route whose reply carries already what all replies carry. */
  hasCommonHeaders: boolean;
  /** What a handler threw, as the framework's own reply would show it to the caller; null when none did. */
  failure: { readonly error: unknown } | null;
}

/** Finds the exchange of a request that is being answered. */
export type ExchangeOf = (request: Request) => Exchange;
