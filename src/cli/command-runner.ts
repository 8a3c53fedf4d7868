// The frame of all commands: they are declared, given a deployment, interrupted and ended here.
import { type Command, CommanderError, InvalidArgumentError } from "commander";
import type { Config } from "../app/config.ts";
import { outlivesTerminal } from "../app/process.ts";
import type { Services } from "../app/services.ts";
import type { AdminRequest } from "../domain/reputation/audit/admin-entry.ts";
import type { AppErrorKind } from "../domain/shared/error-kinds.ts";
import { AppError, type InputProblem, isAppError } from "../domain/shared/errors.ts";
import type { AccountDeps } from "../usecases/reputation/accounts/deps.ts";
import { flushOutput, Output, type OutputOptions } from "./output.ts";

/** The end of a command. D-4.12. */
export const EXIT = {
  success: 0,
  failed: 1,
  /** A wrong command line or configuration: nothing was done. */
  usage: 2,
  /** Done without some records; or compared with differences. */
  partial: 3,
  /** The demo was interrupted: 128 and the number of SIGINT. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Opened in this process; a running service may use the same store. */
export interface OpenedDeployment {
  readonly config: Config;
  readonly services: Services;
}

export interface CommandTools {
  readonly output: Output;
  readonly interruption: Interruption;
  /** Opens the deployment of the environment with the tables of its registry; it is closed when the command ends. */
  open(): Promise<OpenedDeployment>;
  /** As `open`, without tables. */
  openStore(): Promise<OpenedDeployment>;
  /** For a command that only reads: a store that was never used stays unused, and reads as empty. D-12.4. */
  openToRead(needsTables?: boolean): Promise<OpenedDeployment>;
}

/** The work of a command with its arguments, then its options. */
type CommandWork<Given extends readonly unknown[]> = (
  tools: CommandTools,
  ...given: Given
) => Promise<ExitCode> | Promise<void>;

/** Makes an action of commander, which does the work and ends the process with its exit code, by default success. */
export type RunCommand = <Given extends readonly unknown[]>(
  work: CommandWork<Given>,
) => (...given: Given) => Promise<void>;

export type AddCommands = (parent: Command, run: RunCommand) => void;

export function declareCommand(parent: Command, name: string): Command {
  return parent.command(name).option("--json", "write one JSON document to standard output");
}

/** A command that moves or reads much, so its progress can be switched off. */
export function declareJob(parent: Command, name: string): Command {
  return declareCommand(parent, name).option("-q, --quiet", "write nothing but errors");
}

/** Throws the error that commander tells. */
export function readWhole(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number.");
}

/** Of an act on accounts by a command, where nobody asks by name. D-8.8. */
export function requestOfCommand({ ids }: AccountDeps): AdminRequest {
  return { by: null, requestId: ids.next() };
}

/** Its actions never reject: a failure becomes a message and the exit code. */
export const runCommand: RunCommand =
  (work) =>
  async (...given) => {
    // Commander gives the options, then the command itself, last.
    const output = new Output(given.at(-2) as OutputOptions);
    const opened: Services[] = [];
    const openAs = async (needsTables: boolean, isReading: boolean) => {
      const opening = openDeployment(isReading);
      const deployment = await output.waitFor("the store (STORAGE_URL)", opening);
      const { services } = deployment;
      opened.push(services);
      if (needsTables) await services.prepare();
      await services.makeAdministrator();
      return deployment;
    };
    const interruption = new Interruption((signal) => {
      restoreTerminal();
      output.tellError(`Ended by ${signal}`);
      process.exit(EXIT.failed);
    });
    const tools: CommandTools = {
      output,
      interruption,
      open: () => openAs(true, false),
      openStore: () => openAs(false, false),
      openToRead: (needsTables = false) => openAs(needsTables, true),
    };
    let code: ExitCode;
    try {
      code = (await work(tools, ...given)) ?? EXIT.success;
    } catch (error) {
      code = tellFailure(output, error);
    }
    for (const services of opened) await closeQuietly(services);
    await flushOutput();
    process.exit(code);
  };

/** Throws `invalid_request`. */
export async function readDeploymentConfig(): Promise<Config> {
  const { readEnvironment } = await import("../app/environment.ts");
  const config = readEnvironment();
  // Commands report failures themselves, and log lines break progress bars. .env.example has "info" too, so only another level
  // asks for a log.
  return config.logLevel === "info" ? { ...config, logLevel: "silent" } : config;
}

async function openDeployment(isReading: boolean): Promise<OpenedDeployment> {
  const config = await readDeploymentConfig();
  const { openServices } = await import("../app/services.ts");
  return { config, services: await openServices(config, undefined, isReading) };
}

/** A failure without stack and secrets. */
interface FailureText {
  readonly code: ExitCode;
  readonly message: string;
  /** Advice; null without one. */
  readonly hint: string | null;
  readonly problems: readonly string[];
}

const USAGE_KINDS: readonly AppErrorKind[] = [
  "invalid_request",
  "schema_conflict",
  "sync_misconfigured",
  "unknown_table",
];
const INTERNAL = { message: "Internal error", hint: "Set LOG_LEVEL to debug to see its cause" };

/** Null when the user was told already. */
export function describeFailure(error: unknown): FailureText | null {
  if (error instanceof CommanderError) return null;
  if (!isAppError(error)) return { code: EXIT.failed, ...INTERNAL, problems: [] };
  const { message, hint, problems } = error;
  const hasPlaces = problems.some(({ pointer }) => pointer !== "");
  return {
    code: isAppError(error, ...USAGE_KINDS) ? EXIT.usage : EXIT.failed,
    message: hasPlaces ? "These values cannot be used" : message,
    hint,
    problems: problems.map(problemText),
  };
}

function problemText({ pointer, detail }: InputProblem): string {
  return pointer === "" ? detail : `${pointer.slice(1)}: ${detail}`;
}

/** Tells a failure on stderr, with `--json` also as a document, and returns its exit code. */
function tellFailure(output: Output, error: unknown): ExitCode {
  const failure = describeFailure(error);
  if (failure === null) return EXIT.failed;
  const { code, message, hint, problems } = failure;
  const hasList = problems.length > 0;
  // Tables that cannot be used get a line each. D-11.4.
  const heads = isAppError(error, "schema_conflict") ? message.split("\n") : [message];
  output.tellError(
    ...heads.map((head) => [{ colour: "red", text: hasList ? `${head}:` : head } as const]),
    ...problems.map((problem) => `- ${problem}`),
  );
  const told = { error: message, ...(hint === null ? {} : { hint }) };
  output.printJsonFailure({ ...told, ...(hasList ? { problems } : {}) });
  if (hint !== null) output.tellError(hint);
  if (process.env["LOG_LEVEL"] === "debug" && error instanceof Error) {
    output.tellError(...(error.stack ?? error.message).split("\n"));
  }
  return code;
}

/** Shows the cursor and wraps lines again after progress bars. */
function restoreTerminal(): void {
  if (process.stderr.isTTY) process.stderr.write("\u001b[?25h\u001b[?7h\n");
}

/** A failed close does not change the result of the command. */
async function closeQuietly(services: Services): Promise<void> {
  try {
    await services.close();
  } catch (error) {
    services.logger.error("The store could not be closed", error);
  }
}

/**
 * SIGINT, SIGTERM, and SIGHUP of a closed terminal. The first signal stops the command between two writes where it can, and else
 * ends the process; a second SIGINT or SIGTERM ends it at once. Writes are commits, so none is half done.
 */
class Interruption {
  readonly #end: (signal: NodeJS.Signals) => void;
  readonly #stops = new Set<() => void>();
  #received: NodeJS.Signals | null = null;

  /** `end` ends the process. */
  constructor(end: (signal: NodeJS.Signals) => void) {
    this.#end = end;
    process.on("SIGINT", (signal) => this.#receive(signal));
    process.on("SIGTERM", (signal) => this.#receive(signal));
    const isKept = outlivesTerminal();
    // It may come several times, as processes pass it on.
    process.on("SIGHUP", (signal) => {
      if (!isKept && this.#received === null) this.#receive(signal);
    });
  }

  /** Calls `stop` at the first signal, in place of ending the process. */
  onStop(stop: () => void): void {
    this.#stops.add(stop);
  }

  /** The last signal; null before any. */
  received(): NodeJS.Signals | null {
    return this.#received;
  }

  /** Aborted at the first signal; its reason is the `AppError` to end with. */
  stopSignal(): AbortSignal {
    const stopping = new AbortController();
    this.onStop(() => {
      stopping.abort(new AppError("sync_failed", `Stopped by ${this.#received}`));
    });
    return stopping.signal;
  }

  #receive(signal: NodeJS.Signals): void {
    const isFirst = this.#received === null;
    this.#received = signal;
    if (!isFirst || this.#stops.size === 0) this.#end(signal);
    else for (const stop of this.#stops) stop();
  }
}
