import { countOf } from "../../../domain/shared/text.ts";
import { backUp } from "../../../usecases/operations/back-up.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareJob,
  readDeploymentConfig,
} from "../../command-runner.ts";
import { fromCallersFolder } from "../../files/file-arguments.ts";
import { withProgress } from "../../progress.ts";

interface BackupOptions extends CommonOptions {
  readonly force?: boolean;
}

export const addBackupCommand: AddCommand = (parent, run) => {
  declareJob(parent, "backup")
    .description(
      "Writes the whole store, as it is at one moment, into a file that only its owner may read: tables, accounts, keys, " +
        "consents, the audit log, and the secrets that the store keeps. The service may run meanwhile. " +
        "repsync restore brings it back.",
    )
    .argument("<file>", "path of a file that is not there yet")
    .option("--force", "replace the file if it is there")
    .action(run(writeBackup));
};

async function writeBackup(
  { output, interruption, open }: CommandTools,
  file: string,
  { force: isForced = false }: BackupOptions,
): Promise<void> {
  const path = fromCallersFolder(file);
  const { backUpDeps } = await import("../../../app/backups.ts");
  const { requireStore } = await import("../../../app/stores.ts");
  await requireStore((await readDeploymentConfig()).storageUrl, "backed up");
  const { config, services } = await open();
  const deps = backUpDeps(config, services);
  const stop = interruption.stopSignal();
  const written = await withProgress(output, "backup", (progress) =>
    backUp(deps, { path, isForced, stop, onProgress: (state) => progress.update(state) }),
  );
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
