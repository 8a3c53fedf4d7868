// What the service and the command line share as programs: the file of settings, and two exit codes.
import { readFileSync, statSync } from "node:fs";
import { networkInterfaces } from "node:os";
import process from "node:process";
import { type Config, readConfig } from "./config.ts";
import { readEnvFile } from "./env-file.ts";

/** Exit code of a program that failed. */
export const EXIT_FAILED = 1;
/** Exit code for a wrong configuration or command line. */
export const EXIT_USAGE = 2;

const DEFAULT_FILE = ".env";
const OPTION = "--env-file";

/**
 * Adds the settings of a file to the environment, whose own values win: of the one that `--env-file` names, else of `.env`
 * in the working directory where there is one. Ends the process when the file cannot be read or has other lines. D-10.4.
 */
export function loadEnvFile(): void {
  const named = namedFile(process.argv.slice(2));
  const path = named ?? DEFAULT_FILE;
  // A folder of that name is one of Python's environments.
  if (named === null && !statSync(path, { throwIfNoEntry: false })?.isFile()) return;
  const { values, problems } = readEnvFile(textOf(path));
  if (problems.length > 0) {
    end(`The file ${path} has these problems:`, ...problems.map((problem) => `- ${problem}`));
  }
  for (const [name, value] of Object.entries(values)) process.env[name] ??= value;
}

/** The configuration of the environment. Throws `invalid_request`. */
export function readEnvironment(): Config {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return readConfig(
    process.env,
    (path) => readFileSync(path, "utf8"),
    addresses.map(({ address }) => address),
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
    const code = error instanceof Error && "code" in error ? error.code : error;
    return end(`The file ${path} cannot be read: ${code}`);
  }
}

function end(...lines: readonly string[]): never {
  process.stderr.write(lines.map((line) => `${line}\n`).join(""));
  process.exit(EXIT_USAGE);
}
