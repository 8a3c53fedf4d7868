// What a process answers from the moment its port is bound until its deployment serves. D-11.4.
import { AppError } from "../domain/shared/errors.ts";
import { formatMs } from "../domain/shared/time.ts";
import type { RequestHandler } from "../ports/http/http-server.ts";
import type { Clock, Ids } from "../ports/runtime/runtime.ts";
import { addCommonHeaders, chooseRequestId } from "./app.ts";
import { failureReply } from "./errors.ts";
import { jsonResponse } from "./replies.ts";
import { readTarget } from "./routing.ts";

interface StartingDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Such as `bun 1.4.5`. */
  readonly runtimeVersion: string;
}

/** The process lives, and nothing may be sent there yet. Never rejects. */
export function createStartingHandler({
  clock,
  ids,
  runtimeVersion,
}: StartingDeps): RequestHandler {
  const replyTo = (path: string, requestId: string) => {
    const nowMs = clock.nowMs();
    if (path === "/v1/health/live") return jsonResponse({ status: "ok" });
    if (path === "/v1/health/ready") return jsonResponse({ status: "starting" }, { status: 503 });
    if (path === "/v1/health") {
      const state = { success: false, status: "degraded", db: "unavailable" };
      const body = { ...state, php: runtimeVersion, timestamp: formatMs(nowMs) };
      return jsonResponse(body, { status: 503 });
    }
    const error = new AppError(
      "store_unavailable",
      "The service is starting; ask again in a moment",
    );
    return failureReply(error, { path, requestId, nowMs });
  };
  return async (request) => {
    const { path } = readTarget(request.url);
    const requestId = chooseRequestId(request, ids);
    const reply = replyTo(path, requestId);
    addCommonHeaders(reply, path, requestId);
    return reply;
  };
}
