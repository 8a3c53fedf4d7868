import { Argument } from "commander";
import {
  effectiveLimits,
  PLAN_NAMES,
  type PlanName,
} from "../../../domain/reputation/accounts/plan.ts";
import { AppError, type InputProblem, refuse } from "../../../domain/shared/errors.ts";
import {
  MAX_API_KEY_NAME_CHARS,
  MAX_PLAN_NUMBER,
  MAX_ROTATION_OVERLAP_SECONDS,
} from "../../../domain/shared/limits.ts";
import { formatCount, hasControlCharacter, isTextOf } from "../../../domain/shared/text.ts";
import {
  changePlan,
  type PlanBody,
  readPlan,
} from "../../../usecases/reputation/accounts/administer.ts";
import {
  type ApiKeyItem,
  issueApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from "../../../usecases/reputation/accounts/api-keys.ts";
import type { AccountDeps } from "../../../usecases/reputation/accounts/deps.ts";
import {
  type AddCommands,
  type CommandTools,
  declareCommand,
  readWhole,
  requestOfCommand,
} from "../../command-runner.ts";
import { itemsOf, wholeId } from "../../lists.ts";
import { type Columns, type Output, tableLines } from "../../output.ts";

const COLUMNS: Columns<ApiKeyItem> = {
  id: (item) => item.id,
  name: (item) => item.name,
  key: (item) => `${item.prefix}…${item.last4}`,
  status: (item) => item.status,
  created: (item) => item.createdAt,
  expires: (item) => item.expiresAt ?? "never",
  "last used": (item) => item.lastUsedAt ?? "never",
};

export const addCommands: AddCommands = (parent, run) => {
  const group = parent.command("keys");
  declareCommand(group, "create")
    .description("Issues an API key to an account. The key is shown only this once.")
    .argument("<username>", "account of the business")
    .requiredOption("--name <name>", "what the key is for")
    .option("--expires <time>", "when it expires, ISO 8601; without it never")
    .action(run(createKey));
  declareCommand(group, "list")
    .description("Lists the keys of an account, newest first, without their text.")
    .argument("<username>", "account of the business")
    .action(run(listKeys));
  declareCommand(group, "rotate")
    .description("Issues a key in the place of another, which is revoked after the overlap.")
    .argument("<username>", "account of the business")
    .argument("<id>", "id of the key to replace, as listed; its beginning is enough")
    .option("--overlap-seconds <n>", "how long the old key is still good, up to a day", readWhole)
    .action(run(rotateKey));
  declareCommand(group, "revoke")
    .description("Revokes a key at once, on every running instance.")
    .argument("<username>", "account of the business")
    .argument("<id>", "id of the key, as listed; its beginning is enough")
    .action(run(revokeKey));
  const plan = parent.command("plan");
  declareCommand(plan, "set")
    .description("Puts an account on a plan, from its next call on.")
    .argument("<username>", "account of the business")
    .addArgument(new Argument("<plan>", "the plan").choices(PLAN_NAMES))
    .option("--calls-per-month <n>", "enterprise only; without it unlimited", readWhole)
    .option("--rate-limit-per-minute <n>", "enterprise only", readWhole)
    .action(run(setPlan));
  declareCommand(plan, "show")
    .description(
      "Shows the plan of an account with its limits; JSON tells only numbers that were agreed for an enterprise plan.",
    )
    .argument("<username>", "account of the business")
    .action(run(showPlan));
};

async function createKey(
  { output, openStore }: CommandTools,
  username: string,
  { name, expires }: { readonly name: string; readonly expires?: string },
): Promise<void> {
  if (!isTextOf(name, 1, MAX_API_KEY_NAME_CHARS) || hasControlCharacter(name)) {
    const detail = `Must be a text of 1 to ${MAX_API_KEY_NAME_CHARS} characters, in one line and without control characters`;
    refuse([{ pointer: "/name", detail }]);
  }
  const deps = await openFor(username, openStore);
  const issued = await issueApiKey(deps, username, { name, expiresAt: expires ?? null });
  showIssued(output, issued, username, `, expires ${issued.expiresAt ?? "never"}`);
}

async function rotateKey(
  { output, openStore }: CommandTools,
  username: string,
  idText: string,
  { overlapSeconds = 0 }: { readonly overlapSeconds?: number },
): Promise<void> {
  if (overlapSeconds > MAX_ROTATION_OVERLAP_SECONDS) {
    const detail = `Must be a whole number from 0 to ${MAX_ROTATION_OVERLAP_SECONDS}`;
    refuse([{ pointer: "/overlap_seconds", detail }]);
  }
  const deps = await openFor(username, openStore);
  const id = await wholeId(idText, (query) => listApiKeys(deps, username, query));
  const issued = await rotateApiKey(deps, username, id, overlapSeconds);
  const end = overlapSeconds === 0 ? "now" : `in ${overlapSeconds} s`;
  showIssued(output, issued, username, `; ${id} ends ${end}`);
}

async function listKeys({ output, openToRead }: CommandTools, username: string): Promise<void> {
  const deps = await openFor(username, openToRead);
  const items = await Array.fromAsync(itemsOf((query) => listApiKeys(deps, username, query)));
  output.showList({ items }, `"${username}" has no key`, () => tableLines(items, COLUMNS));
}

async function revokeKey(
  { output, openStore }: CommandTools,
  username: string,
  idText: string,
): Promise<void> {
  const deps = await openFor(username, openStore);
  const id = await wholeId(idText, (query) => listApiKeys(deps, username, query));
  const revoked = await revokeApiKey(deps, username, id);
  output.show(revoked, `Key "${revoked.name}" (${revoked.id}) is revoked`);
}

/** Throws `not_found` for an unknown account. */
async function openFor(
  username: string,
  openStore: CommandTools["openStore"],
): Promise<AccountDeps> {
  const deps = (await openStore()).services.accounts;
  if ((await deps.accounts.find(username)) !== null) return deps;
  throw new AppError("not_found", `There is no account "${username}"`);
}

function showIssued(
  output: Output,
  issued: ApiKeyItem & { readonly key: string },
  username: string,
  more: string,
): void {
  const line = `Key "${issued.name}" of "${username}", shown this once`;
  output.show(issued, issued.key, line, `id ${issued.id}${more}`);
}

async function setPlan(
  { output, openStore }: CommandTools,
  username: string,
  plan: PlanName,
  options: { readonly callsPerMonth?: number; readonly rateLimitPerMinute?: number },
): Promise<void> {
  const { callsPerMonth = null, rateLimitPerMinute = null } = options;
  refuse([
    ...numberProblems("/calls_per_month", callsPerMonth),
    ...numberProblems("/rate_limit_per_minute", rateLimitPerMinute),
  ]);
  const { accounts: deps } = (await openStore()).services;
  const change = { username, plan, callsPerMonth, rateLimitPerMinute };
  tellPlan(output, await changePlan(deps, change, requestOfCommand(deps)));
}

async function showPlan({ output, openToRead }: CommandTools, username: string): Promise<void> {
  tellPlan(output, await readPlan((await openToRead()).services.accounts, username));
}

function tellPlan(output: Output, plan: PlanBody): void {
  const limits = effectiveLimits(plan);
  const month = limits.callsPerMonth === null ? "unlimited" : formatCount(limits.callsPerMonth);
  output.show(
    plan,
    `"${plan.username}" is on the plan ${plan.plan}: ${month} calls per month, ` +
      `${formatCount(limits.callsPerMinute)} per minute`,
  );
}

function numberProblems(pointer: string, value: number | null): InputProblem[] {
  if (value !== 0) return [];
  return [{ pointer, detail: `Must be a whole number from 1 to ${MAX_PLAN_NUMBER}` }];
}
