import { Option } from "commander";
import { backUp } from "../../../usecases/operations/back-up.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareJob,
  readDeploymentConfig,
} from "../../command-runner.ts";
import { EXIT, type ExitCode } from "../../failure.ts";
import { countOf } from "../../output.ts";
import { openProgress } from "../../progress.ts";

interface BackupOptions extends CommonOptions {
  readonly force?: true;
}

export const addBackupCommand: AddCommand = (parent, run) => {
  declareJob(parent, "backup")
    .description(
      "Writes the whole store, as it is at one moment, into a file that only its owner may read: tables, accounts, keys, " +
        "consents, the audit log, and the secrets that the store keeps. The service may run meanwhile. " +
        "repsync restore brings it back.",
    )
    .argument("<file>", "path of a file that is not there yet")
    .addOption(new Option("--force", "replace the file if it is there"))
    .action((path: string, { force, ...options }: BackupOptions) =>
      run(options, (tools) => writeBackup(tools, path, force === true)),
    );
};

async function writeBackup(
  { output, interruption, open }: CommandTools,
  path: string,
  isForced: boolean,
): Promise<ExitCode> {
  const { backUpDeps } = await import("../../../app/backups.ts");
  const { requireStore, storeAt } = await import("../../../app/stores.ts");
  await requireStore(storeAt((await readDeploymentConfig()).storageUrl), "backed up");
  const { config, services } = await open();
  const deps = backUpDeps(config, services);
  const stop = interruption.stopSignal();
  const board = openProgress(output);
  const progress = board.start("backup");
  const onProgress = progress.update.bind(progress);
  const { bytes, madeAt, tables, rows, accounts } = await backUp(deps, {
    ...{ path, isForced, stop, onProgress },
  }).finally(() => board.finish());
  const { outsideSecrets } = deps;
  output.printJson({ path, madeAt, bytes, tableCount: tables, rows, accounts, outsideSecrets });
  output.print(
    `${path}: ${countOf(rows, "row")} in ${countOf(tables, "table")}, ${countOf(accounts, "account")}, ${countOf(bytes, "byte")}`,
  );
  if (outsideSecrets.length > 0) {
    const names = outsideSecrets.join(", ");
    output.print(`Not in it, as the environment sets them: ${names}. Keep them elsewhere`);
  }
  return EXIT.success;
}
