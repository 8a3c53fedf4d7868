import {
  type AccountItem,
  isForeignUsername,
} from "../../../domain/reputation/accounts/account.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS } from "../../../domain/shared/limits.ts";
import { formatCount, hasControlCharacter } from "../../../domain/shared/text.ts";
import {
  eraseAccount,
  listAccounts,
  readAccount,
  releaseName,
  restoreAccount,
  setPassword,
  suspendAccount,
} from "../../../usecases/reputation/accounts/administer.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import { createAdministrator } from "../../../usecases/reputation/accounts/sign-up.ts";
import {
  type AddCommands,
  type CommandTools,
  declareCommand,
  requestOfCommand,
} from "../../command-runner.ts";
import { addListOptions, type ListOptions } from "../../lists.ts";
import { type Columns, type Output, tableLines } from "../../output.ts";
import { confirm, readPassword, requireTerminal } from "../../prompts.ts";

interface AccountOptions {
  /** Of `erase`. */
  readonly yes?: true;
}

type AccountWork = (
  deps: AccountDeps,
  username: string,
  output: Output,
  options: AccountOptions,
) => Promise<void>;

const COLUMNS: Columns<AccountItem> = {
  username: (item) => item.username,
  email: (item) => item.email,
  role: (item) => item.role,
  plan: (item) => item.plan,
  status: (item) => item.status,
  created: (item) => item.createdAt,
  "last sign-in": (item) => item.lastSignInAt ?? "never",
};

export const addCommands: AddCommands = (parent, run) => {
  const admin = parent.command("admin");
  declareCommand(admin, "create")
    .description(
      "Makes an administrator's account. The password is asked for, or is the first line of standard input: " +
        `${MIN_PASSWORD_CHARS} to ${MAX_PASSWORD_CHARS} characters.`,
    )
    .argument("<username>", "name to sign in with")
    .action(run(createAdmin));
  declareCommand(admin, "set-password")
    .description(
      "Gives an account another password and ends its sessions. The password is asked for, or is the first line of standard input.",
    )
    .argument("<username>", "account that signs in here")
    .action(run(resetPassword));
  const group = parent.command("accounts");
  const listing = declareCommand(group, "list")
    .description("Lists accounts by name.")
    .option("--query <text>", "only those whose name or e-mail address contains it");
  addListOptions(listing).action(run(list));
  const declare = (
    name: string,
    description: string,
    work: AccountWork,
    opening: "open" | "openToRead" = "open",
  ) =>
    declareCommand(group, name)
      .description(description)
      .argument("<username>", "name of the account")
      .action(
        run(async (tools, username: string, options: AccountOptions) => {
          const { accounts } = (await tools[opening]()).services;
          await work(accounts, username, tools.output, options);
        }),
      );
  declare("show", "Shows an account with its usage.", show, "openToRead");
  declare(
    "suspend",
    "Suspends an account: its keys are refused at once, its sessions end.",
    async (deps, username, output) => {
      const item = await suspendAccount(deps, username, requestOfCommand(deps));
      output.show(item, `"${username}" is suspended`);
    },
  );
  declare("restore", "Ends the suspension of an account.", async (deps, username, output) => {
    const item = await restoreAccount(deps, username, requestOfCommand(deps));
    output.show(item, `"${username}" is active again`);
  });
  declare("erase", "Erases an account and everything about the person. Asks first.", erase).option(
    "--yes",
    "do not ask",
  );
  declare(
    "release",
    "Makes the name of an erased account free for a new person.",
    async (deps, username, output) => {
      const released = await releaseName(deps, username, requestOfCommand(deps));
      output.show(released, `"${username}" is free: who signs up next has it`);
    },
  );
};

async function list(
  { output, openToRead }: CommandTools,
  options: ListOptions & { readonly query?: string },
): Promise<void> {
  const { accounts } = (await openToRead()).services;
  let part = await listAccounts(accounts, options);
  while (part.items.length === 0 && part.nextCursor !== null) {
    part = await listAccounts(accounts, { ...options, cursor: part.nextCursor });
  }
  output.showList(part, "No such account", (items) => tableLines(items, COLUMNS));
}

const show: AccountWork = async (deps, username, output) => {
  const account = await readAccount(deps, username);
  const { minute, month } = account.usage;
  const used = ({ used, limit }: typeof month) =>
    `${formatCount(used)} of ${limit === null ? "unlimited" : formatCount(limit)}`;
  output.show(
    account,
    `${account.username}  ${account.role}, ${account.status}, plan ${account.plan}`,
    `  e-mail        ${account.email || "none"}`,
    `  created       ${account.createdAt}`,
    `  last sign-in  ${account.lastSignInAt ?? "never"}`,
    `  this minute   ${used(minute)} calls`,
    `  this month    ${used(month)} calls`,
  );
};

const erase: AccountWork = async (deps, username, output, { yes }) => {
  // An unknown account fails before the question.
  await readAccount(deps, username);
  if (yes !== true) {
    requireTerminal();
    const question = `Erase "${username}" with profile, platform accounts, keys and consents?`;
    if (!(await confirm(question))) throw new AppError("conflict", "Nothing was erased");
  }
  const erased = await eraseAccount(deps, username, requestOfCommand(deps));
  output.show(erased, `"${username}" is erased; the name stays taken until it is released`);
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
