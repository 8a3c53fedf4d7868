// Serves one deployment: binds the port, puts the deployment together, takes new TLS and registry files at SIGHUP, and stops in order.
// D-1.2, D-10.5, D-10.6, D-11.4.
import process from "node:process";
import { SystemClock, SystemIds, SystemTimer } from "../adapters/system/system.ts";
import { codeOf, isAppError } from "../domain/shared/errors.ts";
import { createStartingHandler } from "../http/answering.ts";
import type { HttpServer, RequestHandler, StartHttpServer } from "../ports/http/http.ts";
import { within } from "../ports/runtime/runtime.ts";
import { compose, type Deployment, runtimeName, serverOfRuntime } from "./compose.ts";
import type { Config } from "./config.ts";
import { EXIT_FAILED, readTlsAnew } from "./environment.ts";
import { boundMemory } from "./memory.ts";
import { onHangUp } from "./terminal.ts";

/** Time that requests in hand get to finish at a stop; Docker kills after 10 s. */
const GRACE_MS = 8_000;
/** Time beyond it for a store that does not let itself be closed. */
const CLOSE_MS = 1_500;
/** Below this much resident memory, a service leaves garbage to the runtime. */
const UNTOUCHED_BYTES = 200_000_000;

/** Resolves when the deployment serves; it ends the process after SIGTERM or SIGINT. Throws why it cannot. */
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
  // Printed last: a program that reads the first line may stop the service at once.
  const { url } = port.server;
  console.log(startReport(config, { url, hasAdministrator, isNewStore }).join("\n"));
}

/** The time in which a second signal counts as the first: a shell may pass one Ctrl-C on twice. */
const SECOND_AFTER_MS = 500;

/** A second Ctrl-C waits for nothing: what was answered is kept, as after any other end. */
function endAtSecondInterrupt(): void {
  process.once("SIGINT", () => {
    const end = () => {
      console.error("Ended by SIGINT");
      process.exit(EXIT_FAILED);
    };
    setTimeout(() => process.once("SIGINT", end), SECOND_AFTER_MS).unref();
  });
}

/** The port, whoever answers there. */
class Port {
  /** Answers from the next request on; at first while the deployment is put together. */
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

  /** Nothing else is touched before it is ours. Throws an error that says why it cannot be. */
  static async bind(config: Config, startServer: StartHttpServer): Promise<Port> {
    const port = new Port(config, startServer);
    port.#server = await port.#listen(config.port, config.tls);
    return port;
  }

  get server(): HttpServer {
    return this.#server;
  }

  /** Shows a certificate to new connections. No runtime changes that of a server: another one takes its port. */
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

  /** Ends the process when everything in hand is finished, within the time of grace, whatever the store does. */
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

  /** Resolves to true when all is closed. */
  async #finish(): Promise<true> {
    const { deployment } = this;
    // The streams of runs end only with their runs, so both stop together.
    const runs = deployment.stopRuns(GRACE_MS);
    // The port stays open until then: balancers and late callers are told.
    const leftMs = await deployment.drain(GRACE_MS);
    await Promise.all([this.#port.server.stop(leftMs), runs]);
    await deployment.close();
    return true;
  }

  /** Reads anew what may change while it serves. */
  reload(): void {
    // Files may have changed since the renewal under way has read them.
    this.#renewal = this.#renewal.then(() => this.#renewCertificate());
    void this.deployment.lookAtRegistry();
  }

  /** Shows new connections the files as they are now; those with a problem change nothing. */
  async #renewCertificate(): Promise<void> {
    if (this.#config.tls === null || this.#isStopping) return;
    const { logger } = this.deployment;
    try {
      await this.#port.show(readTlsAnew());
      logger.info("TLS_CERT_FILE and TLS_KEY_FILE were read anew");
    } catch (error) {
      const problems = isAppError(error, "invalid_request") ? error.problems : [];
      const reason = problems.map(({ detail }) => detail).join("; ") || errorText(error);
      logger.error(`The certificate stays as it was: ${reason}`, undefined);
    }
  }
}

// The lines that a start prints. D-10.4.

const DOCS = "/swagger";

interface Started {
  readonly url: string;
  readonly hasAdministrator: boolean;
  /** True where this start has made the store: who meant another one sees it here. D-11.4. */
  readonly isNewStore: boolean;
}

/** The lines for people: the address first. No secret is among them. */
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
    // Not the whole address: the rest may be a secret of the receiver's.
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

/** The store as operators know it: the hosts and the database, or the file. */
function withoutCredentials(storageUrl: string): string {
  return storageUrl.replace(/^([a-z+]+:\/\/)(?:[^/?]*@)?([^?]*).*$/s, "$1$2");
}

/** Bun reports every failure as a port in use; with port 0 that cannot be the reason. */
function listenProblem(error: unknown, port: number): string {
  const code = codeOf(error);
  const noAddress = "HOST is not an address of this machine";
  if (code === "EADDRINUSE") return port === 0 ? noAddress : `the port is in use, or ${noAddress}`;
  const ofAddress = ["EADDRNOTAVAIL", "EINVAL", "ENOTFOUND"];
  return ofAddress.includes(code ?? "") ? noAddress : errorText(error);
}

/** The message of whatever was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
