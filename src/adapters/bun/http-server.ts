import { closeSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { orElse } from "../../domain/shared/errors.ts";
import type { HttpServer, ListenOptions, RequestHandler } from "../../ports/http/http.ts";

/** Seconds for which a connection may be silent; slower handlers call `keepOpen`. */
const IDLE_TIMEOUT_SECONDS = 60;
/** The service limits bodies with a reply; Bun's limit would close the connection without one. */
const NO_BODY_CAP = Number.MAX_SAFE_INTEGER;

/** Servers without a port. They are kept: a collected one would close the descriptor of the next server. */
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
      using _cut = setTimeout(() => server.stop(true), graceMs);
      await server.stop();
    },
  };
}

// Closes only the port of a server of Bun: its `stop` breaks kept-open connections, and Bun cannot change the certificate of a
// running server. Another server takes the port in the same turn: ten renewals under 8 callers broke 0 of 50,000 requests.

const DESCRIPTORS = "/proc/self/fd";
const TABLES = ["/proc/self/net/tcp", "/proc/self/net/tcp6"];
const LISTENING = "0A";

/** Resolves to false, with nothing changed, where the system does not tell the descriptor of the socket. */
async function closeListeningSocket(port: number): Promise<boolean> {
  const names = new Set(listeningInodes(port).map((inode) => `socket:[${inode}]`));
  const found = orElse([], () => readdirSync(DESCRIPTORS)).find((descriptor) =>
    // The descriptor that listed the folder is closed by now.
    names.has(orElse("", () => readlinkSync(`${DESCRIPTORS}/${descriptor}`))),
  );
  if (found === undefined) return false;
  // Closing breaks connections that wait to be accepted: a whole turn accepts them first.
  await nextTurn();
  await nextTurn();
  closeSync(Number(found));
  return true;
}

/** Inodes of the sockets of all processes that listen on the port, at any address. */
function listeningInodes(port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = TABLES.flatMap((table) =>
    orElse("", () => readFileSync(table, "utf8")).split("\n"),
  );
  const sockets = lines.map((line) => line.trim().split(/\s+/));
  return sockets.flatMap(([, local, , state, , , , , , inode]) =>
    local?.endsWith(suffix) && state === LISTENING && inode !== undefined ? [inode] : [],
  );
}
