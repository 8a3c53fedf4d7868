import { countOf } from "../../../domain/shared/text.ts";
import { findTable } from "../../../domain/sync/table/table.ts";
import { dropTombstones } from "../../../usecases/sync/deletes/prune-tombstones.ts";
import { type AddCommand, type CommandTools, declareCommand } from "../../command-runner.ts";

export const addDeletesCommand: AddCommand = (parent, run) => {
  const group = parent.command("deletes");
  declareCommand(group, "drop")
    .summary("take back deletes that were never sent")
    .description(
      "Forgets the deletes of a table that were never sent to the remote. The next run fetches those rows again.",
    )
    .argument("<table>", "table of the registry")
    .action(run(drop));
};

async function drop(
  { output, interruption, open }: CommandTools,
  tableName: string,
): Promise<void> {
  const { config, services } = await open();
  const table = findTable(config.registry, tableName);
  const dropped = await dropTombstones(services.sync, table, interruption.stopSignal());
  const rest = dropped === 0 ? "all of them were sent" : "the next pull fetches those rows again";
  const line = `${table.name}: ${countOf(dropped, "delete")} dropped; ${rest}`;
  output.show({ table: table.name, dropped }, line);
}
