// Serves one deployment: binds the port, composes the deployment, reads TLS and registry files again at SIGHUP, and stops in
// order. D-1.2, D-10.5, D-10.6, D-11.4.
import process from "node:process";
import { SystemClock, SystemIds, SystemTimer } from "../adapters/system/system.ts";
import { codeOf, isAppError } from "../domain/shared/errors.ts";
import { createStartingHandler } from "../http/answering.ts";
import type { HttpServer, RequestHandler, StartHttpServer } from "../ports/http/http.ts";
import { within } from "../ports/runtime/runtime.ts";
import { compose, type Deployment } from "./compose.ts";
import type { Config } from "./config.ts";
import { EXIT_FAILED, readTlsAnew } from "./environment.ts";
import { boundMemory, onHangUp, runtimeName, serverOfRuntime } from "./process.ts";

/** Time for requests in hand at a stop; Docker kills after 10 s. */
const GRACE_MS = 8_000;
/** More time for a store that does not close. */
const CLOSE_MS = 1_500;
/** Below this much resident memory garbage is left to the runtime. */
const UNTOUCHED_BYTES = 200_000_000;

/** Resolves when the deployment serves; SIGTERM or SIGINT then end the process. Throws why it cannot serve. */
export async function serve(config: Config): Promise<void> {
  let service: Service | null = null;
  let isReloadDue = false;
  onHangUp({
    reload() {
      isReloadDue = service === null;
      service?.reload();
    },
    stop: () => (service === null ? process.exit(0) : void service.stop()),
  });
  const port = await Port.bind(config, await serverOfRuntime());
  await boundMemory(UNTOUCHED_BYTES);
  let deployment: Deployment;
  try {
    deployment = await compose(config);
  } catch (error) {
    await port.server.stop(0);
    throw error;
  }
  const started = new Service(config, port, deployment);
  service = started;
  const stop = () => void started.stop();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.removeAllListeners(signal).on(signal, stop);
  }
  endAtSecondInterrupt();
  if (isReloadDue) started.reload();
  const hasAdministrator = await deployment.hasAdministrator();
  const { isNewStore } = deployment;
  port.handler = deployment.handler;
  // Last, as a program that reads the first line may stop the service at once.
  const { url } = port.server;
  console.log(startReport(config, { url, hasAdministrator, isNewStore }).join("\n"));
}

/** Within this time a second signal counts as the first: a shell may pass one Ctrl-C on twice. */
const SECOND_AFTER_MS = 500;

/** A second Ctrl-C ends the process at once: answered writes are kept. */
function endAtSecondInterrupt(): void {
  process.once("SIGINT", () => {
    const end = () => {
      console.error("Ended by SIGINT");
      process.exit(EXIT_FAILED);
    };
    setTimeout(() => process.once("SIGINT", end), SECOND_AFTER_MS).unref();
  });
}

class Port {
  /** Answers from the next request on; while the deployment is composed, that it starts. */
  handler: RequestHandler = createStartingHandler({
    clock: new SystemClock(),
    ids: new SystemIds(),
    runtimeVersion: runtimeName(),
  });
  readonly #config: Config;
  readonly #startServer: StartHttpServer;
  #server!: HttpServer;
  #tls: Config["tls"];

  private constructor(config: Config, startServer: StartHttpServer) {
    this.#config = config;
    this.#startServer = startServer;
    this.#tls = config.tls;
  }

  /** Binds the port before anything else is touched. Throws an error that says why it cannot. */
  static async bind(config: Config, startServer: StartHttpServer): Promise<Port> {
    const port = new Port(config, startServer);
    port.#server = await port.#listen(config.port, config.tls);
    return port;
  }

  get server(): HttpServer {
    return this.#server;
  }

  /** Serves new connections with a certificate. No runtime changes that of a server, so another server takes its port. */
  async show(tls: Config["tls"]): Promise<void> {
    const port = Number(new URL(this.#server.url).port) || this.#config.port;
    await this.#server.leavePort();
    try {
      this.#server = await this.#listen(port, tls);
    } catch (error) {
      this.#server = await this.#listen(port, this.#tls);
      throw error;
    }
    this.#tls = tls;
  }

  async #listen(port: number, tls: Config["tls"]): Promise<HttpServer> {
    const { host } = this.#config;
    const handler: RequestHandler = (request, connection) => this.handler(request, connection);
    try {
      return await this.#startServer(handler, { host, port, tls });
    } catch (cause) {
      throw new Error(`Cannot listen on ${host}:${port}: ${listenProblem(cause, port)}`, { cause });
    }
  }
}

class Service {
  readonly deployment: Deployment;
  readonly #config: Config;
  readonly #port: Port;
  #renewal: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(config: Config, port: Port, deployment: Deployment) {
    this.#config = config;
    this.#port = port;
    this.deployment = deployment;
  }

