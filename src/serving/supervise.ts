// The first process of several: starts workers, replaces them, and ends with them. D-10.11.
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { startBunServer } from "../adapters/bun/http-server.ts";
import { PinoLogger } from "../adapters/pino/pino-logger.ts";
import { sumCounters } from "../adapters/prometheus/ended-counters.ts";
import { SystemClock } from "../adapters/system/system.ts";
import type { Config } from "../config.ts";
import { addSettings, readEnvironmentAnew, settingsOfFile } from "../environment.ts";
import type { MetricsSnapshot } from "../ports/runtime/metrics.ts";
import { startReport } from "../start-report.ts";
import { onHangUp } from "./hang-up.ts";
import { GRACE_MS, listen } from "./listen.ts";
import { settingsProblem } from "./settings-problem.ts";
import { type ReadyWorker, WorkerProcess } from "./worker-process.ts";

/** Waits before a dead worker is replaced: they double while it dies soon after its start. */
const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 5_000;
const SOON_MS = 30_000;
/** What a worker gets beyond the time of grace before it is killed. */
const MARGIN_MS = 4_000;

/** Resolves when all workers listen; it ends the process after SIGTERM or SIGINT. Throws why a worker does not start. */
export async function supervise(config: Config): Promise<void> {
  const supervisor = new Supervisor(config, await freePort(config));
  const stop = () => void supervisor.stop();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.removeAllListeners(signal).on(signal, stop);
  }
  onHangUp({ replace: () => supervisor.replaceSoon(), stop });
  const ready = await supervisor.start();
  // Printed last: a program that reads the first line may stop the service at once.
  console.log(startReport(config, ready).join("\n"));
}

/** The port that all workers share. It must be free: a port that is shared would take connections from another service. */
async function freePort(config: Config): Promise<number> {
  const nobody = async () => new Response(null, { status: 503 });
  const server = await listen(startBunServer, nobody, config);
  await server.stop(0);
  return Number(new URL(server.url).port) || config.port;
}

class Supervisor {
  #config: Config;
  #port: number;
  #logger: PinoLogger;
  /** Those that listen or are about to, by number; a dead one until another takes its place. */
  readonly #workers = new Map<number, WorkerProcess>();
  /** All whose counters are not yet in `#ended`. */
  readonly #processes = new Set<WorkerProcess>();
  readonly #waitsMs = new Map<number, number>();
  #ended: MetricsSnapshot = [];
  #adding: Promise<void> = Promise.resolve();
  #replacing: Promise<void> = Promise.resolve();
  #waiting = 0;
  #isStopping = false;
  readonly #clock = new SystemClock();

  constructor(config: Config, port: number) {
    this.#config = config;
    this.#port = port;
    this.#logger = new PinoLogger(config.logLevel);
  }

