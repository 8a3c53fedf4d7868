import { AppError } from "../../domain/shared/errors.ts";
import type { SecretComparison } from "../../ports/crypto/crypto.ts";
import type { ConnectionInfo } from "../../ports/http/http.ts";
import { ANYBODY, type Guard } from "../description.ts";
import { bearerCredentials } from "./bearer.ts";
import { headerBytes } from "./sync-key.ts";

export interface MetricsGuardDeps {
  /** `METRICS_TOKEN`; null when not set. */
  readonly metricsToken: string | null;
  readonly comparison: SecretComparison;
}

/**
 * Admits readers of metrics: callers with the token; where none is configured, callers on this machine that ask a loopback address, as a
 * page whose name leads here asks another (D-11.8). D-1.3.
 */
export function metricsReader(deps: MetricsGuardDeps): Guard<null> {
  return {
    security: [{ metricsToken: [] }, {}],
    failures: {
      401: "Token missing or wrong",
      403: "No token is configured, and the caller is on another machine or asks another Host",
    },
    admit({ headers, connection }) {
      if (deps.metricsToken === null) requireThisMachine(headers, connection);
      else requireToken(deps.metricsToken, headers, deps.comparison);
      return ANYBODY;
    },
  };
}

/** The `Host` header of who asks this machine by its own name, perhaps with a port. */
const LOOPBACK_HOST = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d{1,5})?$/i;

/** Headers of proxies that hold addresses of callers. */
const ADDRESS_HEADERS = ["x-forwarded-for", "x-real-ip"];
const OTHER_PROXY_HEADERS = ["forwarded", "via", "x-forwarded-host", "x-forwarded-proto"];

function requireThisMachine(headers: Headers, connection: ConnectionInfo): void {
  if (isOnThisMachine(headers, connection) && LOOPBACK_HOST.test(headers.get("host") ?? "")) return;
  throw new AppError(
    "metrics_forbidden",
    "Metrics are for callers on this machine that ask localhost or 127.0.0.1",
  );
}

function requireToken(token: string, headers: Headers, comparison: SecretComparison): void {
  const given = bearerCredentials(headers.get("authorization") ?? "") ?? "";
  const expected = new TextEncoder().encode(token);
  if (given !== "" && comparison.isEqual(headerBytes(given), expected)) return;
  throw new AppError("metrics_token_rejected", "The token of the metrics is missing or wrong");
}

/**
 * True when neither the socket nor any proxy speaks for another machine. Every address that was forwarded has to be of
 * this one, however many proxies are trusted, and no other header may speak of a proxy: a caller cannot gain by adding some.
 */
function isOnThisMachine(headers: Headers, { remoteAddress }: ConnectionInfo): boolean {
  if (remoteAddress === null || !isLoopback(remoteAddress)) return false;
  if (OTHER_PROXY_HEADERS.some((name) => headers.has(name))) return false;
  const forwarded = ADDRESS_HEADERS.flatMap((name) => headers.get(name)?.split(",") ?? []);
  return forwarded.every((address) => isLoopback(address.trim()));
}

function isLoopback(address: string): boolean {
  return /^(?:(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1)$/i.test(address);
}
