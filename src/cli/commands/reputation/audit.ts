import { STANDARD_STREAM, writeText } from "../../../app/write-file.ts";
import type { AuditProblem } from "../../../domain/reputation/audit/audit-check.ts";
import { formatKeptHeads, readKeptHeads } from "../../../domain/reputation/audit/kept-heads.ts";
import { countOf } from "../../../domain/shared/text.ts";
import { pruneAudit, verifyAudit } from "../../../usecases/reputation/audit/verify-audit.ts";
import {
  type AddCommands,
  type CommandTools,
  declareCommand,
  declareJob,
  EXIT,
  type ExitCode,
} from "../../command-runner.ts";
import { fromCallersFolder, readTextFile } from "../../files/file-arguments.ts";
import type { Output } from "../../output.ts";
import { withProgress } from "../../progress.ts";

export const addCommands: AddCommands = (parent, run) => {
  const group = parent.command("audit");
  declareJob(group, "verify")
    .description(
      "Verifies every record of the audit log, also while the service writes it, and names the first that was " +
        "changed, removed or moved.",
    )
    .option("--heads <file>", "heads kept elsewhere, which the log has to go on from")
    .action(run(verify));
  declareCommand(group, "heads")
    .description(
      "Writes the signed ends of the chains of the audit log, which name no person. Kept on another machine, they show " +
        "later whether the log was cut or removed.",
    )
    .option("--out <file>", "path; standard output when not given")
    .action(run(writeHeads));
  declareJob(group, "prune")
    .description(
      "Removes records older than AUDIT_RETENTION_DAYS; the rest can still be verified. A log that does not verify is " +
        "left as it is.",
    )
    .action(run(prune));
};

async function writeHeads(
  { output, openToRead }: CommandTools,
  { out = STANDARD_STREAM }: { readonly out?: string },
): Promise<void> {
  const { services } = await openToRead();
  const heads = await services.audit.audit.heads();
  const text = formatKeptHeads(heads, services.accounts.clock.nowMs());
  await writeText(fromCallersFolder(out), [text]);
  if (out === STANDARD_STREAM) return;
  const written = `${countOf(heads.length, "head")} written: keep the file on another machine`;
  output.show({ heads: heads.length }, written);
}

async function verify(
  { output, openToRead }: CommandTools,
  { heads: headsPath }: { readonly heads?: string },
): Promise<ExitCode> {
  const keptHeads =
    headsPath === undefined ? [] : readKeptHeads(await readTextFile(fromCallersFolder(headsPath)));
  const { services } = await openToRead();
  const { problem, chains, records } = await withProgress(output, "verify", (progress) =>
    verifyAudit(services.audit, {
      onProgress: ({ records }) => progress.update({ rows: records, part: null }),
      keptHeads,
    }),
  );
  const status = problem === null ? "whole" : "broken";
  const whole = `The audit log is whole: ${countOf(records, "record")} in ${countOf(chains, "chain")}`;
  return conclude(output, problem, { status, chains, records }, whole);
}

async function prune({ output, openStore }: CommandTools): Promise<ExitCode> {
  const { config, services } = await openStore();
  const keepDays = config.auditRetentionDays;
  const { problem, removed } = await pruneAudit(services.audit, keepDays);
  const done = `${countOf(removed, "record")} older than ${countOf(keepDays, "day")} removed`;
  return conclude(output, problem, { removed, keepDays }, done);
}

/** Tells the problem of the log, or `line` without one. */
function conclude(
  output: Output,
  problem: AuditProblem | null,
  document: object,
  line: string,
): ExitCode {
  output.show({ ...document, problem }, ...(problem === null ? [line] : []));
  if (problem === null) return EXIT.success;
  output.tellError(`The audit log does not verify: ${problem.message}`);
  return EXIT.failed;
}
