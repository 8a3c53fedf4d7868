// The real service as a process of its own.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { makeClient, SYNC_KEY, type SyncClient } from "../../http/support/sync-app.ts";
import { TABLES } from "../../http/support/tables.ts";
import { keepResource } from "../../support/resources.ts";

/** `src/app/main.ts`. */
export const MAIN = fileURLToPath(new URL("../../../src/app/main.ts", import.meta.url));
/** The command line. */
export const CLI = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));

/** A program with its arguments, all but the last ones. */
export type Command = readonly [string, ...string[]];

/** The Bun that runs this test; its children end when it ends, however that comes about. */
export const BUN: Command = [process.execPath, "--no-orphans"];

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A started process. */
export interface StartedProcess {
  readonly pid: number;
  /** What it has written so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves with what `read` finds, as soon as it finds something in the output. Rejects when it ends before. */
  waitFor<T>(what: string, read: (output: StartedProcess) => T | null | undefined): Promise<T>;
  kill(signal: NodeJS.Signals): void;
  /** Closes this end of its stderr: what it writes from now on fails. */
  closeStderr(): void;
  /** Resolves when it has ended and all of its output has been read. */
  readonly ended: Promise<Ended>;
}

/** A deployment that listens. */
export interface ServiceProcess extends SyncClient, StartedProcess {
  /** SIGTERM, and how it ended. */
  stop(): Promise<Ended>;
}

/** Only what never comes takes so long, however busy the machine is; tests take at most 60 s. */
const DEADLINE_MS = 50_000;

/** Nothing of this process's environment but what programs need, and `env`. */
export function programEnv(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH, HOME, ...env };
}

/** Starts a process with nothing of this one's environment but what programs need. It is killed after the test. */
export function startProcess(
  command: Command,
  options: {
    readonly env?: Readonly<Record<string, string>>;
    readonly folder?: string;
    /** True: nobody reads stderr. */
    readonly isStderrUnread?: boolean;
  } = {},
): StartedProcess {
  const [program, ...args] = command;
  const { folder = makeTempFolder(), isStderrUnread = false } = options;
  const child = spawn(program, args, {
    cwd: folder,
    env: programEnv(options.env),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = new Output();
  child.stdout.setEncoding("utf8").on("data", (text: string) => output.add("stdout", text));
  if (!isStderrUnread) {
    child.stderr.setEncoding("utf8").on("data", (text: string) => output.add("stderr", text));
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once(isStderrUnread ? "exit" : "close", (code: number | null, signal: string | null) => {
      output.end();
      resolve({ code, signal });
    });
  });
  const kill = (signal: NodeJS.Signals) => void child.kill(signal);
  keepResource(async () => {
    if (!output.isEnded) kill("SIGKILL");
    child.stderr.resume();
    await ended;
  });
  const started: StartedProcess = {
    pid: child.pid ?? -1,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    kill,
    closeStderr: () => void child.stderr.destroy(),
    ended,
    async waitFor(what, read) {
      // A process that ends is a reason to stop waiting.
      const timer = setTimeout(() => kill("SIGKILL"), DEADLINE_MS);
      try {
        return await output.waitFor(what, () => read(started));
      } finally {
        clearTimeout(timer);
      }
    },
  };
  return started;
}

/** What a process has written, and whoever waits for more of it. */
class Output {
  stdout = "";
  stderr = "";
  isEnded = false;
  #wake = () => {};

  add(stream: "stdout" | "stderr", text: string): void {
    this[stream] += text;
    this.#wake();
  }

  end(): void {
    this.isEnded = true;
    this.#wake();
  }

  async waitFor<T>(what: string, read: () => T | null | undefined): Promise<T> {
    for (;;) {
      const found = read();
      if (found !== null && found !== undefined) return found;
      if (this.isEnded) throw new Error(`No ${what}: ${this.stdout}\n${this.stderr}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** Runs a process to its end. */
export async function runProcess(
  command: Command,
  options: Parameters<typeof startProcess>[1] = {},
): Promise<Ended & { readonly stdout: string; readonly stderr: string }> {
  const started = startProcess(command, options);
  const { code, signal } = await started.ended;
  return { code, signal, stdout: started.stdout(), stderr: started.stderr() };
}

/** What `main.ts` needs to serve the tables of the HTTP tests from a folder, with logs of errors only. */
export function serviceEnv(folder: string, tables: object = TABLES): Record<string, string> {
  const registryFile = join(folder, "tables.json");
  writeFileSync(registryFile, JSON.stringify({ tables }));
  return {
    HOST: "127.0.0.1",
    PORT: "0",
    STORAGE_URL: `sqlite:${join(folder, "repsync.db")}`,
    SYNC_ENABLED: "true",
    SYNC_API_KEY: SYNC_KEY,
    SYNC_TABLES: registryFile,
    LOG_LEVEL: "error",
  };
}

/** Starts the service and waits until it listens. `folder` holds its database and its registry file. */
export async function startService(
  options: {
    readonly folder?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly tables?: object;
    readonly command?: Command;
    readonly isStderrUnread?: boolean;
  } = {},
): Promise<ServiceProcess> {
  const { folder = makeTempFolder(), command = [...BUN, MAIN], env, tables, ...rest } = options;
  const started = startProcess(command as Command, {
    ...rest,
    folder,
    env: { ...serviceEnv(folder, tables), ...env },
  });
  const url = await started.waitFor("address on stdout", listeningUrl);
  return {
    ...makeClient(url, env?.["SYNC_API_KEY"]),
    ...started,
    stop: () => {
      started.kill("SIGTERM");
      return started.ended;
    },
  };
}

/** The address that the first line of stdout names. */
function listeningUrl({ stdout }: StartedProcess): string | undefined {
  return /^repsync is listening on (https?:\/\/\S+)\n/.exec(stdout())?.[1];
}
