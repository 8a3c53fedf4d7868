// Starts what is measured as processes of their own, and never leaves one behind.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

const START_MS = 60_000;
const STOP_MS = 15_000;
/** Of /proc. */
const TICK_MS = 10;

/** A running server. */
export interface Server {
  readonly url: string;
  readonly pid: number;
  /** Ends it and waits for its end. Idempotent. */
  stop(): Promise<void>;
}

/** How to start a server. */
export interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Takes what it writes to stderr, made anew: a pipe would give the measuring process work. */
  readonly logFile: string;
  /** Finds the address in a line of output; null in any other line. */
  readonly findUrl: (line: string) => string | null;
}

/** Starts a server and waits until it has printed its address. Rejects with the end of its log. */
export async function startServer(server: ServerCommand): Promise<Server> {
  const { PATH = "", HOME = "" } = process.env;
  const log = openSync(server.logFile, "w");
  const child = spawn(server.command, server.args, {
    env: { PATH, HOME, ...server.env },
    // Away from the checkout, whose .env is not meant for this.
    cwd: dirname(server.logFile),
    stdio: ["ignore", "pipe", log],
  });
  closeSync(log);
  const killAtExit = () => child.kill("SIGKILL");
  process.once("exit", killAtExit);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async () => {
    await end(child, ended);
    process.off("exit", killAtExit);
  };
  try {
    const url = await Promise.race([
      findUrl(child, server.findUrl),
      ended.then(() => fail(`it ended:\n${readFileSync(server.logFile, "utf8").slice(-2_000)}`)),
      sleep(START_MS).then(() => fail("it printed no address in time")),
    ]);
    return { url, pid: child.pid ?? 0, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Memory that a process has in RAM now. */
export function residentBytes(pid: number): number {
  const status = `/proc/${pid}/status`;
  const text = existsSync(status)
    ? (/VmRSS:\s+(\d+)/.exec(readFileSync(status, "utf8"))?.[1] ?? "0")
    : execFileSync("ps", ["-o", "rss=", "-p", String(pid)]).toString();
  return Number(text) * 1024;
}

/** Processor time of a process so far; NaN where there is no /proc. */
export function processorMs(pid: number): number {
  const stat = `/proc/${pid}/stat`;
  if (!existsSync(stat)) return Number.NaN;
  const fields = readFileSync(stat, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function findUrl(child: ChildProcess, find: (line: string) => string | null): Promise<string> {
  return new Promise((resolve) => {
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on("line", (line) => {
      const url = find(line);
      if (url !== null) resolve(url);
    });
  });
}

async function end(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
  await ended;
  clearTimeout(timer);
}

function fail(problem: string): never {
  throw new Error(`A server did not start: ${problem}`);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
