import type { Tracing } from "../../ports/runtime/tracing.ts";

type Send = (url: string, init: RequestInit) => Promise<Response>;

/** The path without the name of a table. */
const TEMPLATE = /\/api\/v1\/sync\/[a-z-]+/;

/** Sends each request in a span, with the headers that continue the trace at the other end. */
export function tracedFetch(tracing: Tracing): Send {
  return (url, init) => {
    const { hostname, port, protocol, origin, pathname } = new URL(url);
    const method = init.method ?? "GET";
    const path = TEMPLATE.exec(pathname)?.[0] ?? "";
    const fields = {
      "http.request.method": method,
      "url.full": origin + pathname,
      "server.address": hostname,
      "server.port": Number(port || (protocol === "https:" ? 443 : 80)),
    };
    return tracing.inSpan(
      `${method} ${path}`.trim(),
      async (span) => {
        const headers = { ...(init.headers as Record<string, string>), ...tracing.headers() };
        const reply = await fetch(url, { ...init, headers });
        span.set({ "http.response.status_code": reply.status });
        if (reply.status >= 400) span.fail(String(reply.status));
        return reply;
      },
      { kind: "client", fields },
    );
  };
}
