// Puts the routes together and gives every reply what all replies share.

import { openapi } from "@elysiajs/openapi";
import { Elysia } from "elysia";
import { AppError } from "../domain/shared/errors.ts";
import { REPLY_DEADLINE_MS } from "../domain/shared/limits.ts";
import { cutText } from "../domain/shared/text.ts";
import type { Digest } from "../ports/crypto/crypto.ts";
import type { ConsoleFiles } from "../ports/http/console-files.ts";
import type { DocsAssets, RequestHandler } from "../ports/http/http-server.ts";
import type { Logger } from "../ports/runtime/logger.ts";
import type { AnsweredRequest, Metrics } from "../ports/runtime/metrics.ts";
import type { Clock, Ids, Timer } from "../ports/runtime/runtime.ts";
import type { Tracing } from "../ports/runtime/tracing.ts";
import { renewCookie, renewCookie2 } from "./cookie-renewal.ts";
import { addCorsHeaders, preflightReply } from "./cors.ts";
import { failureReply } from "./errors.ts";
import { type BrowserSettings, beginExchange, type Exchange, exchangeOf } from "./exchange.ts";
import { documentOf } from "./openapi.ts";
import type { Operation } from "./operation.ts";
import { addConsoleHeaders, isForBrowsers, secured } from "./page-security.ts";
import { isHealthPath, isReputationPath } from "./paths.ts";
import type { ReplyTools } from "./replies.ts";
import { consoleRoutes, isConsolePath } from "./routes/console/console-routes.ts";
import {
  docsAssetsRoute,
  healthRoute,
  type MetricsRouteDeps,
  metricsRoute,
  type ProbeDeps,
  probeRoutes,
} from "./routes/operations/operation-routes.ts";
import { rootRoute } from "./routes/operations/root-route.ts";
import { type ReputationRoutesDeps, reputationRoutes } from "./routes/reputation-routes.ts";
import {
  type SyncAdministratorRoutesDeps,
  type SyncKeyRoutesDeps,
  syncRoutes,
} from "./routes/sync-routes.ts";
import {
  asRouted,
  createRouteFinder,
  MethodNotAllowed,
  type Route,
  readTarget,
  type Target,
} from "./routing.ts";
import { type TracedHandler, traceRequests } from "./trace-requests.ts";
import { endIfUnread } from "./unread-bodies.ts";

interface AppDeps {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly ids: Ids;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly docsAssets: DocsAssets;
  /** Null where the console is disabled. */
  readonly consoleFiles: ConsoleFiles | null;
  readonly digest: Digest;
  readonly browsers: BrowserSettings;
  readonly tracing: Tracing;
  readonly health: ProbeDeps;
  readonly metricsRoute: MetricsRouteDeps;
  readonly pages: SyncKeyRoutesDeps;
  readonly runs: SyncAdministratorRoutesDeps;
  readonly reputation: ReputationRoutesDeps;
}

const REQUEST_ID = /^[\w-]{8,64}$/;
const LOOKUPS = "/v1/public/";
/** An unknown path is repeated in the message up to this length. */
const MAX_PATH_ECHO_CHARS = 200;

/** Addresses of this service, so that the page needs no internet. */
const SWAGGER_PAGE = {
  url: "/swagger/json",
  cdn: "/swagger/swagger-ui-bundle.js",
  theme: "/swagger/swagger-ui.css",
};

/** Answers every request of both interfaces. Never rejects. */
export function createRequestHandler(deps: AppDeps): RequestHandler {
  const app = createElysia(deps);
  const findRoute = createRouteFinder(app.routes);
  const renewal = { ...deps.reputation.accounts, logger: deps.logger };

  async function handle(request: Request, target: Target): Promise<Response> {
    const reply = await app.handle(asRouted(request, target));
    await renewCookie(renewal, request, reply);
    return reply;
  }

  async function answer(request: Request, target: Target, route: Route | null): Promise<Response> {
    if (route === null) {
      const path = cutText(target.path, MAX_PATH_ECHO_CHARS);
      throw new AppError("not_found", `Nothing is served at ${path}`);
    }
    const { method } = request;
    const preflight = preflightReply(request, target.path, route);
    if (preflight !== null) return preflight;
    if (!route.methods.includes(method)) throw new MethodNotAllowed(method, route.methods);
    const exchange = exchangeOf(request);
    const replying = () => handle(request, target);
    const isTimed = hasDeadline(target.path);
    const reply = await (isTimed ? inTime(replying, exchange, deps.timer) : replying());
    const { failure } = exchange;
    if (failure !== null) throw failure.error;
    if (isConsolePath(target.path)) return reply;
    return isForBrowsers(reply) ? await secured(reply, deps.digest) : reply;
  }

  const { lifecycle } = deps.health;
  const respond: TracedHandler = async (request, connection, tracing) => {
    const startedAtMs = deps.clock.monotonicMs();
    const { method } = request;
    const target = readTarget(request.url);
    const route = findRoute(target.path);
    const requestId = chooseRequestId(request, deps.ids);
    const { browsers } = deps;
    const exchange = beginExchange(request, {
      path: target.path,
      ...{ requestId, connection, browsers, tracing },
    });
    const logged = { request_id: requestId, method, route: route?.pattern ?? null };
    const isTaken = lifecycle.begin();
    // Health is told to the end.
    const answering =
      isTaken || isHealthPath(target.path) ? answer(request, target, route) : refused();
    const reply = await answering.catch((error: unknown) => {
      const context = { path: target.path, requestId, nowMs: deps.clock.nowMs() };
      const failure = failureReply(error, context);
      if (failure.status >= 500 && isTaken && !deps.metricsRoute.damage.isKnown(error)) {
        deps.logger.error("Request failed", error, logged);
      }
      exchange.hasCommonHeaders = false;
      return failure;
    });
    if (!exchange.hasCommonHeaders) addCommonHeaders(reply, target.path, requestId);
    if (isConsolePath(target.path)) addConsoleHeaders(reply);
    addCorsHeaders(reply, request, target.path);
    // Bun leaves it out of replies to HEAD only.
    if (method === "HEAD") reply.headers.set("Date", new Date(deps.clock.nowMs()).toUTCString());
    const durationMs = deps.clock.monotonicMs() - startedAtMs;
    const answered = { ...logged, status: reply.status, duration_ms: Math.round(durationMs) };
    deps.metrics.countRequest(answered, durationMs);
    deps.logger[requestLogLevel(answered)]("Request answered", answered);
    if (connection.endsUnread !== true) {
      await endIfUnread(reply, request, { timer: deps.timer, elapsedMs: durationMs });
    }
    if (isTaken) lifecycle.end();
    return reply;
  };
  const { tracing } = deps;
  if (tracing.isOn) return traceRequests(respond, tracing, findRoute);
  return (request, connection) => respond(request, connection, tracing);
}

