// What a process answers from the moment its port is bound until its deployment serves. D-11.4.
import { AppError } from "../domain/shared/errors.ts";
import { formatMs } from "../domain/shared/time.ts";
import type { RequestHandler } from "../ports/http/http-server.ts";
import type { Clock, Ids } from "../ports/runtime/runtime.ts";
import { failureReply } from "./errors.ts";
import { type BrowserSettings, Exchange } from "./exchange.ts";

interface StartingDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Such as `bun 1.4.5`. */
  readonly runtimeVersion: string;
}

const NO_BROWSERS: BrowserSettings = { sessionCookie: "", corsOrigins: [], trustedProxyHops: 0 };

/** The process lives, and nothing may be sent there yet. Never rejects. */
export function createStartingHandler(deps: StartingDeps): RequestHandler {
  const { clock, ids, runtimeVersion } = deps;
  return async (request, connection) => {
    const exchange = new Exchange(request, { connection, ids, browsers: NO_BROWSERS });
    const nowMs = clock.nowMs();
    const tell = (body: object, status: number) => {
      const headers = { "Content-Type": "application/json", ...exchange.replyHeaders() };
      return new Response(JSON.stringify(body), { status, headers });
    };
    if (exchange.path === "/v1/health/live") return tell({ status: "ok" }, 200);
    if (exchange.path === "/v1/health/ready") return tell({ status: "starting" }, 503);
    if (exchange.path === "/v1/health") {
      const state = { success: false, status: "degraded", db: "unavailable" };
      return tell({ ...state, php: runtimeVersion, timestamp: formatMs(nowMs) }, 503);
    }
    const error = new AppError("store_unavailable", "The service is starting");
    return failureReply(error, exchange, nowMs);
  };
}
