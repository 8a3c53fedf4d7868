#!/usr/bin/env sh
":" //; exec node -- "$0" "$@"
// The program `repsync`: starts the Bun that was installed with this package, by this package's own configuration. D-10.1.
// A shell reads the second line, which is a comment here: without the dashes Node 20 would take an `--env-file` for its own.
import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { join } from "node:path";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";

const PACKAGE = fileURLToPath(new URL("../..", import.meta.url));
const FLAGS = [
  // Otherwise these two would be read from the caller's folder, and can make Bun run other code.
  `--config=${join(PACKAGE, "bunfig.toml")}`,
  `--tsconfig-override=${join(PACKAGE, "tsconfig.json")}`,
  // The program reads `.env` itself, and expands nothing.
  "--no-env-file",
  "--no-install",
  // A kill -9 of this process ends the program.
  "--no-orphans",
];
const FORWARDED = ["SIGINT", "SIGTERM", "SIGHUP"];
/** The package `bun` has a text in place of the program until its install script has run. */
const LEAST_BYTES = 1_000_000;

const candidates = findPrograms().filter(isProgram);
if (candidates.length === 0) fail(`There is no Bun for ${process.platform} ${process.arch}`);
start(candidates);

/** Where Bun may be: in the package for this machine, or moved from there by the install script. */
function findPrograms() {
  const os = process.platform === "win32" ? "windows" : process.platform;
  const cpu = process.arch === "arm64" ? "aarch64" : process.arch;
  const name = process.platform === "win32" ? "bun.exe" : "bun";
  const ours = createRequire(import.meta.url);
  const bun = folderOf(ours, "bun");
  if (bun === null) return [];
  const theirs = createRequire(join(bun, "package.json"));
  const packages = [`@oven/bun-${os}-${cpu}`, `@oven/bun-${os}-${cpu}-musl`];
  const folders = packages.map((each) => folderOf(theirs, each)).filter((each) => each !== null);
  return [join(bun, "bin", "bun.exe"), ...folders.map((folder) => join(folder, "bin", name))];
}

/** The folder of an installed package, wherever the package manager put it; null without one. */
function folderOf(require, name) {
  try {
    return join(require.resolve(`${name}/package.json`), "..");
  } catch {
    return null;
  }
}

function isProgram(path) {
  return existsSync(path) && statSync(path).size >= LEAST_BYTES;
}

/** Runs the first program that starts: one for another C library cannot. */
function start([program, ...others]) {
  // It names options for Bun, as relative paths too.
  const { BUN_OPTIONS, ...env } = process.env;
  const args = [...FLAGS, join(PACKAGE, "src", "cli", "main.ts"), ...process.argv.slice(2)];
  const hadTerminal = isOnTerminal();
  const child = spawn(program, args, { stdio: "inherit", env });
  const forward = (signal) => {
    // Ctrl-C in a terminal reaches the program by itself; twice would mean "at once" to it.
    if (signal === "SIGINT" && isOnTerminal()) return;
    child.kill(signal);
  };
  const watch = endWithNpm(() => child.kill("SIGTERM"));
  const forget = () => {
    clearInterval(watch);
    for (const signal of FORWARDED) process.off(signal, forward);
  };
  for (const signal of FORWARDED) process.on(signal, forward);
  child.once("error", (error) => {
    forget();
    if (others.length > 0) start(others);
    else fail(`Bun cannot be started: ${error.message}`);
  });
  child.once("exit", (code, endSignal) => {
    forget();
    // Node aborts, and tells all about it, where it exits without the terminal that it had.
    const signal = hadTerminal && !isOnTerminal() ? "SIGHUP" : endSignal;
    if (signal === null) process.exit(code);
    // Whoever waits for us is told how the program ended.
    process.kill(process.pid, signal);
    process.exitCode = 128 + constants.signals[signal];
  });
}

function isOnTerminal() {
  return [0, 1, 2].some((fd) => isatty(fd));
}

/** `npx` and scripts of npm pass signals to a shell that dies of them, and we would go on without anybody. */
function endWithNpm(stop) {
  if (!process.env.npm_lifecycle_event) return undefined;
  const shell = process.ppid;
  return setInterval(() => process.ppid === shell || stop(), 250).unref();
}

function fail(problem) {
  console.error(`repsync cannot start: ${problem}. Install the package again, with its optional dependencies`);
  process.exit(1);
}
