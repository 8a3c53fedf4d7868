// Starts the real service as a process of its own, as an operator would.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A deployment that runs or is about to. */
export interface Service {
  /** Its address once it listens. Rejects when it does not start; its stderr says why. */
  readonly url: Promise<string>;
  /** Stops it gracefully and waits for its end. Idempotent. */
  stop(): Promise<void>;
}

const MAIN = fileURLToPath(new URL("../../main.ts", import.meta.url));
/** Nothing else is inherited: settings of this machine's own deployment would change the demo. */
const INHERITED = ["PATH", "HOME", "TMPDIR", "TEMP", "TMP", "TZ", "SYSTEMROOT"];

/** Starts a deployment on a free port of this machine. `folder` holds no `.env`. */
export function startService(options: {
  readonly settings: Readonly<Record<string, string>>;
  readonly folder: string;
}): Service {
  const child = spawn(process.execPath, [MAIN], {
    cwd: options.folder,
    env: childEnvironment({
      HOST: "127.0.0.1",
      PORT: "0",
      // The demo reports failures itself, and a log of runs that Ctrl-C ends would break the progress bars.
      LOG_LEVEL: "silent",
      ...options.settings,
    }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  // Stops the process however the demo ends.
  const kill = () => child.kill("SIGTERM");
  process.once("exit", kill);
  void ended.then(() => process.off("exit", kill));
  return {
    url: listening(child, ended),
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** The environment of a process of the demo: its settings, and what every program needs. */
export function childEnvironment(
  settings: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(([name]) => INHERITED.includes(name));
  return { ...Object.fromEntries(inherited), ...settings };
}

async function listening(child: ChildProcess, ended: Promise<unknown>): Promise<string> {
  const url = await Promise.race([firstUrl(child), ended.then(() => null)]);
  if (url === null) throw new Error(`A deployment did not start: exit code ${child.exitCode}`);
  return url;
}

async function firstUrl(child: ChildProcess): Promise<string | null> {
  if (child.stdout === null) return null;
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\/\/\S+/.exec(line)?.[0];
    if (url !== undefined) return url;
  }
  return null;
}
