import { setTimeout as delay } from "node:timers/promises";
import type { HttpServer, ListenOptions, RequestHandler } from "../../ports/http/http.ts";

/** The part of Deno's API used here; the project's types are Bun's. */
interface DenoServe {
  serve(
    options: { hostname: string; port: number; cert?: string; key?: string; onListen: () => void },
    handler: (request: Request, info: { remoteAddr: { hostname?: string } }) => Promise<Response>,
  ): {
    addr: { hostname: string; port: number };
    shutdown(): Promise<void>;
    finished: Promise<void>;
  };
}

/** A stop cuts requests whose bodies are still arriving: Deno stops reading them. */
export async function startDenoServer(
  handler: RequestHandler,
  options: ListenOptions,
): Promise<HttpServer> {
  const deno = (globalThis as unknown as { Deno: DenoServe }).Deno;
  const { host, port, tls } = options;
  const pair = tls ? { cert: tls.certificate, key: tls.key } : {};
  const server = deno.serve(
    { hostname: host, port, ...pair, onListen: () => {} },
    (request, info) =>
      handler(request, {
        remoteAddress: info.remoteAddr.hostname ?? null,
        // Deno does not end a body that was read in part.
        endsUnread: true,
        keepOpen: () => {},
      }),
  );
  return {
    url: `${tls ? "https" : "http"}://${urlHost(server.addr.hostname)}:${server.addr.port}`,
    leavePort: async () => void server.shutdown(),
    stop: async (graceMs) => {
      await Promise.race([server.shutdown(), delay(graceMs, undefined, { ref: false })]);
    },
  };
}

function urlHost(hostname: string): string {
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}
