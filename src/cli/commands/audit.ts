import type { AuditProblem } from "../../domain/reputation/audit/audit-check.ts";
import { pruneAudit } from "../../usecases/reputation/audit/prune-audit.ts";
import { verifyAudit } from "../../usecases/reputation/audit/verify-audit.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareCommand,
} from "../command-runner.ts";
import { EXIT, type ExitCode } from "../failure.ts";
import { countOf, type Output } from "../output.ts";
import { openProgress } from "../progress.ts";

export const addAuditCommand: AddCommand = (parent, run) => {
  const group = parent.command("audit").description("verify or prune the audit log of lookups");
  declareCommand(group, "verify")
    .description(
      "Verifies every record of the audit log, also while the service writes it. Exit code 1, and the first record " +
        "named, when one was changed, removed or moved.",
    )
    .action((options: CommonOptions) => run(options, verify));
  declareCommand(group, "prune")
    .description(
      "Removes records older than AUDIT_RETENTION_DAYS; the rest can still be verified. A log that does not verify is " +
        "left as it is.",
    )
    .action((options: CommonOptions) => run(options, prune));
};

async function verify({ output, open }: CommandTools): Promise<ExitCode> {
  const { services } = await open();
  const board = openProgress(output);
  const progress = board.start("verify");
  const verdict = await verifyAudit(services.audit, ({ records }) =>
    progress.update({ rows: records, part: null }),
  );
  board.finish();
  const { problem, chains, records } = verdict;
  output.printJson({
    status: problem === null ? "whole" : "broken",
    chains,
    records,
    problem: item(problem),
  });
  if (problem === null) {
    output.print(
      `The audit log is whole: ${countOf(records, "record")} in ${countOf(chains, "chain")}`,
    );
    return EXIT.success;
  }
  tellProblem(output, problem);
  return EXIT.failed;
}

async function prune({ output, open }: CommandTools): Promise<ExitCode> {
  const { config, services } = await open();
  const keepDays = config.auditRetentionDays;
  const { problem, removed } = await pruneAudit(services.audit, keepDays);
  output.printJson({ removed, keepDays, problem: item(problem) });
  if (problem !== null) {
    tellProblem(output, problem);
    return EXIT.failed;
  }
  output.print(`${countOf(removed, "record")} older than ${countOf(keepDays, "day")} removed`);
  return EXIT.success;
}

function tellProblem(output: Output, { message }: AuditProblem): void {
  output.warn(`The audit log does not verify: ${message}`);
}

function item(problem: AuditProblem | null) {
  if (problem === null) return null;
  const { kind, chainId, seq, message } = problem;
  return { kind, chainId, seq, message };
}
