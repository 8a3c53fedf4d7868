import type { HttpServer, ListenOptions, RequestHandler } from "../../ports/http/http-server.ts";
import { closeListeningSocket } from "./listening-socket.ts";

/** Seconds a connection may be silent; handlers that may take longer call `keepOpen`. */
const IDLE_TIMEOUT_SECONDS = 60;
/** Bodies are limited while they are read, with a proper reply; Bun's own limit would close the connection without one. */
const NO_BODY_CAP = Number.MAX_SAFE_INTEGER;

/** Servers that have left their port. One that is collected as garbage would close the descriptor of the next one. */
const formerServers: unknown[] = [];

export async function startBunServer(
  handler: RequestHandler,
  options: ListenOptions,
): Promise<HttpServer> {
  const { tls } = options;
  const server = Bun.serve({
    hostname: options.host,
    port: options.port,
    reusePort: false,
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
  return {
    url: server.url.origin,
    leavePort: async () => {
      if (await closeListeningSocket(server.port ?? 0)) formerServers.push(server);
      else void server.stop();
    },
    stop: async (graceMs) => {
      const cut = setTimeout(() => server.stop(true), graceMs);
      await server.stop();
      clearTimeout(cut);
    },
  };
}
