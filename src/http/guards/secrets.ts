// Callers with a secret of the deployment: the sync key, the token of the metrics.
import { AppError } from "../../domain/shared/errors.ts";
import type { SecretComparison } from "../../ports/crypto/crypto.ts";
import type { ConnectionInfo } from "../../ports/http/http.ts";
import { ANYBODY, type Guard } from "../description.ts";
import { bearerCredentials } from "./bearer.ts";

export interface SyncKeyGuardDeps {
  readonly isSyncEnabled: boolean;
  /** `SYNC_API_KEY`; empty when not configured. */
  readonly syncApiKey: string;
  readonly comparison: SecretComparison;
}

/** Admits callers with the deployment's key, while sync is enabled; checks in the order of S-5. */
export function syncKey(deps: SyncKeyGuardDeps): Guard<null> {
  return {
    security: [{ syncKey: [] }],
    failures: {
      401: { text: "X-Sync-Key missing or wrong", headers: {} },
      403: "Sync is disabled",
      500: "No sync key is configured, or an internal error",
    },
    admit({ headers }) {
      if (!deps.isSyncEnabled) throw new AppError("sync_disabled", "Sync is disabled here");
      if (deps.syncApiKey === "") {
        throw new AppError("sync_key_not_configured", "No sync key is configured here");
      }
      if (isSecret(headers.get("x-sync-key"), deps.syncApiKey, deps.comparison)) return ANYBODY;
      throw new AppError("sync_key_rejected", "The X-Sync-Key header is missing or wrong");
    },
  };
}

/** A header's value has one character per byte. */
function isSecret(given: string | null, secret: string, comparison: SecretComparison): boolean {
  const bytes = Uint8Array.from(given ?? "", (character) => character.charCodeAt(0));
  return bytes.length > 0 && comparison.isEqual(bytes, new TextEncoder().encode(secret));
}

export interface MetricsGuardDeps {
  /** `METRICS_TOKEN`; null when not set. */
  readonly metricsToken: string | null;
  readonly comparison: SecretComparison;
}

/**
 * Admits callers with the token; where none is configured, callers on this machine that ask a loopback address: a page of a
 * foreign name that leads here asks another Host. D-1.3, D-11.8.
 */
export function metricsReader(deps: MetricsGuardDeps): Guard<null> {
  return {
    security: [{ metricsToken: [] }, {}],
    failures: {
      401: "Token missing or wrong",
      403: "No token is configured, and the caller is on another machine or asks another Host",
    },
    admit({ headers, connection }) {
      if (deps.metricsToken === null) {
        if (isOnThisMachine(headers, connection)) return ANYBODY;
        const text = "Metrics are for callers on this machine that ask localhost or 127.0.0.1";
        throw new AppError("metrics_forbidden", text);
      }
      const token = bearerCredentials(headers.get("authorization") ?? "");
      if (isSecret(token, deps.metricsToken, deps.comparison)) return ANYBODY;
      throw new AppError("metrics_token_rejected", "The token of the metrics is missing or wrong");
    },
  };
}

/** The `Host` of a request to this machine by its own name, perhaps with a port. */
const LOOPBACK_HOST = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(?::\d{1,5})?$/i;

/** Headers of proxies that hold addresses of callers. */
const ADDRESS_HEADERS = ["x-forwarded-for", "x-real-ip"];
const OTHER_PROXY_HEADERS = ["forwarded", "via", "x-forwarded-host", "x-forwarded-proto"];

/**
 * True when the caller asks a loopback address, and neither the socket nor a proxy speaks for another machine. Every forwarded
 * address has to be of this one, however many proxies are trusted, and no other header of a proxy may be there: adding headers
 * gains nothing.
 */
function isOnThisMachine(headers: Headers, { remoteAddress }: ConnectionInfo): boolean {
  if (remoteAddress === null || !isLoopback(remoteAddress)) return false;
  if (!LOOPBACK_HOST.test(headers.get("host") ?? "")) return false;
  if (OTHER_PROXY_HEADERS.some((name) => headers.has(name))) return false;
  const forwarded = ADDRESS_HEADERS.flatMap((name) => headers.get(name)?.split(",") ?? []);
  return forwarded.every((address) => isLoopback(address.trim()));
}

function isLoopback(address: string): boolean {
  return /^(?:(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1)$/i.test(address);
}
