// What the service and the command line share as programs: the file of settings, and two exit codes.
import { readFileSync, statSync } from "node:fs";
import { networkInterfaces } from "node:os";
import process from "node:process";
import { refuse } from "../domain/shared/errors.ts";
import { showHidden } from "../domain/shared/hidden-characters.ts";
import { type Config, readConfig } from "./config.ts";
import { readEnvFile } from "./env-file.ts";
import { readTlsFiles, type TlsFiles } from "./tls-files.ts";

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

/** What the files of HTTPS hold now. Throws `invalid_request` with all problems. D-11.5. */
export function readTlsAnew(): TlsFiles | null {
  const { TLS_CERT_FILE, TLS_KEY_FILE } = process.env;
  const paths = { tlsCertFile: TLS_CERT_FILE || null, tlsKeyFile: TLS_KEY_FILE || null };
  const problems: string[] = [];
  const tls = readTlsFiles(paths, readText, problems);
  refuse(
    problems.map((detail) => ({ pointer: "", detail })),
    "The files have these problems",
  );
  return tls;
}

/** The configuration of the environment. Throws `invalid_request`. */
export function readEnvironment(): Config {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return readConfig(
    process.env,
    readText,
    addresses.map(({ address }) => address),
  );
}

function readText(path: string): string {
  return readFileSync(path, "utf8");
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
    return readText(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : error;
    return end(`The file ${path} cannot be read: ${code}`);
  }
}

function end(...lines: readonly string[]): never {
  process.stderr.write(lines.map((line) => `${showHidden(line)}\n`).join(""));
  process.exit(EXIT_USAGE);
}
