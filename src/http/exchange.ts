// A request, from its arrival to its reply.

import { orElse } from "../domain/shared/errors.ts";
import { plainHost } from "../domain/shared/text.ts";
import type { ConnectionInfo } from "../ports/http/http.ts";
import type { Ids } from "../ports/runtime/runtime.ts";

export interface BrowserSettings {
  /** Name of the session cookie; under TLS `__Host-` stands before it. D-8.6. */
  readonly sessionCookie: string;
  /** Origins whose pages may call both interfaces, as browsers write them. */
  readonly corsOrigins: readonly string[];
  readonly trustedProxyHops: number;
}

interface ExchangeFacts {
  readonly connection: ConnectionInfo;
  readonly browsers: BrowserSettings;
  readonly ids: Ids;
}

const REQUEST_ID = /^[\w-]{8,64}$/;

/**
 * A request and its connection. Elysia routes it by `url` and `method`, and hands it on as it is: Bun sends no reply to the
 * copy of a request whose body was not read to its end.
 */
export class Exchange {
  readonly request: Request;
  readonly connection: ConnectionInfo;
  readonly browsers: BrowserSettings;
  /** The caller's own where it fits, else a new one. D-5.3. */
  readonly requestId: string;
  /** Every segment can be percent-decoded. */
  readonly path: string;
  /** With its question mark; empty when there is none. */
  readonly search: string;
  /** With a plain host: Elysia looks for the path from the twelfth character on (elysiajs/elysia#748), and a Host may hold anything. */
  readonly url: string;
  /**
   * HEAD is routed as GET, and the server leaves the body out (D-3.11): Elysia's own HEAD reads the whole body for its length,
   * which a stream of events does not have (elysiajs/elysia#1985 tells how it is made).
   */
  readonly method: string;
  #answered: AbortController | null = null;

  constructor(request: Request, { connection, browsers, ids }: ExchangeFacts) {
    this.request = request;
    this.connection = connection;
    this.browsers = browsers;
    const given = request.headers.get("x-request-id") ?? "";
    this.requestId = REQUEST_ID.test(given) ? given : ids.next();
    // `new URL()` would throw where the Host makes no valid one.
    const match = /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?/i.exec(request.url);
    this.path = decodablePath(match?.[1] || "/");
    this.search = match?.[2] ?? "";
    this.url = `http://localhost${this.path}${this.search}`;
    this.method = request.method === "HEAD" ? "GET" : request.method;
  }

  get headers(): Headers {
    return this.request.headers;
  }

  /** True when the request itself came over TLS. */
  get isTls(): boolean {
    return this.request.url.startsWith("https:");
  }

  /** Aborted when nobody waits for the reply any more. D-11.8. */
  gone(): AbortSignal {
    this.#answered ??= new AbortController();
    return AbortSignal.any([this.request.signal, this.#answered.signal]);
  }

  /** Says that the request has been answered, in time or not. */
  end(): void {
    this.#answered?.abort();
  }

  /** Headers of every reply. D-5.3. */
  replyHeaders(): Record<string, string> {
    const headers: Record<string, string> = { "X-Request-Id": this.requestId };
    if (isPrivatePath(this.path)) headers["Cache-Control"] = "private, no-store";
    return headers;
  }

  /**
   * The client's address. Each proxy appends to `X-Forwarded-For` the address it was asked from; with N trusted proxies
   * the last N entries are believed, as a client may have sent the entries before them. D-1.3.
   */
  clientAddress(): string {
    const socketAddress = this.connection.remoteAddress ?? "unknown";
    const { trustedProxyHops } = this.browsers;
    if (trustedProxyHops === 0) return socketAddress;
    const path = [...this.forwarded("x-forwarded-for"), socketAddress];
    return plainAddress(path[Math.max(0, path.length - 1 - trustedProxyHops)] ?? socketAddress);
  }

  /** The values that proxies have put into a header: each appends its own, or sends one. */
  forwarded(name: string): readonly string[] {
    const values = (this.headers.get(name) ?? "").split(",").map((value) => value.trim());
    return values.filter((value) => value !== "");
  }
}

/** Encodes damaged percent-encoding again, so that it names nothing and causes no failure. */
function decodablePath(path: string): string {
  if (!path.includes("%")) return path;
  const isDecodable = orElse(null, () => decodeURIComponent(path)) !== null;
  return isDecodable ? path : path.replaceAll("%", "%25");
}

/** The one spelling of an address: proxies write it in several ways, some with the port. Other text stays. */
function plainAddress(entry: string): string {
  const [, inBrackets, beforePort] = /^(?:\[(.*)\]|([^:]+))(?::\d+)?$/.exec(entry) ?? [];
  const address = inBrackets ?? beforePort ?? entry;
  const asHost = `http://[${address.split("%", 1)[0]}]`;
  if (!URL.canParse(asHost)) return address;
  return plainHost(new URL(asHost).hostname);
}

// The shapes of replies by their paths.

/** True for paths that answer in the shapes of the reputation document. */
export function isReputationPath(path: string): boolean {
  return path === "/v1" || path.startsWith("/v1/");
}

/** True for the health of the service or the process, which is told to the end, in shapes of its own. D-10.5. */
export function isHealthPath(path: string): boolean {
  return path === "/v1/health" || path === "/v1/health/live" || path === "/v1/health/ready";
}

/** True where replies are for their reader alone. D-5.3. */
export function isPrivatePath(path: string): boolean {
  return isReputationPath(path) && !isHealthPath(path);
}

/** True for what is answered with the headers of D-9.2. */
export function isConsolePath(path: string): boolean {
  return path === "/console" || path.startsWith("/console/");
}
