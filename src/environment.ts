// What the service and the command line share as programs: the file of settings, and two exit codes.
import { readFileSync, statSync } from "node:fs";
import { networkInterfaces } from "node:os";
import process from "node:process";
import { type Config, readConfig } from "./config.ts";
import { AppError, refuse } from "./domain/shared/errors.ts";
import { readEnvFile } from "./env-file.ts";

/** Exit code of a program that failed. */
export const EXIT_FAILED = 1;
/** Exit code for a wrong configuration or command line. */
export const EXIT_USAGE = 2;

const DEFAULT_FILE = ".env";
const OPTION = "--env-file";

/** What the file has set: the environment has these as well, where it had no value of its own. */
let fileSettings: Readonly<Record<string, string>> = {};

/**
 * Adds the settings of a file to the environment, whose own values win: of the one that `--env-file` names, else of `.env`
 * in the working directory where there is one. Ends the process when the file cannot be read or has other lines. D-10.4.
 */
export function loadEnvFile(): void {
  const path = settingsFile();
  if (path === null) return;
  const { values, problems } = readEnvFile(textOf(path));
  if (problems.length > 0) {
    end(`The file ${path} has these problems:`, ...problems.map((problem) => `- ${problem}`));
  }
  addSettings(values);
}

/** Gives the environment the settings of a file, where it has no value of its own, in place of those it had from one. */
export function addSettings(values: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(fileSettings)) delete process.env[name];
  const own = new Set(Object.keys(process.env));
  fileSettings = Object.fromEntries(Object.entries(values).filter(([name]) => !own.has(name)));
  Object.assign(process.env, fileSettings);
}

/** The settings that came from a file. */
export function settingsOfFile(): Readonly<Record<string, string>> {
  return fileSettings;
}

/** The environment without them, as this process was given it. */
export function givenEnvironment(): Readonly<Record<string, string | undefined>> {
  const isGiven = ([name]: readonly [string, unknown]) => !(name in fileSettings);
  return Object.fromEntries(Object.entries(process.env).filter(isGiven));
}

/** The configuration as the file and the environment are now. Throws `invalid_request`, and leaves all as it was. D-10.11. */
export function readEnvironmentAnew(): Config {
  const before = fileSettings;
  try {
    const path = settingsFile();
    const { values, problems } = readEnvFile(path === null ? "" : textAnew(path));
    const details = problems.map((problem) => ({ pointer: "", detail: `${path}: ${problem}` }));
    refuse(details, "The file of settings has these problems");
    addSettings(values);
    return readEnvironment();
  } catch (error) {
    addSettings(before);
    throw error;
  }
}

/** Null where none is named, and there is no `.env`. */
function settingsFile(): string | null {
  const named = namedFile(process.argv.slice(2));
  if (named !== null) return named;
  // A folder of that name is one of Python's environments.
  return statSync(DEFAULT_FILE, { throwIfNoEntry: false })?.isFile() ? DEFAULT_FILE : null;
}

/** The configuration of the environment. Throws `invalid_request`. */
export function readEnvironment(): Config {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return readConfig(
    process.env,
    (path) => readFileSync(path, "utf8"),
    addresses.map(({ address }) => address),
    process.platform,
  );
}

/** The value of `--env-file` among arguments; null without the option. */
function namedFile(args: readonly string[]): string | null {
  for (const [index, arg] of args.entries()) {
    if (arg === "--") return null;
    if (arg.startsWith(`${OPTION}=`)) return arg.slice(OPTION.length + 1);
    if (arg === OPTION) return args[index + 1] ?? end(`The option ${OPTION} needs a path`);
  }
  return null;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return end(unreadable(path, error));
  }
}

/** Throws `invalid_request`. */
function textAnew(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new AppError("invalid_request", unreadable(path, error));
  }
}

function unreadable(path: string, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : error;
  return `The file ${path} cannot be read: ${code}`;
}

function end(...lines: readonly string[]): never {
  process.stderr.write(lines.map((line) => `${line}\n`).join(""));
  process.exit(EXIT_USAGE);
}
