// Routes about the service: its addresses, its health, its metrics, the page of its interfaces., D-6.8, D-8.6, D-9.1, D-10.5.
import { openapi } from "@elysiajs/openapi";
import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Registry } from "../../../domain/sync/table/table.ts";
import type { Digest } from "../../../ports/crypto/crypto.ts";
import type { DocsAssets } from "../../../ports/http/http.ts";
import { checkHealth, checkReady, type ProbeDeps } from "../../../usecases/operations/health.ts";
import { type ReadMetricsDeps, readMetrics } from "../../../usecases/operations/read-metrics.ts";
import { Answer, EVERYBODY, headerDoc } from "../../description.ts";
import type { Exchange } from "../../exchange.ts";
import { type MetricsGuardDeps, metricsReader } from "../../guards/secrets.ts";
import { openApiOf } from "../../openapi.ts";
import { type Operation, operation, pageAt } from "../../operation.ts";
import { secured } from "../../page-security.ts";
import { json, plain } from "../../replies.ts";
import { model } from "../../schemas/parts.ts";
import { HealthSchema, LivenessSchema, ReadinessSchema } from "../../schemas/sync.ts";

const PAGE = "/swagger";
const DOCUMENT = "/swagger/json";
const SCRIPT = "/swagger/swagger-ui-bundle.js";
const STYLE = "/swagger/swagger-ui.css";
/** Addresses here, so that the page needs no internet. */
const SWAGGER_UI = { url: DOCUMENT, cdn: SCRIPT, theme: STYLE };

export interface MetricsRouteDeps extends ReadMetricsDeps, MetricsGuardDeps {}

interface OperationRoutesDeps {
  readonly health: ProbeDeps;
  readonly metrics: MetricsRouteDeps;
  readonly isConsoleEnabled: boolean;
}

export function operationRoutes(deps: OperationRoutesDeps): Operation[] {
  return [places(deps), ...probes(deps.health), metrics(deps.metrics)];
}

const PLACES = { api: DOCUMENT, docs: PAGE, health: "/v1/health" };
const VARY = { Vary: headerDoc("Always Accept") };
const Path = (description: string) => Type.String({ description });
const PlacesSchema = model("Places", {
  console: Type.Optional(Path("The web console; absent where it is disabled")),
  api: Path("The description of both interfaces as OpenAPI"),
  docs: Path("The same as a page"),
  health: Path("Whether the service is alive"),
});

/** Leads browsers to the console, and tells others where things are. */
function places({ isConsoleEnabled }: OperationRoutesDeps): Operation {
  const vary = { Vary: "Accept" };
  const places = { ...(isConsoleEnabled ? { console: "/console" } : {}), ...PLACES };
  return operation({
    at: "GET /",
    id: "findPlaces",
    summary: "Tell where things are",
    guard: EVERYBODY,
    replies: {
      200: json("Where things are", PlacesSchema, VARY),
      303: plain("Browsers are led to the console", null, {
        ...VARY,
        Location: headerDoc("The console"),
      }),
    },
    run: ({ exchange: { headers } }) => {
      const isBrowser = /\btext\/html\b/i.test(headers.get("accept") ?? "");
      return isConsoleEnabled && isBrowser
        ? new Answer(303, null, { ...vary, Location: "/console" })
        : new Answer(200, places, vary);
    },
  });
}

function probes(deps: ProbeDeps): Operation[] {
  return [
    operation({
      at: "GET /v1/health",
      id: "checkHealth",
      summary: "Tell whether the service and its store are alive",
      guard: EVERYBODY,
      replies: {
        200: json("Alive", HealthSchema),
        503: json("The store does not answer, or the service ends its last requests", HealthSchema),
      },
      run: async () => {
        const found = await checkHealth(deps);
        const success = found.status === "ok" && !deps.lifecycle.isDraining;
        const told = { ...found, success, status: success ? "ok" : "degraded" } as const;
        return new Answer(success ? 200 : 503, told);
      },
    }),
    // Like the next one, for programs that start, restart and balance processes.
    operation({
      at: "GET /v1/health/live",
      id: "checkLive",
      summary: "Tell whether the process answers",
      guard: EVERYBODY,
      replies: { 200: json("It does", LivenessSchema) },
      run: () => ({ status: "ok" }),
    }),
    operation({
      at: "GET /v1/health/ready",
      id: "checkReady",
      summary: "Tell whether requests may be sent here",
      guard: EVERYBODY,
      replies: {
        200: json("The store answers", ReadinessSchema),
        503: json("The store does not answer, or the service starts or stops", ReadinessSchema),
      },
      run: async () => {
        const status = await checkReady(deps);
        return new Answer(status === "ok" ? 200 : 503, { status });
      },
    }),
  ];
}

function metrics(deps: MetricsRouteDeps): Operation {
  return operation({
    at: "GET /metrics",
    id: "readMetrics",
    summary: "Read counters and gauges for Prometheus",
    description:
      "With METRICS_TOKEN its bearer is served, without it callers on this machine that ask a loopback Host.",
    guard: metricsReader(deps),
    replies: {
      200: plain("The metrics", "text/plain; version=0.0.4; charset=utf-8", {
        "Cache-Control": headerDoc("Always no-store"),
      }),
    },
    run: async () => new Answer(200, await readMetrics(deps), { "Cache-Control": "no-store" }),
  });
}

interface DocsRoutesDeps {
  readonly assets: DocsAssets;
  readonly digest: Digest;
  /** The document names its tables. */
  readonly registry: Registry;
}

/** The OpenAPI document of `operations`, and its page, which loads everything from this service. */
export function docsRoutes(
  operations: readonly Operation[],
  { assets, digest, registry }: DocsRoutesDeps,
): Operation[] {
  let plugin = pluginFor(operations);
  let names = tableNames(registry);
  const made = async (path: string, exchange: Exchange) => {
    if (tableNames(registry) !== names) {
      plugin = pluginFor(operations);
      names = tableNames(registry);
    }
    const reply = await plugin.handle(new Request(`http://localhost${path}`));
    const headers = { ...Object.fromEntries(reply.headers), ...exchange.replyHeaders() };
    return new Response(await reply.bytes(), { status: reply.status, headers });
  };
  return [
    pageAt(PAGE, async (exchange) => secured(await made(PAGE, exchange), digest)),
    pageAt(DOCUMENT, (exchange) => made(DOCUMENT, exchange)),
    pageAt(SCRIPT, async (exchange) => {
      const script = await assets.read("swagger-ui-bundle.js");
      return secured(assetReply(exchange, script, "text/javascript; charset=utf-8"), digest);
    }),
    pageAt(STYLE, async (exchange) =>
      assetReply(exchange, await assets.read("swagger-ui.css"), "text/css; charset=utf-8"),
    ),
    // Browsers ask for it on every page.
    pageAt("/favicon.ico", (exchange) => {
      return new Response(null, { status: 204, headers: exchange.replyHeaders() });
    }),
  ];
}

/** The plugin keeps the document that it makes. */
function pluginFor(operations: readonly Operation[]) {
  return new Elysia().use(
    openapi({
      path: PAGE,
      specPath: DOCUMENT,
      provider: "swagger-ui",
      swagger: SWAGGER_UI,
      documentation: openApiOf(operations),
    }),
  );
}

function tableNames(registry: Registry): string {
  return [...registry.keys()].join();
}

function assetReply(exchange: Exchange, bytes: Uint8Array<ArrayBuffer>, contentType: string) {
  const headers = { "Content-Type": contentType, "Cache-Control": "public, max-age=3600" };
  return new Response(bytes, { headers: { ...headers, ...exchange.replyHeaders() } });
}
