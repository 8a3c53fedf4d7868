// A worker as the first process sees it. D-10.11.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { givenEnvironment } from "../environment.ts";
import type { MetricsSnapshot } from "../ports/runtime/metrics.ts";
import type { MessageFromWorker, MessageToWorker, WorkerStart } from "./worker-messages.ts";
import { WorkerStartError } from "./worker-start-error.ts";

const PROGRAM = fileURLToPath(new URL("./worker.ts", import.meta.url));
/** One that has not come so far is ended; MongoDB that is out of reach is told after 20 s. */
const START_MS = 60_000;
/** One that does not answer in time is told by what it said last. */
const COUNT_MS = 1_000;

/** A worker that listens. */
export interface ReadyWorker {
  readonly url: string;
  readonly hasAdministrator: boolean;
}

export class WorkerProcess {
  readonly number: number;
  /** Rejects with a `WorkerStartError`. */
  readonly ready: Promise<ReadyWorker>;
  /** Resolves once it takes no connection any more. */
  readonly closed: Promise<unknown>;
  /** How it ended, in words. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  /** What it has counted, as it said last. */
  #counted: MetricsSnapshot = [];
  readonly #questions = new Map<number, () => void>();
  #lastQuestion = 0;

  /** Starts it. `onOthers` is called when it asks what the others have counted. */
  constructor(start: WorkerStart, onOthers: (id: number) => void) {
    this.number = start.number;
    // The command line is handed on: it names the file of settings.
    const args = [...process.execArgv, PROGRAM, ...process.argv.slice(2)];
    const child = spawn(process.execPath, args, {
      env: givenEnvironment(),
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.#child = child;
    // Its last words may come after its end.
    const silent = once(child, "disconnect");
    this.ended = once(child, "exit").then(async ([code, signal]) => {
      await silent;
      return signal === null ? `exit code ${code}` : `signal ${signal}`;
    });
    const { promise: closed, resolve: close } = Promise.withResolvers<void>();
    this.closed = Promise.race([closed, this.ended]);
    this.ready = this.#awaitReady();
    // Whoever waits for it is told; nobody may.
    this.ready.catch(() => {});
    child.on("message", (message: MessageFromWorker) => {
      if (message.type === "counted") this.#noteCounted(message.id, message.snapshot);
      if (message.type === "closed") close();
      if (message.type === "others") this.#noteCounted(null, message.snapshot);
      if (message.type === "others") onOthers(message.id);
    });
    this.say(start);
  }

  /** Does nothing once it has ended. */
  say(message: MessageToWorker): void {
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** What it has counted by now; what it said last where it does not answer. */
  async counted(): Promise<MetricsSnapshot> {
    if (!this.#child.connected) return this.#counted;
    const id = ++this.#lastQuestion;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#questions.set(id, resolve);
    const late = setTimeout(resolve, COUNT_MS);
    this.say({ type: "count", id });
    await promise;
    clearTimeout(late);
    this.#questions.delete(id);
    return this.#counted;
  }

  /** What it said last. */
  get lastCounted(): MetricsSnapshot {
    return this.#counted;
  }

  #noteCounted(id: number | null, snapshot: MetricsSnapshot): void {
    this.#counted = snapshot;
    if (id !== null) this.#questions.get(id)?.();
  }

  async #awaitReady(): Promise<ReadyWorker> {
    const { promise, resolve, reject } = Promise.withResolvers<ReadyWorker>();
    const fail = (problem: string, exitCode = 1) =>
      reject(new WorkerStartError({ problem, exitCode }));
    this.#child.on("message", (message: MessageFromWorker) => {
      if (message.type === "ready") resolve(message);
      if (message.type === "failed") fail(message.problem, message.exitCode);
    });
    this.#child.on("error", ({ message }) => fail(`A worker cannot be started: ${message}`));
    void this.ended.then((how) => fail(`A worker ended while it started: ${how}`));
    const late = setTimeout(() => {
      fail("A worker has not started within a minute");
      this.kill();
    }, START_MS);
    try {
      return await promise;
    } finally {
      clearTimeout(late);
    }
  }
}