  /** Ends the process when everything in hand is done, at the latest after the time for it, whatever the store does. */
  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    const { deployment } = this;
    deployment.leave();
    const timer = new SystemTimer();
    await timer.sleep(this.#config.stopDelaySeconds * 1000);
    const isClosed = await within(timer, GRACE_MS + CLOSE_MS, this.#finish());
    if (!isClosed) deployment.logger.warn("The store does not answer, so it was not closed");
    process.exit(0);
  }

  async #finish(): Promise<true> {
    const { deployment } = this;
    // Streams of runs end with their runs, so both stop together.
    const runs = deployment.stopRuns(GRACE_MS);
    // The port stays open until then, to tell balancers and late callers.
    const leftMs = await deployment.drain(GRACE_MS);
    await Promise.all([this.#port.server.stop(leftMs), runs]);
    await deployment.close();
    return true;
  }

  /** Reads the files again that may change meanwhile. */
  reload(): void {
    // Files may have changed since the renewal under way read them.
    this.#renewal = this.#renewal.then(() => this.#renewCertificate());
    void this.deployment.lookAtRegistry();
  }

  /** Serves new connections with the files as they are now; files with a problem change nothing. */
  async #renewCertificate(): Promise<void> {
    if (this.#config.tls === null || this.#isStopping) return;
    const { logger } = this.deployment;
    try {
      await this.#port.show(readTlsAnew(this.#config));
      logger.info("TLS_CERT_FILE and TLS_KEY_FILE were read anew");
    } catch (error) {
      const problems = isAppError(error, "invalid_request") ? error.problems : [];
      const reason = problems.map(({ detail }) => detail).join("; ") || errorText(error);
      logger.error(`The certificate stays as it was: ${reason}`, undefined);
    }
  }
}

const DOCS = "/swagger";

interface Started {
  readonly url: string;
  readonly hasAdministrator: boolean;
  /** True where this start made the store: who meant another one sees it. D-11.4. */
  readonly isNewStore: boolean;
}

/** The lines that a start prints, the address first, without a secret. D-10.4. */
function startReport(
  config: Config,
  { url, hasAdministrator, isNewStore }: Started,
): readonly string[] {
  const { isConsoleEnabled, isSyncEnabled, registry, remoteUrl } = config;
  const tables = `${registry.size} ${registry.size === 1 ? "table" : "tables"}`;
  const facts: readonly (readonly [name: string, text: string])[] = [
    ["console", isConsoleEnabled ? `${url}/console` : "off: CONSOLE_ENABLED is false"],
    ["store", `${withoutCredentials(config.storageUrl)}${isNewStore ? ", new" : ""}`],
    ["sync", isSyncEnabled ? `on, ${tables}` : "off: set SYNC_ENABLED=true to synchronize"],
    ["remote", remoteUrl ?? "none: set SYNC_REMOTE_URL to run against another deployment"],
    ["schedule", scheduleText(config)],
    // Only the origin, as the rest may be a secret of the receiver.
    ...(config.webhook === null
      ? []
      : [["alerts", `to ${new URL(config.webhook.url).origin}`] as const]),
    ["docs", url + DOCS],
  ];
  return [
    `repsync is listening on ${url}`,
    ...facts.map(([name, text]) => `  ${name.padEnd(8)}  ${text}`),
    ...(hasAdministrator
      ? []
      : ["There is no administrator yet; make one with: repsync admin create NAME"]),
  ];
}

function scheduleText({ schedule, compareSchedule, compareRepair }: Config): string {
  const runs = schedule === null ? [] : [schedule];
  const repair = compareRepair === null ? "" : `, repaired by ${compareRepair}`;
  const comparisons = compareSchedule === null ? [] : [`compared at ${compareSchedule}${repair}`];
  return [...runs, ...comparisons].join("; ") || "none";
}

/** The hosts and the database, or the file. */
function withoutCredentials(storageUrl: string): string {
  return storageUrl.replace(/^([a-z+]+:\/\/)(?:[^/?]*@)?([^?]*).*$/s, "$1$2");
}

/** Bun reports every failure as a port in use, which cannot be the reason with port 0. */
function listenProblem(error: unknown, port: number): string {
  const code = codeOf(error);
  const noAddress = "HOST is not an address of this machine";
  if (code === "EADDRINUSE") return port === 0 ? noAddress : `the port is in use, or ${noAddress}`;
  // For a name that is not found Bun may give the code of an earlier call, such as that of a look for a terminal.
  const ofAddress = ["EADDRNOTAVAIL", "EINVAL", "ENOTFOUND", "ENOTTY"];
  return ofAddress.includes(code ?? "") ? noAddress : errorText(error);
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