/** What a service that is stopping says. D-10.5. */
async function refused(): Promise<Response> {
  throw new AppError("stopping", "The service is stopping; ask again in a moment");
}

/** True when the deadline of D-8.3 is kept here; for lookups their queue keeps it. */
function hasDeadline(path: string): boolean {
  return isReputationPath(path) && !path.startsWith("/v1/public/");
}

/** The reply. Throws when it takes too long; the work may still be done. */
async function inTime(
  replying: () => Promise<Response>,
  exchange: Exchange,
  timer: Timer,
): Promise<Response> {
  const replied = new AbortController();
  exchange.answered = replied.signal;
  const deadline = timer.sleep(REPLY_DEADLINE_MS, replied.signal).then(() => {
    throw new AppError("store_unavailable", "The store did not answer in time");
  });
  deadline.catch(() => {});
  try {
    return await Promise.race([replying(), deadline]);
  } finally {
    replied.abort();
  }
}

/** The caller's own id where it fits, else a new one. D-5.3. */
export function chooseRequestId(request: Request, ids: Ids): string {
  const given = request.headers.get("x-request-id") ?? "";
  return REQUEST_ID.test(given) ? given : ids.next();
}

/** What every reply has. D-5.3. */
export function addCommonHeaders(reply: Response, path: string, requestId: string): void {
  reply.headers.set("X-Request-Id", requestId);
  if (isReputationPath(path) && !isHealthPath(path)) {
    reply.headers.set("Cache-Control", "private, no-store");
  }
}

/** Routes of operations. */
function served(operations: readonly Operation[], tools: ReplyTools) {
  const app = new Elysia();
  for (const { method, path, document, answer } of operations) {
    app.route(method, path, ({ request, params }) => answer(exchangeOf(request), params, tools), {
      parse: "none",
      detail: document,
    });
  }
  return app;
}

function createElysia(deps: AppDeps) {
  const { clock, timer, digest } = deps;
  const { gzip } = deps.pages;
  const renewal = { ...deps.reputation.accounts, logger: deps.logger };
  const tools: ReplyTools = {
    ...{ clock, timer, digest, gzip },
    renewCookie: (exchange, identity, reply) => renewCookie2(renewal, exchange, identity, reply),
  };
  const routes = new Elysia()
    .use(served(syncRoutes(deps.pages, deps.runs), tools))
    .use(rootRoute({ isConsoleEnabled: deps.consoleFiles !== null }))
    .use(healthRoute(deps.health))
    .use(probeRoutes(deps.health))
    .use(metricsRoute(deps.metricsRoute))
    .use(reputationRoutes(deps.reputation));
  return new Elysia()
    .onError(({ request, error }) => {
      exchangeOf(request).failure = { error };
      return new Response(null, { status: 500 });
    })
    .use(docsAssetsRoute(deps.docsAssets))
    .use(deps.consoleFiles === null ? new Elysia() : consoleRoutes(deps.consoleFiles))
    .use(
      openapi({
        path: "/swagger",
        specPath: "/swagger/json",
        provider: "swagger-ui",
        swagger: SWAGGER_PAGE,
        documentation: documentOf(routes.routes),
        exclude: { paths: [/^\/(?:swagger|console)/] },
      }),
    )
    .use(routes);
}

/**
 * Level of the line that each answered request gets. Lookups that were allowed are the bulk of what a deployment answers,
 * and each is in the audit log: their lines are for debugging. D-5.3.
 */
export function requestLogLevel({ route, status }: AnsweredRequest): "info" | "debug" {
  return status === 200 && route?.startsWith(LOOKUPS) ? "debug" : "info";
}
