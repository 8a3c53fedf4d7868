// The environment of the service and the command line: the file of settings, the configuration, and exit codes.
import { readFileSync, statSync } from "node:fs";
import { networkInterfaces } from "node:os";
import process from "node:process";
import { refuse, systemReason } from "../domain/shared/errors.ts";
import { showHidden } from "../domain/shared/text.ts";
import { type Config, readConfig } from "./config.ts";
import { readTlsFiles, type TlsFiles } from "./tls-files.ts";

export const EXIT_FAILED = 1;
/** For a wrong configuration or command line. */
export const EXIT_USAGE = 2;

const DEFAULT_FILE = ".env";
const OPTION = "--env-file";

/**
 * Adds the settings of a file to the environment, whose own values win: of the file of `--env-file`, else of `.env` in the
 * working directory where there is one. Ends the process when the file cannot be read or has a wrong line. D-10.4.
 */
export function loadEnvFile(): void {
  const named = namedFile(process.argv.slice(2));
  const path = named ?? DEFAULT_FILE;
  // A folder `.env` is an environment of Python.
  if (named === null && !statSync(path, { throwIfNoEntry: false })?.isFile()) return;
  const { values, problems } = readEnvFile(textOf(path));
  if (problems.length > 0) {
    end(`The file ${path} has these problems:`, ...problems.map((problem) => `- ${problem}`));
  }
  for (const [name, value] of Object.entries(values)) process.env[name] ??= value;
}

/** Reads the files of HTTPS. Throws `invalid_request` with all problems. D-11.5. */
export function readTlsAnew(config: Config): TlsFiles | null {
  const problems: string[] = [];
  const tls = readTlsFiles(config, readText, problems);
  refuse(
    problems.map((detail) => ({ pointer: "", detail })),
    "The files have these problems",
  );
  return tls;
}

/** Throws `invalid_request`. */
export function readEnvironment(): Config {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return readConfig(
    process.env,
    readText,
    addresses.map(({ address }) => address),
  );
}

/** The text of a file, without the byte order mark of an editor. */
function readText(path: string): string {
  return readFileSync(path, "utf8").replace(/^\ufeff/, "");
}

/** The value of `--env-file`; null without the option. */
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
    const hint = "Name a file of settings after --env-file; repsync init writes one, .env";
    return end(`The file ${path} cannot be read: ${systemReason(error)}`, hint);
  }
}

function end(...lines: readonly string[]): never {
  process.stderr.write(lines.map((line) => `${showHidden(line)}\n`).join(""));
  process.exit(EXIT_USAGE);
}

const SETTING = /^(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/s;
/** A value in quotes, and what may stand behind it. */
const QUOTED = /^(["'`])(.*)\1\s*(?:#.*)?$/s;

/**
 * Reads the text of a `.env` file. A line is blank, a comment that begins with `#`, or `[export] NAME = value`. A bare value ends
 * at ` #`; a value in quotes is taken as it is. Nothing is expanded. The last line of a name counts. A wrong line is a problem
 * with its number and without a value. D-10.4.
 */
export function readEnvFile(text: string) {
  const values: Record<string, string> = {};
  const problems: string[] = [];
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\n|\r/);
  for (const [index, line] of lines.entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const [, name, rest = ""] = SETTING.exec(trimmed) ?? [];
    const value = name === undefined ? null : readValue(rest);
    if (name === undefined) problems.push(`line ${index + 1} is no setting, such as NAME=value`);
    else if (value === null) problems.push(`line ${index + 1}: the quotes of ${name} do not close`);
    else values[name] = value;
  }
  return { values, problems };
}

/** Null for quotes that are not closed, or closed before the end. */
function readValue(rest: string): string | null {
  // Blanks and a comment may follow the sign at once.
  const bare = rest.replace(/\s#.*$/s, "").trim();
  if (!/^["'`]/.test(rest.trim())) return bare;
  const [, quote = "", value = ""] = QUOTED.exec(rest.trim()) ?? [];
  if (quote === "") return null;
  const closes = value.indexOf(quote);
  if (closes === -1) return value;
  // Only a comment may follow the first closing quote; more quotes are part of it.
  return /^\s*#/.test(value.slice(closes + 1)) ? value.slice(0, closes) : null;
}
