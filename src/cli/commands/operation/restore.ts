import { countOf } from "../../../domain/shared/text.ts";
import { dateTimeMs } from "../../../domain/shared/time.ts";
import {
  type AddCommand,
  type CommandTools,
  declareJob,
  readDeploymentConfig,
} from "../../command-runner.ts";
import { fromCallersFolder } from "../../files/file-arguments.ts";
import { ageText } from "../../output.ts";
import { withProgress } from "../../progress.ts";

export const addRestoreCommand: AddCommand = (parent, run) => {
  declareJob(parent, "restore")
    .description(
      "Fills the store of STORAGE_URL, which has to be empty and which no service may hold, from a file of repsync backup, " +
        "and compares each row with it. All sessions are ended. A restore that is refused leaves the store as it was.",
    )
    .argument("<file>", "file of repsync backup")
    .action(run(restore));
};

async function restore({ output, interruption }: CommandTools, file: string): Promise<void> {
  const path = fromCallersFolder(file);
  const config = await readDeploymentConfig();
  const { restoreBackup } = await import("../../../app/backups.ts");
  const stop = interruption.stopSignal();
  const restored = await withProgress(output, "restore", (progress) =>
    restoreBackup(config, { path, stop, onProgress: (state) => progress.update(state) }),
  );
  const { facts, tables, rows, accounts, sessions } = restored;
  const ageMs = Math.max(0, Date.now() - dateTimeMs(facts.madeAt));
  const { madeAt, version, outsideSecrets } = facts;
  const ageSeconds = Math.floor(ageMs / 1000);
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
