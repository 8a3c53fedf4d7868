import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { DocsAssets } from "../../../ports/http/http-server.ts";
import {
  checkHealth,
  checkReady,
  type HealthDeps,
} from "../../../usecases/operations/check-health.ts";
import type { Lifecycle } from "../../../usecases/operations/lifecycle.ts";
import { type ReadMetricsDeps, readMetrics } from "../../../usecases/operations/read-metrics.ts";
import { exchangeOf, traced } from "../../exchange.ts";
import { type MetricsGuardDeps, requireMetricsAccess } from "../../guards/metrics-token.ts";
import {
  ALLOW,
  CHALLENGE,
  headerDoc,
  jsonReply,
  METRICS_SECURITY,
  problemReplyDoc,
  REQUEST_ID,
} from "../../openapi.ts";
import { jsonResponse } from "../../replies.ts";
import { ProblemSchema } from "../../schemas/reputation.ts";
import {
  HealthSchema,
  LivenessSchema,
  ReadinessSchema,
  SyncErrorSchema,
} from "../../schemas/sync.ts";

/** `GET /v1/health`., D-6.8. */
export function healthRoute(deps: ProbeDeps) {
  return new Elysia().get(
    "/v1/health",
    async ({ request }) => {
      const health = await traced(request, checkHealth)(deps);
      const isOk = health.status === "ok" && !deps.lifecycle.isDraining;
      const status = isOk ? "ok" : "degraded";
      return jsonResponse({ success: isOk, ...health, status }, { status: isOk ? 200 : 503 });
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
    200: jsonReply("Alive", HealthSchema),
    405: problemReplyDoc("Another method than this path takes", ProblemSchema, ALLOW),
    503: jsonReply(
      "The store does not answer, or the service ends its last requests",
      HealthSchema,
    ),
  },
};

export interface ProbeDeps extends HealthDeps {
  readonly lifecycle: Lifecycle;
}

/** `GET /v1/health/live` and `/v1/health/ready`, for what starts, restarts and balances processes. D-10.5. */
export function probeRoutes(deps: ProbeDeps) {
  return new Elysia()
    .get("/v1/health/live", () => jsonResponse({ status: "ok" }), { detail: PROBE_DETAILS.live })
    .get(
      "/v1/health/ready",
      async ({ request }) => {
        const status = await traced(request, checkReady)(deps);
        return jsonResponse({ status }, { status: status === "ok" ? 200 : 503 });
      },
      { detail: PROBE_DETAILS.ready },
    );
}

const probe = { tags: ["operations"], security: [] };

const PROBE_DETAILS = {
  live: {
    ...probe,
    operationId: "checkLive",
    summary: "Tell whether the process answers",
    responses: {
      200: jsonReply("It does", LivenessSchema),
      405: problemReplyDoc("Another method than this path takes", ProblemSchema, ALLOW),
    },
  },
  ready: {
    ...probe,
    operationId: "checkReady",
    summary: "Tell whether requests may be sent here",
    responses: {
      200: jsonReply("The store answers", ReadinessSchema),
      405: problemReplyDoc("Another method than this path takes", ProblemSchema, ALLOW),
      503: jsonReply("The store does not answer, or the service starts or stops", ReadinessSchema),
    },
  },
};

export interface MetricsRouteDeps extends ReadMetricsDeps, MetricsGuardDeps {}

/** `GET /metrics`. D-1.3, D-6.8. */
export function metricsRoute(deps: MetricsRouteDeps) {
  return new Elysia().get(
    "/metrics",
    async ({ request }) => {
      requireMetricsAccess(deps, request.headers, exchangeOf(request).connection);
      const { contentType, text } = await traced(request, readMetrics)(deps);
      return new Response(text, {
        headers: { "Content-Type": contentType, "Cache-Control": "no-store" },
      });
    },
    { detail: METRICS_DETAIL },
  );
}

const METRICS_DETAIL = {
  operationId: "readMetrics",
  tags: ["operations"],
  summary: "Read counters and gauges for Prometheus",
  description:
    "With METRICS_TOKEN its bearer is served, without it callers on this machine that ask a loopback Host.",
  security: METRICS_SECURITY,
  responses: {
    200: {
      description: "The metrics",
      headers: { ...REQUEST_ID, "Cache-Control": headerDoc("Always no-store") },
      content: { "text/plain; version=0.0.4; charset=utf-8": { schema: Type.String() } },
    },
    401: jsonReply("Token missing or wrong", SyncErrorSchema, CHALLENGE),
    403: jsonReply(
      "No token is configured, and the caller is on another machine or asks another Host",
      SyncErrorSchema,
    ),
    405: jsonReply("Another method than this path takes", SyncErrorSchema, ALLOW),
  },
};

/** Script and style of the page at `/swagger`. */
export function docsAssetsRoute(assets: DocsAssets) {
  const hidden = { detail: { hide: true } };
  return (
    new Elysia()
      .get(
        "/swagger/swagger-ui-bundle.js",
        async () =>
          asset(await assets.read("swagger-ui-bundle.js"), "text/javascript; charset=utf-8"),
        hidden,
      )
      .get(
        "/swagger/swagger-ui.css",
        async () => asset(await assets.read("swagger-ui.css"), "text/css; charset=utf-8"),
        hidden,
      )
      // Browsers ask for one on every page.
      .get("/favicon.ico", () => new Response(null, { status: 204 }), hidden)
  );
}

function asset(bytes: Uint8Array<ArrayBuffer>, contentType: string): Response {
  return new Response(bytes, {
    headers: { "Content-Type": contentType, "Cache-Control": "public, max-age=3600" },
  });
}
