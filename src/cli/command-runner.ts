// What all commands share: how they are declared, opened, told, interrupted and ended.
import type { Command } from "commander";
import type { Services } from "../services.ts";
import { boundMemory } from "./bound-memory.ts";
import { describeFailure } from "./describe-failure.ts";
import { EXIT, type ExitCode } from "./exit-code.ts";
import { type Interruption, watchInterruption } from "./interruption.ts";
import { type OpenedDeployment, openDeployment } from "./open-deployment.ts";
import { flushOutput, type Output, startOutput } from "./output.ts";

/** What a command works with. */
export interface CommandTools {
  readonly output: Output;
  readonly interruption: Interruption;
  /** Opens the deployment of the environment; it is closed when the command ends. */
  open(): Promise<OpenedDeployment>;
}

/** Options that every command has. */
export interface CommonOptions {
  readonly json?: true;
}

/** Does the work of a command and ends the process with its exit code. */
export type RunCommand = (
  options: CommonOptions,
  work: (tools: CommandTools) => Promise<ExitCode>,
) => Promise<void>;

/** Adds one command, or a group of them, to its parent. */
export type AddCommand = (parent: Command, run: RunCommand) => void;

/** Declares a command with the options that every one has. */
export function declareCommand(parent: Command, name: string): Command {
  return parent.command(name).option("--json", "write one JSON document to standard output");
}

/** Runs the work of one command. Never rejects: a failure is told and becomes the exit code. */
export const runCommand: RunCommand = async (options, work) => {
  const output = startOutput({ isJson: options.json === true });
  const opened: OpenedDeployment[] = [];
  const interruption = watchInterruption((signal) => {
    restoreTerminal();
    output.warn(`Ended by ${signal}`);
    process.exit(EXIT.failed);
  });
  boundMemory();
  let code: ExitCode;
  try {
    code = await work({
      ...{ output, interruption },
      open: async () => {
        const deployment = await openDeployment();
        opened.push(deployment);
        return deployment;
      },
    });
  } catch (error) {
    code = tellFailure(output, error);
  }
  for (const deployment of opened) await closeQuietly(deployment.services);
  await flushOutput();
  process.exit(code);
};

/** Tells a failure on stderr, and with `--json` also as a document. Returns its exit code. */
function tellFailure(output: Output, error: unknown): ExitCode {
  const failure = describeFailure(error);
  if (failure === null) return EXIT.failed;
  const { code, message, problems } = failure;
  output.warn(
    problems.length === 0 ? message : `${message}:`,
    ...problems.map((problem) => `- ${problem}`),
  );
  output.printJson({ error: message, ...(problems.length === 0 ? {} : { problems }) });
  if (process.env["LOG_LEVEL"] === "debug" && error instanceof Error)
    output.warn(error.stack ?? error.message);
  return code;
}

/** Shows the cursor and wraps lines again, which bars do without. */
function restoreTerminal(): void {
  if (process.stderr.isTTY) process.stderr.write("\u001b[?25h\u001b[?7h\n");
}

/** What was done is done, whatever closing says. */
async function closeQuietly(services: Services): Promise<void> {
  try {
    await services.close();
  } catch (error) {
    services.logger.error("The store could not be closed", error);
  }
}
