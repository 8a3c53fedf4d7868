// Serves one deployment: parses, composes, listens, drains.
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { compose, type Deployment } from "./compose.ts";
import type { Config } from "./config.ts";
import { isAppError } from "./domain/shared/errors.ts";
import { EXIT_FAILED, EXIT_USAGE, loadEnvFile, readEnvironment } from "./environment.ts";
import { startReport } from "./start-report.ts";

/** Time that requests in hand get to finish after SIGTERM or SIGINT; Docker kills after 10 s. */
const GRACE_MS = 8_000;

type Server = Awaited<ReturnType<Deployment["startServer"]>>;

loadEnvFile();
const config = readConfigOrExit();

/** Until the service listens there is nothing to shut down. Without a handler the first process of a container ignores signals. */
const exitAtOnce = () => process.exit(0);
const STOP_SIGNALS = ["SIGTERM", "SIGINT"] as const;
for (const signal of STOP_SIGNALS) process.on(signal, exitAtOnce);

try {
  await serve(config);
} catch (error) {
  console.error(`repsync cannot start: ${errorText(error)}`);
  const isConfiguration = isAppError(error, "schema_conflict", "invalid_request");
  process.exit(isConfiguration ? EXIT_USAGE : EXIT_FAILED);
}

function readConfigOrExit(): Config {
  try {
    return readEnvironment();
  } catch (error) {
    if (!isAppError(error, "invalid_request")) throw error;
    console.error("repsync cannot start; the configuration has these problems:");
    for (const { detail } of error.problems) console.error(`- ${detail}`);
    process.exit(EXIT_USAGE);
  }
}

/** Resolves when the deployment listens; it ends the process after SIGTERM or SIGINT. */
async function serve(config: Config): Promise<void> {
  const deployment = await compose(config);
  let server = await listen(deployment, config);
  let isStopping = false;
  const stop = async () => {
    if (isStopping) return;
    isStopping = true;
    deployment.leave();
    await delay(config.stopDelaySeconds * 1000);
    // The streams of runs end only with their runs, so both stop together.
    const runs = deployment.stopRuns(GRACE_MS);
    // The port stays open until then: balancers and late callers are told.
    const leftMs = await deployment.drain(GRACE_MS);
    await Promise.all([server.stop(leftMs), runs]);
    await deployment.close();
    process.exit(0);
  };
  for (const signal of STOP_SIGNALS) process.off(signal, exitAtOnce).on(signal, stop);
  if (config.tls !== null) {
    process.on("SIGHUP", async () => {
      if (!isStopping) server = await withNewCertificate(server, deployment, config);
    });
  }
  const hasAdministrator = await deployment.hasAdministrator();
  // Printed last: a program that reads the first line may stop the service at once.
  console.log(startReport(config, { url: server.url, hasAdministrator }).join("\n"));
}

/** A server at the same address with the files as they are now; the one before answers what it has taken. D-10.6. */
async function withNewCertificate(
  server: Server,
  { handler, startServer, logger }: Deployment,
  { host, port }: Config,
): Promise<Server> {
  const tls = readCertificate(logger);
  if (tls === null) return server;
  // The port is free at once, and taken again before anything else happens.
  void server.stop(GRACE_MS);
  const samePort = port === 0 ? Number(new URL(server.url).port) : port;
  const next = await startServer(handler, { host, port: samePort, tls });
  logger.info("TLS_CERT_FILE and TLS_KEY_FILE were read anew");
  return next;
}

/** Null where something is wrong with the settings as they are now, which is one line in the log. */
function readCertificate(logger: Deployment["logger"]): Config["tls"] {
  try {
    return readEnvironment().tls;
  } catch (error) {
    if (!isAppError(error, "invalid_request")) throw error;
    const problems = error.problems.map(({ detail }) => detail).join("; ");
    logger.warn(`The certificate stays as it was: ${problems}`);
    return null;
  }
}

async function listen(deployment: Deployment, { host, port, tls }: Config) {
  try {
    return await deployment.startServer(deployment.handler, { host, port, tls });
  } catch (cause) {
    await deployment.close();
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

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
