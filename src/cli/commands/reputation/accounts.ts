import type { AccountItem } from "../../../domain/reputation/accounts/account.ts";
import type { AdminRequest } from "../../../domain/reputation/audit/admin-entry.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import { DEFAULT_LIST_ITEMS } from "../../../domain/shared/limits.ts";
import {
  eraseAccount,
  listAccounts,
  readAccount,
  releaseName,
  restoreAccount,
  suspendAccount,
} from "../../../usecases/reputation/accounts/administer.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareCommand,
} from "../../command-runner.ts";
import { EXIT, type ExitCode } from "../../failure.ts";
import { formatCount, tableLines } from "../../output.ts";
import { confirm } from "../../prompts.ts";
import { type ListOptions, printNext } from "../sync/runs.ts";

interface QueryOptions extends ListOptions {
  readonly query?: string;
}

interface EraseOptions extends CommonOptions {
  readonly yes?: true;
}

export const addAccountsCommand: AddCommand = (parent, run) => {
  const group = parent.command("accounts");
  declareCommand(group, "list")
    .description("Lists accounts by name.")
    .option("--query <text>", "only those whose name or e-mail address contains it")
    .option("--limit <n>", "how many", String(DEFAULT_LIST_ITEMS))
    .option("--cursor <cursor>", "continue where the previous list ended")
    .action((options: QueryOptions) => run(options, (tools) => list(tools, options)));
  declareCommand(group, "show")
    .description("Shows an account with its usage.")
    .argument("<username>", "account to show")
    .action((username: string, options: CommonOptions) =>
      run(options, (tools) => show(tools, username)),
    );
  declareCommand(group, "suspend")
    .description("Suspends an account: its keys are refused at once, its sessions end.")
    .argument("<username>", "account to suspend")
    .action((username: string, options: CommonOptions) =>
      run(options, (tools) => suspend(tools, username)),
    );
  declareCommand(group, "restore")
    .description("Ends the suspension of an account.")
    .argument("<username>", "account to restore")
    .action((username: string, options: CommonOptions) =>
      run(options, (tools) => restore(tools, username)),
    );
  declareCommand(group, "erase")
    .description("Erases an account and everything about the person. Asks first.")
    .argument("<username>", "account to erase")
    .option("--yes", "do not ask")
    .action((username: string, options: EraseOptions) =>
      run(options, (tools) => erase(tools, username, options)),
    );
  declareCommand(group, "release")
    .description("Makes the name of an erased account free for a new person.")
    .argument("<username>", "the name that was erased")
    .action((username: string, options: CommonOptions) =>
      run(options, (tools) => release(tools, username)),
    );
};

/** Who asks for what a command does: nobody by name. D-8.8. */
export function requestOfCommand({ ids }: AccountDeps): AdminRequest {
  return { by: null, requestId: ids.next() };
}

async function list(
  { output, openStore }: CommandTools,
  { query, limit, cursor }: QueryOptions,
): Promise<ExitCode> {
  const { accounts: deps } = (await openStore()).services;
  const wanted = { query: query ?? null, limit, cursor: cursor ?? null };
  const part = await listAccounts(deps, wanted);
  output.printJson(part);
  const names = ["username", "email", "role", "plan", "status", "created", "last sign-in"];
  const rows = part.items.map((item) => [
    item.username,
    item.email,
    item.role,
    item.plan,
    item.status,
    item.createdAt,
    item.lastSignInAt ?? "never",
  ]);
  if (rows.length === 0) output.print("No such account");
  else output.print(...tableLines([names, ...rows]));
  printNext(output, part.nextCursor);
  return EXIT.success;
}

async function show({ output, openStore }: CommandTools, username: string): Promise<ExitCode> {
  const { accounts: deps } = (await openStore()).services;
  const account = await readAccount(deps, username);
  output.printJson(account);
  const { minute, month } = account.usage;
  const used = ({ used, limit }: typeof month) =>
    `${formatCount(used)} of ${limit === null ? "unlimited" : formatCount(limit)}`;
  output.print(
    `${account.username}  ${account.role}, ${account.status}, plan ${account.plan}`,
    `  e-mail        ${account.email || "none"}`,
    `  created       ${account.createdAt}`,
    `  last sign-in  ${account.lastSignInAt ?? "never"}`,
    `  this minute   ${used(minute)} calls`,
    `  this month    ${used(month)} calls`,
  );
  return EXIT.success;
}

async function suspend({ output, open }: CommandTools, username: string): Promise<ExitCode> {
  const { accounts: deps } = (await open()).services;
  const item = await suspendAccount(deps, username, requestOfCommand(deps));
  return tell(output, item, `"${username}" is suspended`);
}

async function restore({ output, open }: CommandTools, username: string): Promise<ExitCode> {
  const { accounts: deps } = (await open()).services;
  const item = await restoreAccount(deps, username, requestOfCommand(deps));
  return tell(output, item, `"${username}" is active again`);
}

function tell(output: CommandTools["output"], item: AccountItem, line: string): ExitCode {
  output.printJson(item);
  output.print(line);
  return EXIT.success;
}

async function erase(
  { output, open }: CommandTools,
  username: string,
  { yes }: EraseOptions,
): Promise<ExitCode> {
  const { accounts: deps } = (await open()).services;
  // An account that is not there is told before anybody is asked about it.
  await readAccount(deps, username);
  const question = `Erase "${username}" with profile, platform accounts, keys and consents?`;
  if (yes !== true && !(await confirm(question))) {
    throw new AppError("conflict", "Nothing was erased");
  }
  output.printJson(await eraseAccount(deps, username, requestOfCommand(deps)));
  output.print(`"${username}" is erased; the name stays taken until it is released`);
  return EXIT.success;
}

async function release({ output, open }: CommandTools, username: string): Promise<ExitCode> {
  const { accounts: deps } = (await open()).services;
  output.printJson(await releaseName(deps, username, requestOfCommand(deps)));
  output.print(`"${username}" is free: who signs up next has it`);
  return EXIT.success;
}
