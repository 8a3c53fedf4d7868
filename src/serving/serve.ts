// Serves one deployment: listens, takes new TLS files at SIGHUP, and stops in order. D-1.2, D-10.5, D-10.6.
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { compose, type Deployment } from "../compose.ts";
import type { Config } from "../config.ts";
import { isAppError } from "../domain/shared/errors.ts";
import { readTlsAnew } from "../environment.ts";
import type { HttpServer } from "../ports/http/http-server.ts";
import { startReport } from "../start-report.ts";
import { onHangUp } from "./hang-up.ts";
import { errorText, listen } from "./listen.ts";

/** Time that requests in hand get to finish at a stop; Docker kills after 10 s. */
const GRACE_MS = 8_000;

/** Resolves when the deployment listens; it ends the process after SIGTERM or SIGINT. */
export async function serve(config: Config): Promise<void> {
  const service = await Service.start(config);
  const stop = () => void service.stop();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.removeAllListeners(signal).on(signal, stop);
  }
  onHangUp({ reload: () => void service.renewCertificate(), stop });
  const { deployment, url } = service;
  const hasAdministrator = await deployment.hasAdministrator();
  // Printed last: a program that reads the first line may stop the service at once.
  console.log(startReport(config, { url, hasAdministrator }).join("\n"));
}

class Service {
  readonly deployment: Deployment;
  readonly #config: Config;
  #server!: HttpServer;
  #tls: Config["tls"];
  #isRenewing = false;
  #isStopping = false;

  private constructor(config: Config, deployment: Deployment) {
    this.#config = config;
    this.#tls = config.tls;
    this.deployment = deployment;
  }

  /** Throws `AppError`, and an error that says why it cannot listen. */
  static async start(config: Config): Promise<Service> {
    const deployment = await compose(config);
    const service = new Service(config, deployment);
    try {
      service.#server = await service.#listen(config.port, config.tls);
    } catch (error) {
      await deployment.close();
      throw error;
    }
    return service;
  }

  /** The address that it listens on. */
  get url(): string {
    return this.#server.url;
  }

  /** Ends the process when everything in hand is finished, within the time of grace. */
  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    const { deployment } = this;
    deployment.leave();
    await delay(this.#config.stopDelaySeconds * 1000);
    // The streams of runs end only with their runs, so both stop together.
    const runs = deployment.stopRuns(GRACE_MS);
    // The port stays open until then: balancers and late callers are told.
    const leftMs = await deployment.drain(GRACE_MS);
    await Promise.all([this.#server.stop(leftMs), runs]);
    await deployment.close();
    process.exit(0);
  }

  /** Shows new connections the files as they are now; those with a problem change nothing. */
  async renewCertificate(): Promise<void> {
    if (this.#config.tls === null || this.#isRenewing) return;
    this.#isRenewing = true;
    const { logger } = this.deployment;
    try {
      await this.#listenAnew(readTlsAnew());
      logger.info("TLS_CERT_FILE and TLS_KEY_FILE were read anew");
    } catch (error) {
      const problems = isAppError(error, "invalid_request") ? error.problems : [];
      const reason = problems.map(({ detail }) => detail).join("; ") || errorText(error);
      logger.error(`The certificate stays as it was: ${reason}`, undefined);
    }
    this.#isRenewing = false;
  }

  /** No runtime changes the certificate of a server: another one takes its port. */
  async #listenAnew(tls: Config["tls"]): Promise<void> {
    if (this.#isStopping) return;
    const port = Number(new URL(this.url).port) || this.#config.port;
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
    const { handler, startServer } = this.deployment;
    return await listen(startServer, handler, { host: this.#config.host, port, tls });
  }
}
