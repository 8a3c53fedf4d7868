// A span for each request, from its first byte here to the end of its reply. D-10.9.
import type { RequestHandler } from "../ports/http/http-server.ts";
import type { Span, SpanFields, Tracing } from "../ports/runtime/tracing.ts";
import { type Route, readTarget } from "./routing.ts";

const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const MAX_HOST_CHARS = 255;

/** The same handler, traced. Addresses are told as the route has them: those of people have their names in them. */
export function traceRequests(
  handler: RequestHandler,
  tracing: Tracing,
  findRoute: (path: string) => Route | null,
): RequestHandler {
  if (!tracing.isOn) return handler;
  return async (request, connection) => {
    const route = findRoute(readTarget(request.url).path)?.pattern ?? null;
    const method = METHODS.includes(request.method) ? request.method : "_OTHER";
    const name = route === null ? method : `${method} ${route}`;
    const fields = fieldsOf(request, method, route);
    const span = tracing.beginRequest(name, request.headers, { kind: "server", fields });
    const reply = await span.around(() => handler(request, connection));
    span.set({ "http.response.status_code": reply.status });
    const requestId = reply.headers.get("x-request-id");
    if (requestId !== null) span.set({ "repsync.request_id": requestId });
    if (reply.status >= 500) span.fail(String(reply.status));
    if (span.isRecorded && isStream(reply)) return endingWith(reply, span);
    span.end();
    return reply;
  };
}

function fieldsOf({ url, headers }: Request, method: string, route: string | null): SpanFields {
  const host = (headers.get("host") ?? "").slice(0, MAX_HOST_CHARS);
  const port = /:(\d+)$/.exec(host)?.[1];
  return {
    "http.request.method": method,
    "url.scheme": url.startsWith("https:") ? "https" : "http",
    ...(route === null ? {} : { "http.route": route, "url.path": route }),
    ...(host === "" ? {} : { "server.address": host.replace(/:\d+$/, "") }),
    ...(port === undefined ? {} : { "server.port": Number(port) }),
  };
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
