#!/usr/bin/env bun
// Starts the command line: handles broken streams, bounds its memory, and runs the program.
import { boundMemory } from "../app/process.ts";
import { systemReason } from "../domain/shared/errors.ts";
import { EXIT, runCommand } from "./command-runner.ts";
import { runProgram } from "./program.ts";

/** Below this much resident memory garbage is left to the runtime; a service may run beside the command. */
const UNTOUCHED_BYTES = 130_000_000;

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader that stops early, such as `head`, needs no message.
  if (error.code !== "EPIPE") {
    process.stderr.write(`Standard output cannot be written: ${systemReason(error)}\n`);
  }
  process.exit(EXIT.failed);
});
process.stderr.on("error", () => {});

await runProgram((work) => async (...given) => {
  await boundMemory(UNTOUCHED_BYTES);
  await runCommand(work)(...given);
});
