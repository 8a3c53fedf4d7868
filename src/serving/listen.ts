// How a deployment begins to listen, and what is told when it cannot.
import type { Deployment } from "../compose.ts";
import type { Config } from "../config.ts";
import type { HttpServer, RequestHandler } from "../ports/http/http-server.ts";

/** Time that requests in hand get to finish at a stop; Docker kills after 10 s. */
export const GRACE_MS = 8_000;
/** Time that requests and runs get where the service goes on: as long as they need, within reason. */
export const REPLACED_GRACE_MS = 3_600_000;

/** Where and how to listen. */
export type ListenSettings = Pick<Config, "host" | "port" | "tls"> & {
  readonly sharesPort?: boolean;
};

/** Starts the server of a runtime. Throws an error that says why it cannot. */
export async function listen(
  startServer: Deployment["startServer"],
  handler: RequestHandler,
  settings: ListenSettings,
): Promise<HttpServer> {
  const { host, port } = settings;
  try {
    return await startServer(handler, settings);
  } catch (cause) {
    throw new Error(`Cannot listen on ${host}:${port}: ${listenProblem(cause, port)}`, { cause });
  }
}

/** Bun reports every failure as a port in use; with port 0 that cannot be the reason. */
function listenProblem(error: unknown, port: number): string {
  const code = error instanceof Error && "code" in error ? error.code : null;
  const noAddress = "HOST is not an address of this machine";
  if (code === "EADDRINUSE") return port === 0 ? noAddress : `the port is in use, or ${noAddress}`;
  return code === "EADDRNOTAVAIL" || code === "EINVAL" ? noAddress : errorText(error);
}

/** The message of whatever was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
