#!/usr/bin/env bun
// The command line as a process: its streams, its memory, and the program.
import { systemReason } from "../app/disk/system-reason.ts";
import { runCommand } from "./command-runner.ts";
import { EXIT } from "./failure.ts";
import { runProgram } from "./run-program.ts";

/** Resident memory up to which garbage is left to the runtime. */
const UNTOUCHED_BYTES = 130_000_000;
/** Growth since the last collection that starts another, so that memory in use does not. */
const GROWTH = 1.1;
const CHECK_EVERY_MS = 50;

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader that stops early, such as `head`, needs no message.
  if (error.code !== "EPIPE") {
    process.stderr.write(`Standard output cannot be written: ${systemReason(error)}\n`);
  }
  process.exit(EXIT.failed);
});
process.stderr.on("error", () => {});

await runProgram(async (options, work) => {
  collectGarbageEarly();
  await runCommand(options, work);
});

/** JavaScriptCore lets garbage grow to several times what is in use; a command beside a service collects earlier. */
function collectGarbageEarly(): void {
  let limitBytes = UNTOUCHED_BYTES;
  const timer = setInterval(() => {
    try {
      if (process.memoryUsage.rss() < limitBytes) return;
      Bun.gc(true);
      limitBytes = Math.max(UNTOUCHED_BYTES, process.memoryUsage.rss() * GROWTH);
    } catch {
      // Reading the memory needs a file descriptor, and the process may have none left.
    }
  }, CHECK_EVERY_MS);
  timer.unref();
}
