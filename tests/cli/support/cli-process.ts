// The command line as a process of its own, as a user calls it: for what streams, signals, memory and terminals decide.

import { readFileSync } from "node:fs";
import { BUN, CLI, programEnv } from "../../e2e/support/service-process.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { keepResource } from "../../support/resources.ts";
import { asResult, type CliOptions, type CliResult } from "./run-cli.ts";

const PEAK_EVERY_MS = 20;

/** How a process ended. */
export interface ProcessResult extends CliResult {
  /** The most memory that it had. */
  readonly peakBytes: number;
}

/** Runs a command to its end. */
export async function runCliProcess(
  args: readonly string[],
  { env, folder = makeTempFolder(), input = "" }: CliOptions = {},
): Promise<ProcessResult> {
  const child = Bun.spawn([...BUN, CLI, ...args], {
    cwd: folder,
    env: programEnv(env),
    stdin: new Blob([input as string]),
    stdout: "pipe",
    stderr: "pipe",
  });
  keepResource(() => child.kill("SIGKILL"));
  const memory = watchPeak(child.pid);
  const [stdout, stderr, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  const peakBytes = memory.stop() ?? child.resourceUsage()?.maxRSS ?? 0;
  return Object.assign(asResult(args, { code, stdout, stderr }), { peakBytes });
}

/**
 * Looks at the most memory that a process has had, as Linux keeps it; null elsewhere. What its end reports counts the
 * memory of the process that started it, too.
 */
function watchPeak(pid: number): { stop(): number | null } {
  let peakBytes: number | null = null;
  const timer = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      const [, peakKib] = /VmHWM:\s+(\d+)/.exec(status) ?? [];
      if (peakKib !== undefined) peakBytes = Number(peakKib) * 1024;
    } catch {
      // It has ended, or there is no such file here.
    }
  }, PEAK_EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return peakBytes;
    },
  };
}

/** A command in a terminal. */
export interface TerminalCli {
  /** All that it has shown so far. */
  shown(): string;
  /** Resolves when the text has been shown `times` times. Rejects when the command ends before. */
  waitFor(text: string, times?: number): Promise<void>;
  /** Types into the terminal. */
  type(text: string): void;
  /** Closes the terminal. */
  close(): void;
  readonly exited: Promise<number>;
}

/** What a command on a terminal may have. */
export interface TerminalOptions extends Omit<CliOptions, "input"> {
  /** Width of the terminal. */
  readonly cols?: number;
}

/** Starts a command whose three streams are a terminal. */
export function startInTerminal(
  args: readonly string[],
  { env, folder = makeTempFolder(), cols = 120 }: TerminalOptions = {},
): TerminalCli {
  let shown = "";
  let wake = () => {};
  let hasEnded = false;
  const decoder = new TextDecoder();
  const child = Bun.spawn([...BUN, CLI, ...args], {
    cwd: folder,
    env: programEnv({ TERM: "xterm", ...env }),
    terminal: {
      cols,
      rows: 40,
      data(_terminal, bytes) {
        shown += decoder.decode(bytes, { stream: true });
        wake();
      },
      exit() {
        hasEnded = true;
        wake();
      },
    },
  });
  keepResource(() => {
    child.kill("SIGKILL");
    child.terminal?.close();
  });
  return {
    shown: () => shown,
    async waitFor(text, times = 1) {
      while (shown.split(text).length <= times) {
        if (hasEnded) throw new Error(`It ended without "${text}": ${shown}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    type: (text) => void child.terminal?.write(text),
    close: () => child.terminal?.close(),
    exited: child.exited,
  };
}
