// A span for each request, from its first byte here to the end of its reply. D-10.9.
import type { NamedSpan, Span, SpanFields, Tracing } from "../ports/runtime/tracing.ts";
import type { Exchange } from "./exchange.ts";

const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const MAX_HOST_CHARS = 255;

interface Asked {
  readonly exchange: Exchange;
  readonly route: string | null;
}

/** Answers in a span. Addresses are told as the route has them: those of people have their names in them. */
export async function answerInSpan(
  tracing: Tracing,
  asked: Asked,
  answer: (isTraced: boolean) => Promise<Response>,
): Promise<Response> {
  const span = tracing.beginRequest(asked.exchange.headers, () => describeRequest(asked));
  // Below it nothing asks for spans.
  if (span === null) return await answer(false);
  return await answerIn(span, () => answer(true));
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

function describeRequest({ exchange, route }: Asked): NamedSpan {
  const { method: given } = exchange.request;
  const method = METHODS.includes(given) ? given : "_OTHER";
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
