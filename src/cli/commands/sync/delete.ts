import { AppError } from "../../../domain/shared/errors.ts";
import { countOf } from "../../../domain/shared/text.ts";
import { readCsvField } from "../../../domain/sync/rows/csv-fields.ts";
import { convertKey } from "../../../domain/sync/rows/row-key.ts";
import { requireOwned } from "../../../domain/sync/run/table-owner.ts";
import { findTable, type Row, type Table } from "../../../domain/sync/table/table.ts";
import { deleteRow, dropTombstones } from "../../../usecases/sync/pages/delete-rows.ts";
import { type AddCommands, type CommandTools, declareCommand } from "../../command-runner.ts";

export const addCommands: AddCommands = (parent, run) => {
  declareCommand(parent, "delete")
    .description(
      "Deletes a row of a table here. The next run deletes it at the remote as well. " +
        'Needs "deletes": true for the table.',
    )
    .argument("<table>", "table of the registry")
    .argument("<key...>", "the row's upsert key: a value for each column, in the registry's order")
    .option("--force", "at an end that does not own the table, too")
    .action(run(deleteByKey));
  const group = parent.command("deletes");
  declareCommand(group, "drop")
    .description(
      "Forgets the deletes of a table that were never sent to the remote. The next run fetches those rows again.",
    )
    .argument("<table>", "table of the registry")
    .action(run(drop));
};

async function deleteByKey(
  { output, open }: CommandTools,
  tableName: string,
  values: readonly string[],
  { force }: { readonly force?: true },
): Promise<void> {
  const { config, services } = await open();
  const table = findTable(config.registry, tableName);
  const key = readKey(table, values);
  if (force !== true) requireOwned(table, "invalid_request", FORCED);
  await deleteRow(services.sync, table, key);
  const document = { table: table.name, key, status: "deleted" };
  output.show(document, `Deleted ${JSON.stringify(key)} of ${table.name}`);
}

const FORCED = "Delete it there, or here with --force: runs do not send it";

/** Reads the values as an import of CSV does. Throws `invalid_request`. */
function readKey(table: Table, values: readonly string[]): Row {
  const { keyColumns } = table;
  const names = keyColumns.map(({ name }) => name).join(", ");
  if (values.length !== keyColumns.length) {
    const text = `The key of "${table.name}" is (${names}): ${countOf(keyColumns.length, "value")}, not ${values.length}`;
    throw new AppError("invalid_request", text);
  }
  const given = keyColumns.map((column, i) => [
    column.name,
    readCsvField(column, values[i] ?? "", table.files) ?? null,
  ]);
  const key = convertKey(table, Object.fromEntries(given));
  if (key !== null) return key;
  const types = keyColumns.map(({ name, type }) => `${name} (${type})`).join(", ");
  throw new AppError("invalid_request", `No row of "${table.name}" can have this key: ${types}`);
}

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
