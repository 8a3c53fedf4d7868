// A password from a prompt that does not show it, or from a pipe; never from the command line, which others can see.
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { UsageError } from "./describe-failure.ts";

/** Asks twice on a terminal; takes the first line of standard input otherwise. Throws `UsageError`. */
export async function readPassword(subject: string): Promise<string> {
  if (process.stdin.isTTY !== true) return await readLine();
  const password = await ask(`Password for ${subject}: `);
  if ((await ask("The same again: ")) === password) return password;
  throw new UsageError("The two passwords are not the same");
}

async function readLine(): Promise<string> {
  const line = (await text(process.stdin)).split(/\r?\n/)[0] ?? "";
  if (line !== "") return line;
  throw noPassword();
}

function noPassword(): UsageError {
  return new UsageError("There is no password: type it at the prompt or give it on standard input");
}

async function ask(question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: process.stdin, output: silent, terminal: true });
  // The prompt takes Ctrl-C off the terminal, so it is handed on.
  prompt.on("SIGINT", () => {
    prompt.close();
    process.kill(process.pid, "SIGINT");
  });
  try {
    process.stderr.write(question);
    return await prompt.question("");
  } catch (error) {
    // Ctrl-D.
    if (error instanceof Error && error.name === "AbortError") throw noPassword();
    throw error;
  } finally {
    prompt.close();
    process.stderr.write("\n");
  }
}