  /** The first one alone makes the tables and the administrator. */
  async start(): Promise<ReadyWorker> {
    try {
      const ready = await this.#startWorker(1);
      await Promise.all(this.#numbersFrom(2).map((number) => this.#startWorker(number)));
      return ready;
    } catch (error) {
      // A stop meanwhile ends the process by itself.
      if (this.#isStopping) return await new Promise(() => {});
      this.#isStopping = true;
      for (const worker of this.#processes) worker.kill();
      throw error;
    }
  }

  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    const all = [...this.#processes];
    for (const worker of all) worker.say({ type: "stop" });
    const longestMs = this.#config.stopDelaySeconds * 1000 + GRACE_MS + MARGIN_MS;
    const late = setTimeout(() => {
      for (const worker of all) worker.kill();
    }, longestMs);
    await Promise.all(all.map((worker) => worker.ended));
    clearTimeout(late);
    process.exit(0);
  }

  /** Once more after the one under way, however often it is asked for meanwhile. */
  replaceSoon(): void {
    if (this.#waiting > 1) return;
    this.#waiting++;
    this.#replacing = this.#replacing.then(async () => {
      await this.#replaceAll();
      this.#waiting--;
    });
  }

  /** One after the other. Where one does not start, the rest stay, and the settings are those of before. */
  async #replaceAll(): Promise<void> {
    if (this.#isStopping) return;
    const before = { config: this.#config, port: this.#port, settings: settingsOfFile() };
    try {
      const config = readEnvironmentAnew();
      if (config.port !== before.config.port) this.#port = await freePort(config);
      this.#config = config;
      for (const number of this.#numbersFrom(1)) await this.#replace(number);
      for (const [number, worker] of this.#workers) {
        if (number > config.workers) this.#leave(worker);
      }
      this.#logger = new PinoLogger(config.logLevel);
      this.#logger.info("The settings were read anew, and the workers replaced");
    } catch (error) {
      this.#config = before.config;
      this.#port = before.port;
      addSettings(before.settings);
      if (this.#isStopping) return;
      this.#logger.error(`The settings stay as they were: ${settingsProblem(error)}`, undefined);
    }
  }

  async #replace(number: number): Promise<void> {
    const next = this.#launch(number);
    await next.ready;
    const before = this.#workers.get(number);
    this.#keep(next);
    if (before === undefined) return;
    this.#leave(before);
    await before.closed;
  }

  async #startWorker(number: number): Promise<ReadyWorker> {
    const worker = this.#launch(number);
    const ready = await worker.ready;
    this.#keep(worker);
    return ready;
  }

  #launch(number: number): WorkerProcess {
    const start = { type: "start", number, settings: settingsOfFile(), port: this.#port } as const;
    const worker: WorkerProcess = new WorkerProcess(start, (id) => void this.#answer(worker, id));
    this.#processes.add(worker);
    void worker.ended.then(() => this.#addEnded(worker));
    return worker;
  }

  /** Counts a worker that listens among those that serve. When it dies, another one takes its place. */
  #keep(worker: WorkerProcess): void {
    this.#workers.set(worker.number, worker);
    const startedAtMs = this.#clock.monotonicMs();
    void worker.ended.then((how) => {
      const isLongLived = this.#clock.monotonicMs() - startedAtMs > SOON_MS;
      if (isLongLived) this.#waitsMs.delete(worker.number);
      return this.#replaceDead(worker, how);
    });
  }

  async #replaceDead(dead: WorkerProcess, how: string): Promise<void> {
    const { number } = dead;
    const isWanted = () =>
      !this.#isStopping && this.#workers.get(number) === dead && number <= this.#config.workers;
    for (let reason = how; isWanted(); ) {
      const waitMs = this.#waitsMs.get(number) ?? FIRST_WAIT_MS;
      this.#waitsMs.set(number, Math.min(waitMs * 2, LONGEST_WAIT_MS));
      this.#logger.error(`Worker ${number} ended and is replaced: ${reason}`, undefined);
      await delay(waitMs);
      if (!isWanted()) return;
      const next = this.#launch(number);
      try {
        await next.ready;
        if (isWanted()) this.#keep(next);
        else this.#leave(next);
        return;
      } catch (error) {
        reason = settingsProblem(error);
      }
    }
  }

  /** Lets a worker finish what it has. */
  #leave(worker: WorkerProcess): void {
    if (this.#workers.get(worker.number) === worker) this.#workers.delete(worker.number);
    worker.say({ type: this.#isStopping ? "stop" : "replace" });
  }

  /** Tells a worker what all others have counted. */
  async #answer(asker: WorkerProcess, id: number): Promise<void> {
    const ended = this.#ended;
    const others = [...this.#processes].filter((worker) => worker !== asker);
    const counted = others.map(async (worker) => {
      const snapshot = await worker.counted();
      // The figures of a process are told of those that serve.
      return this.#workers.get(worker.number) === worker ? snapshot : sumCounters([], snapshot);
    });
    asker.say({ type: "others", id, snapshots: [ended, ...(await Promise.all(counted))] });
  }

  #addEnded(worker: WorkerProcess): void {
    this.#adding = this.#adding.then(async () => {
      this.#ended = await sumCounters(this.#ended, worker.lastCounted);
      this.#processes.delete(worker);
    });
  }

  #numbersFrom(first: number): number[] {
    const count = Math.max(0, this.#config.workers - first + 1);
    return Array.from({ length: count }, (_, i) => first + i);
  }
}
