import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { isForeignUsername, isPassword } from "../../domain/reputation/accounts/account.ts";
import { AppError } from "../../domain/shared/errors.ts";
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS } from "../../domain/shared/limits.ts";
import { createAdministrator } from "../../usecases/reputation/accounts/sign-up.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareCommand,
} from "../command-runner.ts";
import { EXIT, type ExitCode } from "../failure.ts";

export const addAdminCommand: AddCommand = (parent, run) => {
  const group = parent.command("admin").description("make an administrator");
  declareCommand(group, "create")
    .description(
      "Makes an administrator's account. The password is asked for, or is the first line of standard input: " +
        `${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters.`,
    )
    .argument("<username>", "name to sign in with")
    .action((username: string, options: CommonOptions) =>
      run(options, (tools) => createAdmin(tools, username)),
    );
};

async function createAdmin({ output, open }: CommandTools, username: string): Promise<ExitCode> {
  if (!isForeignUsername(username)) {
    throw new AppError("invalid_request", "A username has 1 to 200 characters");
  }
  const password = await readPassword(username);
  if (!isPassword(password)) {
    throw new AppError(
      "invalid_request",
      `A password has ${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters`,
    );
  }
  const { services } = await open();
  if (!(await createAdministrator(services.accounts, { username, password }))) {
    throw new AppError("username_taken", `The account "${username}" already exists`);
  }
  output.printJson({ username, role: "administrator" });
  output.print(`Administrator "${username}" can sign in at POST /v1/sessions`);
  return EXIT.success;
}

/**
 * Asks twice on a terminal, without showing it; takes the first line of standard input otherwise. Never from the command
 * line, which other users can see. Throws `invalid_request`.
 */
async function readPassword(subject: string): Promise<string> {
  if (process.stdin.isTTY !== true) return await readLine();
  const password = await ask(`Password for ${subject}: `);
  if ((await ask("Repeat the password: ")) === password) return password;
  throw new AppError("invalid_request", "The two passwords differ");
}

async function readLine(): Promise<string> {
  const line = (await text(process.stdin)).split(/\r?\n/)[0] ?? "";
  if (line !== "") return line;
  throw noPassword();
}

function noPassword(): AppError {
  return new AppError(
    "invalid_request",
    "No password was given: type it at the prompt or pass it on standard input",
  );
}

async function ask(question: string): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const prompt = createInterface({ input: process.stdin, output: silent, terminal: true });
  // The prompt takes Ctrl-C from the terminal; pass it on.
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
