import { isPassword } from "../../domain/reputation/accounts/account.ts";
import { ReputationError } from "../../domain/reputation/accounts/reputation-error.ts";
import { isForeignUsername } from "../../domain/reputation/accounts/username.ts";
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS } from "../../domain/shared/limits.ts";
import { createAdministrator } from "../../usecases/reputation/accounts/create-administrator.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareCommand,
} from "../command-runner.ts";
import { UsageError } from "../describe-failure.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { readPassword } from "../read-password.ts";

/** `repsync admin`. D-4.1, D-4.12. */
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
    throw new UsageError("A username has 1 to 200 characters");
  }
  const password = await readPassword(username);
  if (!isPassword(password)) {
    throw new UsageError(
      `A password has ${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters`,
    );
  }
  const { services } = await open();
  if (!(await createAdministrator(services.accounts, { username, password }))) {
    throw new ReputationError("username_taken", `There is an account "${username}" already`);
  }
  output.printJson({ username, role: "administrator" });
  output.print(`Administrator "${username}" can sign in at POST /v1/sessions`);
  return EXIT.success;
}
