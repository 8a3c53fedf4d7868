import { Argument } from "commander";
import {
  effectiveLimits,
  PLAN_NAMES,
  type PlanName,
} from "../../domain/reputation/accounts/plan.ts";
import { type InputProblem, refuse } from "../../domain/shared/errors.ts";
import { MAX_PLAN_NUMBER } from "../../domain/shared/limits.ts";
import { changePlan } from "../../usecases/reputation/accounts/change-plan.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareCommand,
  readWhole,
} from "../command-runner.ts";
import { EXIT, type ExitCode } from "../failure.ts";
import { formatCount } from "../output.ts";

interface PlanOptions extends CommonOptions {
  readonly callsPerMonth?: number;
  readonly rateLimitPerMinute?: number;
}

export const addPlanCommand: AddCommand = (parent, run) => {
  const group = parent.command("plan").description("change the plan of an account");
  declareCommand(group, "set")
    .description("Puts an account on a plan, from its next call on.")
    .argument("<username>", "account of the business")
    .addArgument(new Argument("<plan>", "the plan").choices(PLAN_NAMES))
    .option("--calls-per-month <n>", "enterprise only; without it unlimited", readWhole)
    .option("--rate-limit-per-minute <n>", "enterprise only", readWhole)
    .action((username: string, plan: PlanName, options: PlanOptions) =>
      run(options, (tools) => setPlan(tools, username, plan, options)),
    );
};

async function setPlan(
  { output, open }: CommandTools,
  username: string,
  plan: PlanName,
  { callsPerMonth, rateLimitPerMinute }: PlanOptions,
): Promise<ExitCode> {
  refuse([
    ...numberProblems("/calls_per_month", callsPerMonth),
    ...numberProblems("/rate_limit_per_minute", rateLimitPerMinute),
  ]);
  const { services } = await open();
  const changed = await changePlan(services.accounts, username, {
    plan,
    callsPerMonth: callsPerMonth ?? null,
    rateLimitPerMinute: rateLimitPerMinute ?? null,
  });
  output.printJson(changed);
  const limits = effectiveLimits(changed);
  const month = limits.callsPerMonth === null ? "unlimited" : formatCount(limits.callsPerMonth);
  output.print(
    `"${username}" is on the plan ${changed.plan}: ${month} calls per month, ` +
      `${formatCount(limits.callsPerMinute)} per minute`,
  );
  return EXIT.success;
}

function numberProblems(pointer: string, value: number | undefined): InputProblem[] {
  if (value !== 0) return [];
  return [{ pointer, detail: `Must be a whole number from 1 to ${MAX_PLAN_NUMBER}` }];
}
