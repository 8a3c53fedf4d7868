import { orElse } from "../domain/shared/errors.ts";
import { plainHost } from "../domain/shared/text.ts";
import type { ConnectionInfo } from "../ports/http/http.ts";
import type { Ids } from "../ports/runtime/runtime.ts";
import { CONSOLE_HEADERS } from "./page-security.ts";

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
 * A request and its connection, from arrival to reply. Elysia routes it by `url` and `method`, and hands it on as it is: Bun
 * sends no reply to a copy of a request whose body was not read to its end.
 */
export class Exchange {
  readonly request: Request;
  readonly connection: ConnectionInfo;
  readonly browsers: BrowserSettings;
  /** The caller's own where it is valid, else a new one. D-5.3. */
  readonly requestId: string;
  /** Every segment can be percent-decoded. */
  readonly path: string;
  /** With its question mark; empty when there is none. */
  readonly search: string;
  /**
   * With a plain host, as a Host may hold anything, and Elysia looks for the path from the twelfth character on
   * (elysiajs/elysia#748).
   */
  readonly url: string;
  /**
   * HEAD is routed as GET, and the server leaves the body out (D-3.11): Elysia's own HEAD reads the whole body for its length,
   * and a stream of events has no end (elysiajs/elysia#1985).
   */
  readonly method: string;
  #answered: AbortController | null = null;

  constructor(request: Request, { connection, browsers, ids }: ExchangeFacts) {
    this.request = request;
    this.connection = connection;
    this.browsers = browsers;
    const given = request.headers.get("x-request-id") ?? "";
    this.requestId = REQUEST_ID.test(given) ? given : ids.next();
    // `new URL()` throws for an invalid Host.
    const match = /^(?:[a-z]+:\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?/i.exec(request.url);
    this.path = decodablePath(match?.[1] || "/");
    this.search = match?.[2] ?? "";
    this.url = `http://localhost${this.path}${this.search}`;
    this.method = request.method === "HEAD" ? "GET" : request.method;
  }

  get headers(): Headers {
    return this.request.headers;
  }

  /** True when the request came over TLS. */
  get isTls(): boolean {
    return this.request.url.startsWith("https:");
  }

  /** Aborted when nobody waits for the reply. D-11.8. */
  gone(): AbortSignal {
    this.#answered ??= new AbortController();
    return AbortSignal.any([this.request.signal, this.#answered.signal]);
  }

  /** To be called when the request is answered, in time or not. */
  end(): void {
    this.#answered?.abort();
  }

  /** Headers of every reply, before its own. D-5.3. */
  replyHeaders(): Record<string, string> {
    const headers: Record<string, string> = { "X-Request-Id": this.requestId };
    if (isPrivatePath(this.path)) headers["Cache-Control"] = "private, no-store";
    else if (isConsolePath(this.path)) Object.assign(headers, CONSOLE_HEADERS);
    return headers;
  }

  /**
   * The client's address. Each proxy appends the address that asked it to `X-Forwarded-For`; of N trusted proxies the last N
   * entries count, as the client may have sent the others. D-1.3.
   */
  clientAddress(): string {
    const socketAddress = this.connection.remoteAddress ?? "unknown";
    const { trustedProxyHops } = this.browsers;
    if (trustedProxyHops === 0) return socketAddress;
    const path = [...this.forwarded("x-forwarded-for"), socketAddress];
    return plainAddress(path[Math.max(0, path.length - 1 - trustedProxyHops)] ?? socketAddress);
  }

  /** The values of a header, to which each proxy may append. */
  forwarded(name: string): readonly string[] {
    const values = (this.headers.get(name) ?? "").split(",").map((value) => value.trim());
    return values.filter((value) => value !== "");
  }
}

/** Encodes damaged percent-encoding again: then it names nothing and causes no failure. */
function decodablePath(path: string): string {
  if (!path.includes("%")) return path;
  const isDecodable = orElse(null, () => decodeURIComponent(path)) !== null;
  return isDecodable ? path : path.replaceAll("%", "%25");
}

/** The one spelling of an address, which proxies write in several ways, some with the port. Other text stays. */
function plainAddress(entry: string): string {
  const [, inBrackets, beforePort] = /^(?:\[(.*)\]|([^:]+))(?::\d+)?$/.exec(entry) ?? [];
  const address = inBrackets ?? beforePort ?? entry;
  const asHost = `http://[${address.split("%", 1)[0]}]`;
  if (!URL.canParse(asHost)) return address;
  return plainHost(new URL(asHost).hostname);
}

// The shapes of replies by their paths.

/** True for paths with replies of the reputation interface. */
export function isReputationPath(path: string): boolean {
  return path === "/v1" || path.startsWith("/v1/");
}

/** True for health, which is answered to the end, in shapes of its own. D-10.5. */
export function isHealthPath(path: string): boolean {
  return path === "/v1/health" || path === "/v1/health/live" || path === "/v1/health/ready";
}

/** True for replies to their reader alone: caches of proxies do not know the key that a reply is for. D-5.3. */
export function isPrivatePath(path: string): boolean {
  return isReputationPath(path) ? !isHealthPath(path) : path.startsWith("/api/v1/sync/");
}

/** True for paths with the headers of D-9.2. */
function isConsolePath(path: string): boolean {
  return path === "/console" || path.startsWith("/console/");
}
