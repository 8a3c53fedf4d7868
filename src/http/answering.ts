// The common parts of all replies: request id, deadline, failures, log, metrics and traces.
import { AppError, storeTooLate } from "../domain/shared/errors.ts";
import { REPLY_DEADLINE_MS } from "../domain/shared/limits.ts";
import { formatMs } from "../domain/shared/time.ts";
import type { RequestHandler } from "../ports/http/http.ts";
import { type AnsweredRequest, METHODS, type Metrics } from "../ports/runtime/metrics.ts";
import { type Clock, type Ids, type Logger, type Timer, within } from "../ports/runtime/runtime.ts";
import {
  type NamedSpan,
  NO_TRACING,
  type Span,
  type SpanFields,
  type Tracing,
} from "../ports/runtime/tracing.ts";
import type { Lifecycle } from "../usecases/operations/health.ts";
import { hasArrived } from "./bodies.ts";
import type { ReplyTools } from "./description.ts";
import { failureReply } from "./errors.ts";
import { type BrowserSettings, Exchange, isHealthPath, isReputationPath } from "./exchange.ts";
import { addCorsHeaders } from "./guards/browser.ts";

export interface AnsweringDeps {
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly lifecycle: Lifecycle;
  /** Knows failures that are in the log already. */
  readonly damage: { isKnown(error: unknown): boolean };
}

type Work = (tools: ReplyTools) => Promise<Response>;

const LOOKUPS = "/v1/public/";

export class Answering {
  readonly #deps: AnsweringDeps;
  readonly #tools: ReplyTools;
  readonly #untraced: ReplyTools;

  constructor(deps: AnsweringDeps, tools: ReplyTools) {
    this.#deps = deps;
    this.#tools = tools;
    this.#untraced = { ...tools, tracing: NO_TRACING };
  }

  /** Replies with the work of a route. `route`: its path with the names of parameters; null without one. Never rejects. */
  answer(exchange: Exchange, route: string | null, work: Work): Promise<Response> {
    const { tracing } = this.#deps;
    if (!tracing.isOn) return this.#answer(exchange, route, () => work(this.#untraced));
    return answerInSpan(tracing, exchange, route, (isTraced) =>
      this.#answer(exchange, route, () => work(isTraced ? this.#tools : this.#untraced)),
    );
  }

  async #answer(
    exchange: Exchange,
    route: string | null,
    work: () => Promise<Response>,
  ): Promise<Response> {
    const { clock, timer, lifecycle } = this.#deps;
    const { path, request } = exchange;
    const startedAtMs = clock.monotonicMs();
    const isTaken = lifecycle.begin();
    // Health is answered to the end.
    const isAnswered = isTaken || isHealthPath(path);
    const working = isAnswered ? inTime(exchange, work, timer) : refused();
    const reply = await working.catch((error: unknown) => {
      const failure = failureReply(error, exchange, clock.nowMs());
      if (failure.status >= 500 && isTaken) this.#logFailure(exchange, route, error);
      return failure;
    });
    exchange.end();
    addCorsHeaders(reply, exchange);
    // Bun sets it, except in replies to HEAD.
    if (request.method === "HEAD") reply.headers.set("Date", new Date(clock.nowMs()).toUTCString());
    const durationMs = clock.monotonicMs() - startedAtMs;
    this.#count(exchange, { method: request.method, route, status: reply.status }, durationMs);
    const isWhole =
      exchange.connection.endsUnread === true ||
      (await hasArrived(request, timer, REPLY_DEADLINE_MS - durationMs));
    if (!isWhole) reply.headers.set("Connection", "close");
    if (isTaken) lifecycle.end();
    return reply;
  }

  #logFailure({ request, requestId }: Exchange, route: string | null, error: unknown): void {
    const { logger, damage } = this.#deps;
    if (damage.isKnown(error)) return;
    logger.error("Request failed", error, { request_id: requestId, method: request.method, route });
  }

  #count({ requestId }: Exchange, answered: AnsweredRequest, durationMs: number): void {
    const { logger, metrics } = this.#deps;
    metrics.countRequest(answered, durationMs);
    const line = { request_id: requestId, ...answered, duration_ms: Math.round(durationMs) };
    logger[requestLogLevel(answered)]("Request answered", line);
  }
}

