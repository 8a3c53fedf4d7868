import { countOf } from "../../../domain/shared/text.ts";
import {
  type AddCommand,
  type CommandTools,
  declareJob,
  readDeploymentConfig,
} from "../../command-runner.ts";
import { withProgress } from "../../progress.ts";

export const addMoveCommand: AddCommand = (parent, run) => {
  declareJob(parent, "move")
    .description(
      "Copies everything of the store of STORAGE_URL into an empty one, and compares each row. " +
        "Stop the services first. The old store stays as it is; set STORAGE_URL to the new one afterwards.",
    )
    .argument("<to-url>", "address of the new store, as STORAGE_URL has it")
    .action(run(move));
};

async function move({ output, interruption }: CommandTools, toUrl: string): Promise<void> {
  const config = await readDeploymentConfig();
  const { moveTo } = await import("../../../app/backups.ts");
  const stop = interruption.stopSignal();
  const { tables, rows, accounts } = await withProgress(output, "move", (progress) =>
    moveTo(config, toUrl, { stop, onProgress: (state) => progress.update(state) }),
  );
  output.show(
    { tableCount: tables, rows, accounts },
    `Moved ${countOf(rows, "row")} in ${countOf(tables, "table")} and ${countOf(accounts, "account")}, each compared`,
    "The old store is as it was. Set STORAGE_URL to the new one before you start a service",
  );
}
