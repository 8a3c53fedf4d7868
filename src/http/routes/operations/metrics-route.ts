import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { type ReadMetricsDeps, readMetrics } from "../../../usecases/operations/read-metrics.ts";
import { exchangeOf } from "../../exchange.ts";
import { type MetricsGuardDeps, requireMetricsAccess } from "../../guards/metrics-token.ts";
import {
  ALLOW,
  CHALLENGE,
  headerDoc,
  jsonReply,
  METRICS_SECURITY,
  REQUEST_ID,
} from "../../openapi.ts";
import { SyncError } from "../../schemas/sync.ts";

/** What the metrics route needs. */
export interface MetricsRouteDeps extends ReadMetricsDeps, MetricsGuardDeps {}

/** `GET /metrics`. D-1.3, D-6.8. */
export function metricsRoute(deps: MetricsRouteDeps) {
  return new Elysia().get(
    "/metrics",
    async ({ request }) => {
      requireMetricsAccess(deps, request.headers, exchangeOf(request).connection);
      const { contentType, text } = await readMetrics(deps);
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
  description: "With METRICS_TOKEN its bearer is served, without it callers on this machine.",
  security: METRICS_SECURITY,
  responses: {
    200: {
      description: "The metrics",
      headers: { ...REQUEST_ID, "Cache-Control": headerDoc("Always no-store") },
      content: { "text/plain; version=0.0.4; charset=utf-8": { schema: Type.String() } },
    },
    401: jsonReply("Token missing or wrong", SyncError, CHALLENGE),
    403: jsonReply("No token is configured, and the caller is on another machine", SyncError),
    405: jsonReply("Another method than this path takes", SyncError, ALLOW),
  },
};
