// Calls of the store and requests to the remote, with a span each.
import type { CallOptions } from "../../ports/documents.ts";
import type { Tracing } from "../../ports/runtime/tracing.ts";
import type { FullStorage } from "../../ports/storage.ts";

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

/** A store whose calls have a span each, below a recorded one. `system` is OpenTelemetry's name of the store, such as `mongodb`. */
export function tracedStorage(tracing: Tracing, storage: FullStorage, system: string): FullStorage {
  return traced(tracing, storage, system, "store");
}

function traced<Target extends object>(
  tracing: Tracing,
  target: Target,
  system: string,
  part: string,
): Target {
  const known = new Map<PropertyKey, unknown>();
  return new Proxy(target, {
    // A method needs its own object, as a proxy has no private fields.
    get(_, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof key !== "string" || value === null) return value;
      if (typeof value === "object" && part === "store") {
        return known.getOrInsertComputed(key, () => traced(tracing, value, system, key));
      }
      if (typeof value !== "function") return value;
      const fields = { "db.system.name": system, "db.operation.name": key };
      const options = { kind: "client", fields } as const;
      const trace =
        () =>
        (...args: unknown[]) => {
          const call = () => Reflect.apply(value, target, args) as unknown;
          if (!tracing.isRecorded()) return call();
          const [given] = part === "documents" ? (args as Partial<CallOptions>[]) : [];
          return tracing.inSpan(given?.name ?? `${part}.${key}`, call, options);
        };
      return known.getOrInsertComputed(key, trace);
    },
  });
}
