import { isForeignUsername } from "../../../domain/reputation/accounts/account.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS } from "../../../domain/shared/limits.ts";
import { hasControlCharacter } from "../../../domain/shared/text.ts";
import { setPassword } from "../../../usecases/reputation/accounts/administer.ts";
import { createAdministrator } from "../../../usecases/reputation/accounts/sign-up.ts";
import { type AddCommands, type CommandTools, declareCommand } from "../../command-runner.ts";
import { readPassword } from "../../prompts.ts";
import { requestOfCommand } from "./accounts.ts";

export const addCommands: AddCommands = (parent, run) => {
  const group = parent.command("admin");
  declareCommand(group, "create")
    .description(
      "Makes an administrator's account. The password is asked for, or is the first line of standard input: " +
        `${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters.`,
    )
    .argument("<username>", "name to sign in with")
    .action(run(createAdmin));
  declareCommand(group, "set-password")
    .description(
      "Gives an account another password and ends its sessions. The password is asked for, or is the first line of standard input.",
    )
    .argument("<username>", "account that signs in here")
    .action(run(resetPassword));
};

async function createAdmin({ output, openStore }: CommandTools, username: string): Promise<void> {
  if (!isForeignUsername(username)) {
    throw new AppError("invalid_request", "A username has 1 to 200 characters");
  }
  if (hasControlCharacter(username)) {
    throw new AppError("invalid_request", "A username has no control characters");
  }
  const password = await readPassword(username);
  const { services } = await openStore();
  if (!(await createAdministrator(services.accounts, { username, password }))) {
    throw new AppError("username_taken", `The account "${username}" already exists`);
  }
  const made = { username, role: "administrator" };
  output.show(made, `Administrator "${username}" can sign in at POST /v1/sessions`);
}

async function resetPassword({ output, openStore }: CommandTools, username: string): Promise<void> {
  const newPassword = await readPassword(username);
  const { accounts: deps } = (await openStore()).services;
  const done = await setPassword(deps, { username, newPassword }, requestOfCommand(deps));
  output.show(done, `"${username}" has the new password, and is signed out everywhere`);
}
