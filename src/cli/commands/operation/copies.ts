// Commands that copy a whole store: into a file, out of one, into another store. D-10.7.
import { countOf } from "../../../domain/shared/text.ts";
import { dateTimeMs } from "../../../domain/shared/time.ts";
import type { CopyJob } from "../../../ports/copies/store-copies.ts";
import { backUp } from "../../../usecases/operations/backups.ts";
import {
  type AddCommands,
  type CommandTools,
  declareJob,
  readDeploymentConfig,
} from "../../command-runner.ts";
import { fromCallersFolder } from "../../files/file-arguments.ts";
import { ageText } from "../../output.ts";
import { withProgress } from "../../progress.ts";
import { readSecret } from "../../prompts.ts";

export const addCommands: AddCommands = (parent, run) => {
  declareJob(parent, "backup")
    .description(
      "Writes the whole store, as it is at one moment, into a file that only its owner may read, with the secrets that " +
        "the store keeps. The service may run meanwhile. repsync restore brings it back.",
    )
    .argument("<file>", "path of a file that is not there yet")
    .option("--force", "replace the file if it is there")
    .action(run(writeBackup));
  declareJob(parent, "restore")
    .description(
      "Fills the store of STORAGE_URL, which has to be empty and which no service may hold, from a file of repsync backup, " +
        "and compares each row with it. All sessions are ended. A restore that is refused leaves the store as it was.",
    )
    .argument("<file>", "file of repsync backup")
    .action(run(restore));
  declareJob(parent, "move")
    .description(
      "Copies everything of the store of STORAGE_URL into an empty one, and compares each row. " +
        "Without an address it is asked for, or the first line of standard input. " +
        "Stop the services first. The old store stays as it is; set STORAGE_URL to the new one afterwards.",
    )
    .argument("[to-url]", "address of the new store, as STORAGE_URL has it")
    .action(run(move));
};

async function writeBackup(
  tools: CommandTools,
  file: string,
  { force: isForced = false }: { readonly force?: boolean },
): Promise<void> {
  const { output, open } = tools;
  const path = fromCallersFolder(file);
  const { backUpDeps } = await import("../../../app/backups.ts");
  const { requireStore } = await import("../../../app/stores.ts");
  await requireStore((await readDeploymentConfig()).storageUrl, "backed up");
  const { config, services } = await open();
  const deps = backUpDeps(config, services);
  const written = await copy(tools, "backup", (job) => backUp(deps, { path, isForced, ...job }));
  const { bytes, madeAt, tables, rows, accounts } = written;
  const { outsideSecrets } = deps;
  output.show(
    { path, madeAt, bytes, tableCount: tables, rows, accounts, outsideSecrets },
    `${path}: ${countOf(rows, "row")} in ${countOf(tables, "table")}, ${countOf(accounts, "account")}, ${countOf(bytes, "byte")}`,
  );
  if (outsideSecrets.length > 0) {
    const names = outsideSecrets.join(", ");
    output.print(`Not in it, as the environment sets them: ${names}. Keep them elsewhere`);
  }
}

async function restore(tools: CommandTools, file: string): Promise<void> {
  const { output } = tools;
  const path = fromCallersFolder(file);
  const config = await readDeploymentConfig();
  const { restoreBackup } = await import("../../../app/backups.ts");
  const restored = await copy(tools, "restore", (job) => restoreBackup(config, { path, ...job }));
  const { facts, tables, rows, accounts, sessions } = restored;
  const { madeAt, version, outsideSecrets } = facts;
  const ageSeconds = Math.floor(Math.max(0, Date.now() - dateTimeMs(madeAt)) / 1000);
  const counts = { tableCount: tables, rows, accounts, endedSessions: sessions };
  output.show(
    { path, madeAt, ageSeconds, version, ...counts, outsideSecrets },
    `Restored ${countOf(rows, "row")} in ${countOf(tables, "table")} and ${countOf(accounts, "account")}, each compared with the backup`,
    `The backup was made at ${madeAt}, ${ageText(ageSeconds)} ago, by repsync ${version}`,
    `All sessions have ended (${sessions}); everybody has to sign in again`,
  );
  if (outsideSecrets.length > 0) {
    const names = outsideSecrets.join(", ");
    output.print(`The environment of the deployment had set, and this one has to: ${names}`);
  }
}

async function move(tools: CommandTools, given: string | undefined): Promise<void> {
  const config = await readDeploymentConfig();
  const toUrl = given ?? (await readSecret("Address of the new store", "No address was given"));
  const { moveTo } = await import("../../../app/backups.ts");
  const { tables, rows, accounts } = await copy(tools, "move", (job) => moveTo(config, toUrl, job));
  tools.output.show(
    { tableCount: tables, rows, accounts },
    `Moved ${countOf(rows, "row")} in ${countOf(tables, "table")} and ${countOf(accounts, "account")}, each compared`,
    "The old store is as it was. Set STORAGE_URL to the new one before you start a service",
  );
}

/** Copies with a bar, until Ctrl-C. */
function copy<T>(
  { output, interruption }: CommandTools,
  label: string,
  work: (job: CopyJob) => Promise<T>,
): Promise<T> {
  const stop = interruption.stopSignal();
  return withProgress(output, label, (progress) =>
    work({ stop, onProgress: (state) => progress.update(state) }),
  );
}
