#!/usr/bin/env bun
// The command line: finds the command and runs it.
import { runDemo } from "./demo/demo.ts";

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const USAGE = `Usage: repsync <command> [options]

Commands:
  demo [--once]   Move 171,075 real rows between two deployments and compare them.
                  With --once it ends by itself: exit 0 when everything is equal, else 1.

Options:
  -h, --help      Show this text`;

const [command, ...args] = process.argv.slice(2);

if (command === undefined) {
  console.error(USAGE);
  process.exit(EXIT_USAGE);
}
if (command === "--help" || command === "-h" || command === "help") {
  console.log(USAGE);
  process.exit(0);
}
if (command !== "demo") {
  console.error(`Unknown command "${command}"\n\n${USAGE}`);
  process.exit(EXIT_USAGE);
}
const unknown = args.find((arg) => arg !== "--once");
if (unknown !== undefined) {
  console.error(`Unknown option "${unknown}" of demo\n\n${USAGE}`);
  process.exit(EXIT_USAGE);
}
process.exit(await runDemo({ isOnce: args.includes("--once") }).catch(reportFailure));

function reportFailure(error: unknown): number {
  console.error(`The demo failed: ${error instanceof Error ? error.message : error}`);
  return EXIT_FAILED;
}
