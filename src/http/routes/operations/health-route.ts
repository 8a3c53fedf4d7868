import { Elysia } from "elysia";
import { checkHealth, type HealthDeps } from "../../../usecases/operations/check-health.ts";
import { ALLOW, jsonReply, problemReplyDoc } from "../../openapi.ts";
import { jsonResponse } from "../../replies.ts";
import { Problem } from "../../schemas/account.ts";
import { HealthBody } from "../../schemas/sync.ts";

/** `GET /v1/health`., D-6.8. */
export function healthRoute(deps: HealthDeps) {
  return new Elysia().get(
    "/v1/health",
    async () => {
      const health = await checkHealth(deps);
      const isOk = health.status === "ok";
      return jsonResponse({ success: isOk, ...health }, { status: isOk ? 200 : 503 });
    },
    { detail: HEALTH_DETAIL },
  );
}

const HEALTH_DETAIL = {
  operationId: "checkHealth",
  tags: ["operations"],
  summary: "Tell whether the service and its store are alive",
  security: [],
  responses: {
    200: jsonReply("Alive", HealthBody),
    405: problemReplyDoc("Another method than this path takes", Problem, ALLOW),
    503: jsonReply("The store does not answer", HealthBody),
  },
};