/** The reply of a service that is stopping. D-10.5. */
async function refused(): Promise<Response> {
  throw new AppError("stopping", "The service is stopping");
}

/** Throws when the reply takes too long; the work may still be done. The queue of lookups keeps their deadline. D-8.3. */
async function inTime(
  { path }: Exchange,
  work: () => Promise<Response>,
  timer: Timer,
): Promise<Response> {
  if (!isReputationPath(path) || path.startsWith(LOOKUPS)) return await work();
  const reply = await within(timer, REPLY_DEADLINE_MS, work());
  if (reply !== null) return reply;
  throw storeTooLate();
}

/**
 * Level of the log line of a request. Allowed lookups are most of all requests and in the audit log: their lines are for
 * debugging. D-5.3.
 */
export function requestLogLevel({ route, status }: AnsweredRequest): "info" | "debug" {
  return status === 200 && route?.startsWith(LOOKUPS) ? "debug" : "info";
}

// A span for each request, from its first byte here to the end of its reply. D-10.9.

const MAX_HOST_CHARS = 255;

/** Answers in a span, which has the address as the route has it: addresses of people hold their names. */
async function answerInSpan(
  tracing: Tracing,
  exchange: Exchange,
  route: string | null,
  answer: (isTraced: boolean) => Promise<Response>,
): Promise<Response> {
  const span = tracing.beginRequest(exchange.headers, () => describeRequest(exchange, route));
  // Nothing below asks for spans.
  if (span === null) return await answer(false);
  const reply = await span.around(() => answer(true));
  span.set({
    "http.response.status_code": reply.status,
    "repsync.request_id": exchange.requestId,
  });
  if (reply.status >= 500) span.fail(String(reply.status));
  if (span.isRecorded && isStream(reply)) return endingWith(reply, span);
  span.end();
  return reply;
}

function describeRequest(exchange: Exchange, route: string | null): NamedSpan {
  const { method: given } = exchange.request;
  const method = METHODS.has(given) ? given : "_OTHER";
  const host = (exchange.headers.get("host") ?? "").slice(0, MAX_HOST_CHARS);
  const port = /:(\d+)$/.exec(host)?.[1];
  const fields: SpanFields = {
    "http.request.method": method,
    "url.scheme": exchange.isTls ? "https" : "http",
    ...(route === null ? {} : { "http.route": route, "url.path": route }),
    ...(host === "" ? {} : { "server.address": host.replace(/:\d+$/, "") }),
    ...(port === undefined ? {} : { "server.port": Number(port) }),
  };
  return { name: route === null ? method : `${method} ${route}`, fields };
}

function isStream({ headers, body }: Response): boolean {
  return body !== null && headers.get("content-type") === "text/event-stream";
}

/** The reply, whose stream ends the span at its end or when its reader leaves. */
function endingWith(reply: Response, span: Span): Response {
  const reader = reply.body?.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const part = await reader?.read();
        if (part?.value !== undefined) return controller.enqueue(part.value);
        span.end();
        controller.close();
      },
      async cancel(reason) {
        span.end();
        await reader?.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, reply);
}

// Replies of a process from the moment its port is bound until its deployment serves. D-11.4.

interface StartingDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  /** The runtime, such as `bun 1.4.5`. */
  readonly runtimeVersion: string;
}

const NO_BROWSERS: BrowserSettings = { sessionCookie: "", corsOrigins: [], trustedProxyHops: 0 };

/** Answers that the process lives, and takes no requests yet. Never rejects. */
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
