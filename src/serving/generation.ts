// A deployment as one reading of the settings made it. In a process that serves alone, the next one takes its place. D-10.11.
import { setTimeout as delay } from "node:timers/promises";
import { compose, type Deployment, type WorkerContext } from "../compose.ts";
import type { Config } from "../config.ts";
import type { RequestHandler } from "../ports/http/http-server.ts";
import { OpenStreams } from "./open-streams.ts";

export class Generation {
  readonly config: Config;
  readonly deployment: Deployment;
  readonly #streams = new OpenStreams();

  private constructor(config: Config, deployment: Deployment) {
    this.config = config;
    this.deployment = deployment;
  }

  /** Throws `AppError`. */
  static async open(config: Config, worker: WorkerContext): Promise<Generation> {
    return new Generation(config, await compose(config, undefined, worker));
  }

  readonly handle: RequestHandler = async (request, connection) =>
    this.#streams.follow(await this.deployment.handler(request, connection));

  /** Resolves when everything that it accepted has been answered and its runs have ended, or after `graceMs`. */
  async finish(graceMs: number): Promise<void> {
    this.deployment.replace();
    const over = new AbortController();
    const late = delay(graceMs, undefined, { signal: over.signal }).catch(() => {});
    const done = this.deployment.finish(graceMs).then(() => this.#streams.empty());
    await Promise.race([done, late]);
    over.abort();
  }
}
