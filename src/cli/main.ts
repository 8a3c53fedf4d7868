#!/usr/bin/env bun
// The command line: finds the command and runs it.
import { CommanderError } from "commander";
import { systemReason } from "../app/disk/system-reason.ts";
import { runCommand } from "./command-runner.ts";
import { EXIT } from "./failure.ts";
import { flushOutput, Output } from "./output.ts";
import { buildProgramFor, usageMessage } from "./program.ts";

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader that stops early, such as `head`, needs no message.
  if (error.code !== "EPIPE") {
    process.stderr.write(`Standard output cannot be written: ${systemReason(error)}\n`);
  }
  process.exit(EXIT.failed);
});
process.stderr.on("error", () => {});

/** Commands for which no deployment has to be set up. */
const WITHOUT_SETTINGS: readonly string[] = ["init", "infer", "help"];

const program = await buildProgramFor(process.argv.slice(2), runCommand);
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
