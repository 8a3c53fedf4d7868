// Lets repsync keep the time of a table: in the registry file, and in the table. D-14.2.
import type { Command } from "commander";
import { withFileLock } from "../../../app/disk/file-lock.ts";
import { writeText } from "../../../app/disk/write-text.ts";
import { requireRegistry, tablesOf, withEntry } from "../../../app/registry-file.ts";
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { stampedEntry } from "../../../domain/sync/table/registry-entries.ts";
import type { TableEntry } from "../../../domain/sync/table/registry-schema.ts";
import { findTable } from "../../../domain/sync/table/table.ts";
import { type CommandTools, declareCommand, type RunCommand } from "../../command-runner.ts";
import { readTextFile } from "../../files/read-text.ts";

const WOULD_HAVE = "would have";

export function addStampCommand(group: Command, run: RunCommand): void {
  declareCommand(group, "stamp")
    .summary("let repsync keep the time of a table")
    .description(
      "Lets repsync keep the time of a table's changes, in its timestamp column or a new one, and its deletes travel where the " +
        "store can: in the registry file of SYNC_TABLES, and in the table.",
    )
    .argument("<table>", "table of the registry file")
    .action(run(stamp));
}

async function stamp(tools: CommandTools, tableName: string): Promise<void> {
  const path = configuredFile();
  const entry = await withFileLock(path, () => stampIn(tools, path, tableName));
  const { timestamp_column: column, deletes = false } = entry;
  const others = deletes ? ", and its deletes travel" : "";
  tools.output.show(
    { table: tableName, file: path, timestampColumn: column, stamped: true, deletes },
    `${tableName}: repsync keeps "${column}"${others}. Do the same at the other end`,
  );
}

/** Writes the entry, and prepares the table by it. Where that cannot be, the file stays as it was. */
async function stampIn(tools: CommandTools, path: string, tableName: string): Promise<TableEntry> {
  const before = await readTextFile(path);
  const { name } = findTable(requireRegistry(path, before, WOULD_HAVE), tableName);
  const there = tablesOf(before);
  const given = Object.hasOwn(there, name) ? there[name] : undefined;
  if (given === undefined) {
    throw new AppError(
      "invalid_request",
      `Table "${name}" is built in: "${path}" does not name it`,
    );
  }
  const stamped = stampedEntry(name, given);
  try {
    return await prepareBy(tools, path, before, { name, entry: stamped });
  } catch (error) {
    // Not every store can tell of deletes.
    const isOptional = stamped.deletes === true && given.deletes !== true;
    if (!isOptional || !isAppError(error, "schema_conflict")) throw error;
    const { deletes: _, ...entry } = stamped;
    return await prepareBy(tools, path, before, { name, entry });
  }
}

async function prepareBy(
  { open }: CommandTools,
  path: string,
  before: string,
  { name, entry }: { readonly name: string; readonly entry: TableEntry },
): Promise<TableEntry> {
  const text = withEntry(before, name, entry);
  requireRegistry(path, text, WOULD_HAVE);
  await writeText(path, [text]);
  try {
    await open();
    return entry;
  } catch (error) {
    await writeText(path, [before]);
    throw error;
  }
}

/** The registry file of the environment. Throws `invalid_request` where there is none. */
export function configuredFile(): string {
  const path = process.env["SYNC_TABLES"] ?? "";
  if (path !== "") return path;
  throw new AppError("invalid_request", "There is no registry file", {
    hint: "Name one, or set SYNC_TABLES",
  });
}
