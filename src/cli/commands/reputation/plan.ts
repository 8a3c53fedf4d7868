import { Argument } from "commander";
import {
  effectiveLimits,
  PLAN_NAMES,
  type PlanName,
} from "../../../domain/reputation/accounts/plan.ts";
import { type InputProblem, refuse } from "../../../domain/shared/errors.ts";
import { MAX_PLAN_NUMBER } from "../../../domain/shared/limits.ts";
import { formatCount } from "../../../domain/shared/text.ts";
import {
  changePlan,
  type PlanBody,
  readPlan,
} from "../../../usecases/reputation/accounts/administer.ts";
import {
  type AddCommands,
  type CommandTools,
  type CommonOptions,
  declareCommand,
  readWhole,
} from "../../command-runner.ts";
import type { Output } from "../../output.ts";
import { requestOfCommand } from "./accounts.ts";

interface PlanOptions extends CommonOptions {
  readonly callsPerMonth?: number;
  readonly rateLimitPerMinute?: number;
}

export const addCommands: AddCommands = (parent, run) => {
  const group = parent.command("plan");
  declareCommand(group, "set")
    .description("Puts an account on a plan, from its next call on.")
    .argument("<username>", "account of the business")
    .addArgument(new Argument("<plan>", "the plan").choices(PLAN_NAMES))
    .option("--calls-per-month <n>", "enterprise only; without it unlimited", readWhole)
    .option("--rate-limit-per-minute <n>", "enterprise only", readWhole)
    .action(run(setPlan));
  declareCommand(group, "show")
    .description(
      "Shows the plan of an account with its limits; JSON tells only numbers that were agreed for an enterprise plan.",
    )
    .argument("<username>", "account of the business")
    .action(run(showPlan));
};

async function setPlan(
  { output, openStore }: CommandTools,
  username: string,
  plan: PlanName,
  { callsPerMonth, rateLimitPerMinute }: PlanOptions,
): Promise<void> {
  refuse([
    ...numberProblems("/calls_per_month", callsPerMonth),
    ...numberProblems("/rate_limit_per_minute", rateLimitPerMinute),
  ]);
  const { accounts: deps } = (await openStore()).services;
  const change = {
    username,
    plan,
    callsPerMonth: callsPerMonth ?? null,
    rateLimitPerMinute: rateLimitPerMinute ?? null,
  };
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

function numberProblems(pointer: string, value: number | undefined): InputProblem[] {
  if (value !== 0) return [];
  return [{ pointer, detail: `Must be a whole number from 1 to ${MAX_PLAN_NUMBER}` }];
}
