// The program of a worker: one deployment on a port that it shares with other workers, as the first process tells it. D-10.11.
import process from "node:process";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { compose, type Deployment } from "../compose.ts";
import { addSettings, readEnvironment } from "../environment.ts";
import type { HttpServer } from "../ports/http/http-server.ts";
import type { MetricsSnapshot } from "../ports/runtime/metrics.ts";
import { errorText, GRACE_MS, listen, REPLACED_GRACE_MS } from "./listen.ts";
import { exitCodeOf, settingsProblem } from "./settings-problem.ts";
import type { MessageFromWorker, MessageToWorker, WorkerStart } from "./worker-messages.ts";

/** How often it tells what it has counted: so much is lost with a worker that is killed. */
const COUNT_EVERY_MS = 1_000;
/** Time in which connections that are kept open get their next reply, and with it the word to close. */
const CLOSING_MS = 300;
/** How long a moment is looked for at which nobody connects. */
const QUIET_WITHIN_MS = 2_000;

type Phase = "serving" | "replaced" | "stopping";

let phase: Phase = "serving";
let listening: Listening | null = null;
const questions = new Map<number, (snapshots: readonly MetricsSnapshot[]) => void>();
let lastQuestion = 0;

interface Listening {
  readonly deployment: Deployment;
  readonly server: HttpServer;
  readonly stopDelayMs: number;
}

process.on("message", (message: MessageToWorker) => {
  if (message.type === "start") void start(message);
  else if (message.type === "replace") void finishAsReplaced();
  else if (message.type === "stop") void stop();
  else if (message.type === "count") void tellCounted(message.id);
  else answer(message.id, message.snapshots);
});
// A terminal tells all its processes; the first one decides for the others.
for (const signal of ["SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
process.on("SIGTERM", () => void stop());
process.on("disconnect", () => void stop());

async function start({ number, settings, port }: WorkerStart): Promise<void> {
  try {
    addSettings(settings);
    const config = readEnvironment();
    const deployment = await compose(config, undefined, { number, otherWorkers });
    const { startServer, handler } = deployment;
    const address = { host: config.host, tls: config.tls, port, sharesPort: true };
    const server = await listen(startServer, handler, address);
    listening = { deployment, server, stopDelayMs: config.stopDelaySeconds * 1000 };
    const hasAdministrator = await deployment.hasAdministrator();
    say({ type: "ready", url: server.url, hasAdministrator });
    setInterval(() => void tellCounted(null), COUNT_EVERY_MS).unref();
  } catch (error) {
    const exitCode = exitCodeOf(error);
    say({ type: "failed", problem: settingsProblem(error), exitCode }, () =>
      process.exit(exitCode),
    );
  }
}

/** Takes no further connection, and ends when all that it accepted is answered and its runs have ended. */
async function finishAsReplaced(): Promise<void> {
  if (phase !== "serving" || listening === null) return;
  phase = "replaced";
  const { deployment, server } = listening;
  deployment.replace();
  await delay(CLOSING_MS);
  await quietMoment(deployment);
  const stopped = server.stop(REPLACED_GRACE_MS);
  say({ type: "closed" });
  await Promise.all([stopped, deployment.finish(REPLACED_GRACE_MS)]);
  if (phase === "replaced") await end(listening);
}

/**
 * Connections that wait to be accepted break when the port is closed. Resolves right after a turn of the event loop that
 * brought none, or when there is no such turn for too long.
 */
async function quietMoment(deployment: Deployment): Promise<void> {
  const over = AbortSignal.timeout(QUIET_WITHIN_MS);
  let before: number | null = null;
  while (!over.aborted) {
    await nextTurn();
    const taken = deployment.takenWhenIdle();
    if (taken !== null && taken === before) return;
    before = taken;
  }
}

async function stop(): Promise<void> {
  if (phase === "stopping") return;
  phase = "stopping";
  if (listening === null) process.exit(0);
  const { deployment, server, stopDelayMs } = listening;
  deployment.leave();
  await delay(stopDelayMs);
  const runs = deployment.stopRuns(GRACE_MS);
  const leftMs = await deployment.drain(GRACE_MS);
  await Promise.all([server.stop(leftMs), runs]);
  await end(listening);
}

async function end({ deployment }: Listening): Promise<void> {
  await deployment.close();
  const snapshot = await deployment.snapshotMetrics();
  say({ type: "counted", id: null, snapshot }, () => process.exit(0));
}

async function tellCounted(id: number | null): Promise<void> {
  if (listening === null) return;
  const snapshot = await listening.deployment.snapshotMetrics();
  say({ type: "counted", id, snapshot });
}

async function otherWorkers(): Promise<readonly MetricsSnapshot[]> {
  if (!process.connected || listening === null) return [];
  const snapshot = await listening.deployment.snapshotMetrics();
  const id = ++lastQuestion;
  const { promise, resolve } = Promise.withResolvers<readonly MetricsSnapshot[]>();
  questions.set(id, resolve);
  say({ type: "others", id, snapshot });
  return await promise;
}

function answer(id: number, snapshots: readonly MetricsSnapshot[]): void {
  questions.get(id)?.(snapshots);
  questions.delete(id);
}

/** `done` is called when it was sent, or cannot be. */
function say(message: MessageFromWorker, done = () => {}): void {
  try {
    if (!process.connected || process.send === undefined) done();
    else process.send(message, undefined, undefined, () => done());
  } catch (error) {
    process.stderr.write(`A worker cannot reach its first process: ${errorText(error)}\n`);
    done();
  }
}
