import { releaseName } from "../../usecases/reputation/accounts/administer.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareCommand,
} from "../command-runner.ts";
import { EXIT, type ExitCode } from "../failure.ts";

export const addAccountsCommand: AddCommand = (parent, run) => {
  const group = parent.command("accounts").description("administer accounts and their names");
  declareCommand(group, "release")
    .description("Makes the name of an erased account free for a new person.")
    .argument("<username>", "the name that was erased")
    .action((username: string, options: CommonOptions) =>
      run(options, (tools) => release(tools, username)),
    );
};

async function release({ output, open }: CommandTools, username: string): Promise<ExitCode> {
  const { services } = await open();
  const request = { by: null, requestId: services.accounts.ids.next() };
  output.printJson(await releaseName(services.accounts, username, request));
  output.print(`"${username}" is free: who signs up next has it`);
  return EXIT.success;
}
