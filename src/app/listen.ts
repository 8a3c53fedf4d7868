// How a deployment begins to listen, and what is told when it cannot.
import type {
  HttpServer,
  ListenOptions,
  RequestHandler,
  StartHttpServer,
} from "../ports/http/http-server.ts";

/** Starts the server of a runtime. Throws an error that says why it cannot. */
export async function listen(
  startServer: StartHttpServer,
  handler: RequestHandler,
  options: ListenOptions,
): Promise<HttpServer> {
  const { host, port } = options;
  try {
    return await startServer(handler, options);
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
