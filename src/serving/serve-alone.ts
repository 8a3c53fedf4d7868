// Serves from this very process, as one worker does. SIGHUP puts a deployment with the settings of today in the place of the
// one before, on the same open port. D-1.2, D-10.11.
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { sumCounters } from "../adapters/prometheus/ended-counters.ts";
import type { Config } from "../config.ts";
import { readEnvironmentAnew } from "../environment.ts";
import type { HttpServer, RequestHandler } from "../ports/http/http-server.ts";
import type { MetricsSnapshot } from "../ports/runtime/metrics.ts";
import { startReport } from "../start-report.ts";
import { Generation } from "./generation.ts";
import { onHangUp } from "./hang-up.ts";
import { GRACE_MS, listen, REPLACED_GRACE_MS } from "./listen.ts";
import { settingsProblem } from "./settings-problem.ts";

const IN_MEMORY = "sqlite::memory:";

/** Resolves when the deployment listens; it ends the process after SIGTERM or SIGINT. */
export async function serveAlone(config: Config): Promise<void> {
  const service = new LoneService();
  const url = await service.start(config);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.removeAllListeners(signal).on(signal, () => void service.stop());
  }
  onHangUp({ replace: () => service.replaceSoon(), stop: () => void service.stop() });
  const hasAdministrator = await service.hasAdministrator();
  // Printed last: a program that reads the first line may stop the service at once.
  console.log(startReport(config, { url, hasAdministrator }).join("\n"));
}

class LoneService {
  #current!: Generation;
  #server!: HttpServer;
  /** Replaced ones that still have something to finish. */
  readonly #leaving = new Set<Generation>();
  #ended: MetricsSnapshot = [];
  #replacing: Promise<void> = Promise.resolve();
  #waiting = 0;
  #isStopping = false;

  /** The address that it listens on. Throws `AppError`, and an error that says why it cannot listen. */
  async start(config: Config): Promise<string> {
    this.#current = await this.#open(config);
    try {
      this.#server = await this.#listen(config);
    } catch (error) {
      await this.#current.deployment.close();
      throw error;
    }
    return this.#server.url;
  }

  async hasAdministrator(): Promise<boolean> {
    return await this.#current.deployment.hasAdministrator();
  }

  /** Ends the process when everything in hand is finished, within the time of grace. */
  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    const { deployment, config } = this.#current;
    deployment.leave();
    await delay(config.stopDelaySeconds * 1000);
    const all = [this.#current, ...this.#leaving].map((generation) => generation.deployment);
    // The streams of runs end only with their runs, so both stop together.
    const runs = all.map((each) => each.stopRuns(GRACE_MS));
    // The port stays open until then: balancers and late callers are told.
    const leftMs = await deployment.drain(GRACE_MS);
    await Promise.all([this.#server.stop(leftMs), ...runs]);
    await Promise.all(all.map((each) => each.close()));
    process.exit(0);
  }

  /** Once more after the one under way, however often it is asked for meanwhile. */
  replaceSoon(): void {
    if (this.#waiting > 1) return;
    this.#waiting++;
    this.#replacing = this.#replacing.then(async () => {
      await this.#replace();
      this.#waiting--;
    });
  }

  async #replace(): Promise<void> {
    if (this.#isStopping) return;
    const { logger } = this.#current.deployment;
    let next: Generation | null = null;
    try {
      const config = readEnvironmentAnew();
      if ([config, this.#current.config].some(({ storageUrl }) => storageUrl === IN_MEMORY)) {
        throw new Error("a store in memory ends with its deployment");
      }
      next = await this.#open(config);
      await this.#takeOver(next);
    } catch (error) {
      await next?.deployment.close();
      const reason = settingsProblem(error);
      logger.error(`The settings stay as they were: ${reason}`, undefined);
    }
  }

  /** From here on requests go to the next one. */
  async #takeOver(next: Generation): Promise<void> {
    const before = this.#current;
    const { logger } = next.deployment;
    if (this.#isStopping) return await next.deployment.close();
    this.#current = next;
    try {
      if (isListeningOtherwise(before.config, next.config)) await this.#listenAnew(before.config);
    } catch (error) {
      this.#current = before;
      throw error;
    }
    this.#leaving.add(before);
    void this.#finish(before);
    if (next.config.workers > 1) logger.warn("WORKERS is more than 1 only from the next start on");
    logger.info("The settings were read anew");
  }

  /** The one before answers what it has taken. */
  async #listenAnew({ host, port, tls }: Config): Promise<void> {
    const { config } = this.#current;
    const server = this.#server;
    const isSamePlace = host === config.host && port === config.port;
    if (!isSamePlace) {
      this.#server = await this.#listen(config);
      void server.stop(REPLACED_GRACE_MS);
      return;
    }
    const samePort = Number(new URL(server.url).port) || port;
    // The port is free at once, and taken again before anything else happens.
    void server.stop(REPLACED_GRACE_MS);
    try {
      this.#server = await this.#listen({ ...config, port: samePort });
    } catch (error) {
      this.#server = await this.#listen({ ...config, tls, port: samePort });
      throw error;
    }
  }

  async #finish(generation: Generation): Promise<void> {
    const { deployment } = generation;
    await generation.finish(REPLACED_GRACE_MS);
    if (this.#isStopping) return;
    await deployment.close();
    const ended = await sumCounters(this.#ended, await deployment.snapshotMetrics());
    this.#ended = ended;
    this.#leaving.delete(generation);
  }

  async #open(config: Config): Promise<Generation> {
    const otherWorkers = async () => {
      const leaving = [...this.#leaving].map(({ deployment }) => deployment.snapshotMetrics());
      const counted = (await Promise.all(leaving)).map((each) => sumCounters([], each));
      return [this.#ended, ...(await Promise.all(counted))];
    };
    return await Generation.open(config, { number: 1, otherWorkers });
  }

  async #listen(config: Config): Promise<HttpServer> {
    const { startServer } = this.#current.deployment;
    const handler: RequestHandler = (request, connection) =>
      this.#current.handle(request, connection);
    return await listen(startServer, handler, config);
  }
}

function isListeningOtherwise(one: Config, other: Config): boolean {
  const { host, port, tls } = one;
  return (
    host !== other.host ||
    port !== other.port ||
    tls?.certificate !== other.tls?.certificate ||
    tls?.key !== other.tls?.key
  );
}
