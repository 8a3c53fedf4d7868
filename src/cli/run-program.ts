// The program: finds the command in the arguments of the process, runs it, and ends the process.
import { CommanderError } from "commander";
import type { RunCommand } from "./command-runner.ts";
import { EXIT } from "./failure.ts";
import { flushOutput, Output } from "./output.ts";
import { buildProgramFor, usageMessage } from "./program.ts";

/** Commands for which no deployment has to be set up. */
const WITHOUT_SETTINGS: readonly string[] = ["init", "infer", "help"];

/** Runs the command that the arguments name; `run` is given its work. The process ends with its exit code. */
export async function runProgram(run: RunCommand): Promise<void> {
  const program = await buildProgramFor(process.argv.slice(2), run);
  program.hook("preAction", async (_program, command) => {
    if (WITHOUT_SETTINGS.includes(command.name())) return;
    const { loadEnvFile } = await import("../app/environment.ts");
    loadEnvFile();
  });
  try {
    await program.parseAsync();
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0 && process.argv.includes("--json")) {
      new Output({ json: true }).printJson({ error: usageMessage(error) });
    }
    await flushOutput();
    // Requested help is a success; every other CommanderError is a wrong command line.
    process.exit(error.exitCode === 0 ? EXIT.success : EXIT.usage);
  }
}
