// Puts the operations together: Elysia routes them, everything else is 404 or 405.
import { Elysia } from "elysia";
import { AppError } from "../domain/shared/errors.ts";
import { cutText } from "../domain/shared/text.ts";
import type { Digest, Gzip } from "../ports/crypto/crypto.ts";
import type { ConsoleFiles, DocsAssets, RequestHandler } from "../ports/http/http.ts";
import type { Ids } from "../ports/runtime/runtime.ts";
import type { ProbeDeps } from "../usecases/operations/health.ts";
import type { Lookups } from "../usecases/reputation/lookups/look-up.ts";
import { Answering, type AnsweringDeps } from "./answering.ts";
import { MethodNotAllowed } from "./errors.ts";
import { type BrowserSettings, Exchange } from "./exchange.ts";
import { preflightReply, renewCookie } from "./guards/browser.ts";
import type { Operation } from "./operation.ts";
import { meRoutes } from "./routes/account/me-routes.ts";
import { sessionRoutes } from "./routes/account/session-routes.ts";
import { type AdminRouteDeps, adminRoutes } from "./routes/admin/admin-routes.ts";
import { consoleRoutes } from "./routes/console/console-routes.ts";
import {
  docsRoutes,
  type MetricsRouteDeps,
  operationRoutes,
} from "./routes/operations/operation-routes.ts";
import { lookupRoutes } from "./routes/reputation/lookup-routes.ts";
import { fileRoutes } from "./routes/sync/file-routes.ts";
import { guessRoute } from "./routes/sync/guess-route.ts";
import { pageRoutes, type ServedSync } from "./routes/sync/page-routes.ts";
import type { SyncAdministration } from "./routes/sync/run-replies.ts";
import { runRoutes } from "./routes/sync/run-routes.ts";
import { rowRoutes, tableRoutes } from "./routes/sync/table-routes.ts";

interface AppDeps extends AnsweringDeps {
  readonly ids: Ids;
  readonly browsers: BrowserSettings;
  readonly digest: Digest;
  readonly gzip: Gzip;
  readonly docsAssets: DocsAssets;
  /** Null where the console is disabled. */
  readonly consoleFiles: ConsoleFiles | null;
  readonly health: ProbeDeps;
  readonly metricsRoute: MetricsRouteDeps;
  readonly pages: ServedSync;
  readonly runs: SyncAdministration;
  readonly reputation: AdminRouteDeps & { readonly lookups: Lookups };
}

/** The most characters of an unknown path in the message. */
const MAX_PATH_ECHO_CHARS = 200;

/** Answers every request of both interfaces. Never rejects. */
export function createRequestHandler(deps: AppDeps): RequestHandler {
  const { reputation, logger, browsers, ids } = deps;
  const cookies = { accounts: reputation.accounts, logger };
  const answering = new Answering(deps, {
    ...deps,
    renewCookie: (...reply) => renewCookie(cookies, ...reply),
  });
  const elysia = route(operationsOf(deps), answering);
  return (request, connection) => {
    // Elysia reads `url` and `method`, and hands the exchange on.
    const exchange = new Exchange(request, { connection, browsers, ids });
    return elysia.handle(exchange as unknown as Request);
  };
}

function operationsOf(deps: AppDeps): Operation[] {
  const { consoleFiles, digest, docsAssets: assets, pages: served, runs, reputation } = deps;
  const { accounts, lookups } = reputation;
  const operations = [
    ...pageRoutes(served),
    ...runRoutes(runs),
    ...tableRoutes(runs),
    ...fileRoutes(runs),
    guessRoute(runs),
    ...rowRoutes(runs),
    ...operationRoutes({
      health: deps.health,
      metrics: deps.metricsRoute,
      isConsoleEnabled: consoleFiles !== null,
    }),
    ...lookupRoutes(lookups),
    ...sessionRoutes(accounts),
    ...meRoutes(accounts),
    ...adminRoutes(reputation),
  ];
  const pages = consoleFiles === null ? [] : consoleRoutes(consoleFiles);
  return [
    ...operations,
    ...docsRoutes(operations, { assets, digest, registry: served.registry }),
    ...pages,
  ];
}

/** Paths match as they are written: servers resolve `..`, and other forms must match no route. */
function route(operations: readonly Operation[], answering: Answering) {
  const elysia = new Elysia({ strictPath: true });
  const serve = (method: string, path: string | null, answer: Operation["answer"]) => {
    elysia.route(
      method,
      path ?? "/*",
      ({ request, params }) => {
        const exchange = request as unknown as Exchange;
        return answering.answer(exchange, path, (tools) => answer(exchange, params, tools));
      },
      { parse: "none" },
    );
  };
  for (const [path, served] of Map.groupBy(operations, (operation) => operation.path)) {
    for (const { method, answer } of served) serve(method, path, answer);
    const methods = methodsOf(served);
    serve("ALL", path, async (exchange) => otherMethod(exchange, methods));
  }
  serve("ALL", null, async ({ path }) => {
    throw new AppError("not_found", `Nothing is served at ${cutText(path, MAX_PATH_ECHO_CHARS)}`);
  });
  return elysia;
}

/** GET with HEAD first. */
function methodsOf(served: readonly Operation[]): string[] {
  const methods = served.map(({ method }) => method);
  const others = methods.filter((method) => method !== "GET");
  return methods.includes("GET") ? ["GET", "HEAD", ...others] : others;
}

function otherMethod(exchange: Exchange, methods: readonly string[]): Response {
  const preflight = preflightReply(exchange, methods);
  if (preflight !== null) return preflight;
  throw new MethodNotAllowed(exchange.request.method, methods);
}
