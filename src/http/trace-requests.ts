// A span for each request, from its first byte here to the end of its reply. D-10.9.
import type { ConnectionInfo, RequestHandler } from "../ports/http/http-server.ts";
import {
  type NamedSpan,
  NO_TRACING,
  type Span,
  type SpanFields,
  type Tracing,
} from "../ports/runtime/tracing.ts";
import { type Route, readTarget } from "./routing.ts";

const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const MAX_HOST_CHARS = 255;

/** Answers a request whose parts are traced by what it is given. */
export type TracedHandler = (
  request: Request,
  connection: ConnectionInfo,
  tracing: Tracing,
) => Promise<Response>;

/** The handler, traced. Addresses are told as the route has them: those of people have their names in them. */
export function traceRequests(
  handler: TracedHandler,
  tracing: Tracing,
  findRoute: (path: string) => Route | null,
): RequestHandler {
  return (request, connection) => {
    const describe = () => describeRequest(request, findRoute(readTarget(request.url).path));
    const span = tracing.beginRequest(request.headers, describe);
    // Below it nothing asks for spans.
    if (span === null) return handler(request, connection, NO_TRACING);
    return answerIn(span, () => handler(request, connection, tracing));
  };
}

async function answerIn(span: Span, answer: () => Promise<Response>): Promise<Response> {
  const reply = await span.around(answer);
  const requestId = reply.headers.get("x-request-id");
  span.set({
    "http.response.status_code": reply.status,
    ...(requestId === null ? {} : { "repsync.request_id": requestId }),
  });
  if (reply.status >= 500) span.fail(String(reply.status));
  if (span.isRecorded && isStream(reply)) return endingWith(reply, span);
  span.end();
  return reply;
}

function describeRequest({ url, method: given, headers }: Request, route: Route | null): NamedSpan {
  const method = METHODS.includes(given) ? given : "_OTHER";
  const host = (headers.get("host") ?? "").slice(0, MAX_HOST_CHARS);
  const port = /:(\d+)$/.exec(host)?.[1];
  const fields: SpanFields = {
    "http.request.method": method,
    "url.scheme": url.startsWith("https:") ? "https" : "http",
    ...(route === null ? {} : { "http.route": route.pattern, "url.path": route.pattern }),
    ...(host === "" ? {} : { "server.address": host.replace(/:\d+$/, "") }),
    ...(port === undefined ? {} : { "server.port": Number(port) }),
  };
  return { name: route === null ? method : `${method} ${route.pattern}`, fields };
}

function isStream({ headers, body }: Response): boolean {
  return body !== null && headers.get("content-type") === "text/event-stream";
}

/** The reply, which ends the span when its stream ends or its reader leaves. */
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
