// Starts the real service as a process of its own, as an operator would.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { DemoSettings } from "./deployments.ts";

const MAIN = fileURLToPath(new URL("../../app/main.ts", import.meta.url));
/** Nothing else is inherited: settings of this machine's own deployment would change the demo. */
const INHERITED = ["PATH", "HOME", "TMPDIR", "TEMP", "TMP", "TZ", "SYSTEMROOT"];

/** The process of a deployment on a free port of this machine. */
export class Service {
  /** Its address once it listens. Rejects when it does not start; its stderr says why. */
  readonly url: Promise<string>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  /** Starts it. `folder` holds no `.env`. */
  constructor(folder: string, settings: DemoSettings) {
    this.#child = spawn(process.execPath, [...process.execArgv, MAIN], {
      cwd: folder,
      env: childEnvironment({
        HOST: "127.0.0.1",
        PORT: "0",
        // The demo reports failures itself, and a log of runs that Ctrl-C ends would break the progress bars.
        LOG_LEVEL: "silent",
        ...settings,
      }),
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#ended = once(this.#child, "exit");
    // Stops the process however the demo ends.
    const kill = () => this.#child.kill("SIGTERM");
    process.once("exit", kill);
    void this.#ended.then(() => process.off("exit", kill));
    this.url = listening(this.#child, this.#ended);
  }

  /** Stops it gracefully and waits for its end. Idempotent. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#ended;
  }
}

/** The environment of a process of the demo: its settings, and what every program needs. */
export function childEnvironment(settings: DemoSettings): Record<string, string | undefined> {
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
