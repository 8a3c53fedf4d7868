// Questions that commands ask on a terminal.
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { isPassword } from "../domain/reputation/accounts/account.ts";
import { AppError } from "../domain/shared/errors.ts";
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS } from "../domain/shared/limits.ts";
import { showHidden } from "../domain/shared/text.ts";

/**
 * Asks twice on a terminal, without echo; elsewhere reads the first line of standard input. Never from the command line, which
 * other users see. Throws `invalid_request`.
 */
export async function readPassword(subject: string): Promise<string> {
  const password = await readPasswordOnce(subject);
  if (isPassword(password)) return password;
  throw new AppError(
    "invalid_request",
    `A password has ${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters`,
  );
}

/**
 * Asks on a terminal, without echo; elsewhere reads the first line of standard input. Without white space around it. Throws
 * `invalid_request`.
 */
export async function readSecret(name: string, missing: string): Promise<string> {
  const isAsked = process.stdin.isTTY === true;
  const secret = (await (isAsked ? ask(`${name}: `, missing) : readLine(missing))).trim();
  if (secret !== "") return secret;
  throw notGiven(missing);
}

async function readPasswordOnce(subject: string): Promise<string> {
  if (process.stdin.isTTY !== true) return await readLine(NO_PASSWORD);
  const password = await ask(`Password for ${subject}: `, NO_PASSWORD);
  if ((await ask("Repeat the password: ", NO_PASSWORD)) === password) return password;
  throw new AppError("invalid_request", "The two passwords differ");
}

/** Throws `invalid_request` without a terminal. */
export function requireTerminal(): void {
  if (process.stdin.isTTY === true) return;
  throw new AppError("invalid_request", "This asks first", {
    hint: "Run it on a terminal, or say --yes",
  });
}

/** True for `yes`. */
export async function confirm(question: string): Promise<boolean> {
  using prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await prompt.question(`${showHidden(question)} [yes/no] `)).trim());
  } catch (error) {
    // Ctrl-D.
    if (error instanceof Error && error.name === "AbortError") return false;
    throw error;
  }
}

const NO_PASSWORD = "No password was given";

async function readLine(missing: string): Promise<string> {
  const line = (await text(process.stdin)).split(/\r?\n/)[0] ?? "";
  if (line !== "") return line;
  throw notGiven(missing);
}

function notGiven(missing: string): AppError {
  return new AppError("invalid_request", missing, {
    hint: "Type it at the prompt or pass it on standard input",
  });
}

/** `missing`: the message without an answer. */
async function ask(question: string, missing: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: process.stdin, output: silent, terminal: true });
  // The prompt takes Ctrl-C from the terminal, so it is passed on.
  prompt.on("SIGINT", () => {
    prompt.close();
    process.kill(process.pid, "SIGINT");
  });
  try {
    process.stderr.write(showHidden(question));
    return await prompt.question("");
  } catch (error) {
    // Ctrl-D.
    if (error instanceof Error && error.name === "AbortError") throw notGiven(missing);
    throw error;
  } finally {
    prompt.close();
    process.stderr.write("\n");
  }
}
