import type { HttpServer, ListenOptions, RequestHandler } from "../../ports/http/http-server.ts";
import { boundMemory } from "./memory-bound.ts";

/** Seconds a connection may be silent; handlers that may take longer call `keepOpen`. */
const IDLE_TIMEOUT_SECONDS = 60;
/** Bodies are limited while they are read, with a proper reply; Bun's own limit would close the connection without one. */
const NO_BODY_CAP = Number.MAX_SAFE_INTEGER;

export async function startBunServer(
  handler: RequestHandler,
  options: ListenOptions,
): Promise<HttpServer> {
  const { tls } = options;
  const server = Bun.serve({
    hostname: options.host,
    port: options.port,
    reusePort: options.sharesPort === true,
    ...(tls ? { tls: { cert: tls.certificate, key: tls.key } } : {}),
    idleTimeout: options.idleTimeoutSeconds ?? IDLE_TIMEOUT_SECONDS,
    maxRequestBodySize: NO_BODY_CAP,
    development: false,
    fetch: (request, bun) =>
      handler(request, {
        get remoteAddress() {
          return bun.requestIP(request)?.address ?? null;
        },
        keepOpen: () => bun.timeout(request, 0),
      }),
  });
  const unboundMemory = boundMemory();
  return {
    url: server.url.origin,
    stop: async (graceMs) => {
      const cut = setTimeout(() => server.stop(true), graceMs);
      await server.stop();
      clearTimeout(cut);
      unboundMemory();
    },
  };
}
