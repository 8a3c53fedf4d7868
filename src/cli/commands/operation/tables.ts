import { withFileLock } from "../../../app/registry-file.ts";
import {
  problemText,
  readRegistryFile,
  requireRegistry,
  tablesOf,
  withEntry,
} from "../../../app/registry-text.ts";
import { writeText } from "../../../app/write-file.ts";
import { AppError, isAppError } from "../../../domain/shared/errors.ts";
import { countOf } from "../../../domain/shared/text.ts";
import { lacksOwner } from "../../../domain/sync/run/table-owner.ts";
import { stampedEntry } from "../../../domain/sync/table/registry-entries.ts";
import type { TableEntry } from "../../../domain/sync/table/registry-schema.ts";
import { findTable } from "../../../domain/sync/table/table.ts";
import { COLUMN_TYPE } from "../../../usecases/sync/files/file-form.ts";
import {
  type AddCommands,
  type CommandTools,
  declareCommand,
  EXIT,
  type ExitCode,
} from "../../command-runner.ts";
import {
  addFormOptions,
  formatOption,
  fromCallersFolder,
  reading,
  readTextFile,
} from "../../files/file-arguments.ts";
import type { InferOptions } from "./infer-tables.ts";

const readType = reading(COLUMN_TYPE);

export const addCommands: AddCommands = (parent, run) => {
  const group = parent.command("tables");
  const inferring = declareCommand(group, "infer")
    .description(
      "Reads a CSV, NDJSON, JSON or SQLite file and prints a registry file with a table for it. Types, key and " +
        "timestamp column are guessed; standard error says from what.",
    )
    .argument("<file>", "path of the file")
    .option("--table <name>", "name of the table, or the one table of a SQLite file")
    .option("--into <file>", "registry file to add the tables to, which keeps its comments")
    .option("--update", "with --into, add columns to a table that is there")
    .option("--key <columns>", "such as shop,sku")
    .option("--timestamp <column>", "or none")
    .option("--type <column=type>", "repeated", (text, earlier: InferOptions["type"] = []) => [
      ...earlier,
      readType(text),
    ])
    .addOption(formatOption());
  // The other commands do without the code that guesses.
  addFormOptions(inferring).action(
    run(async (tools, file: string, options: InferOptions) => {
      const { infer } = await import("./infer-tables.ts");
      return await infer(tools, file, options);
    }),
  );
  declareCommand(group, "stamp")
    .description(
      "Lets repsync keep the time of a table's changes, in its timestamp column or a new one, and its deletes travel where the " +
        "store can. Changes the registry file of SYNC_TABLES and the table.",
    )
    .argument("<table>", "table of the registry file")
    .action(run(stamp));
  declareCommand(group, "check")
    .description("Reads a registry file and reports all of its problems with line and column.")
    .argument("[file]", "registry file; without it that of SYNC_TABLES")
    .action(run(check));
};

async function check({ output }: CommandTools, asked: string | undefined): Promise<ExitCode> {
  const path = asked === undefined ? configuredFile() : fromCallersFolder(asked);
  const { registry, problems } = readRegistryFile(await readTextFile(path));
  if (registry === null) {
    const error = `"${path}" has ${countOf(problems.length, "problem")}`;
    output.tellError(`${error}:`, ...problems.map((problem) => `- ${problemText(problem)}`));
    const places = problems.map(({ line, column, message }) => ({ line, column, message }));
    output.printJson({ error, problems: places });
    return EXIT.usage;
  }
  const names = [...registry.keys()];
  const hasRemote = (process.env["SYNC_REMOTE_URL"] ?? "") !== "";
  const ownerless = hasRemote ? [...registry.values()].filter(lacksOwner) : [];
  const withoutOwner = ownerless.map(({ name }) => name);
  if (withoutOwner.length > 0) {
    output.warn(
      `Without a timestamp column and an owner: ${withoutOwner.join(", ")}; name the owner by "direction"`,
    );
  }
  const line = `${path}: no problems; ${countOf(names.length, "table")}: ${names.join(", ")}`;
  output.show({ file: path, tables: names, withoutOwner }, line);
  return EXIT.success;
}

/** Lets repsync keep the time of a table, in the registry file and in the table. D-14.2. */
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

/** Writes the entry, and prepares the table by it; where that fails, the file stays as it was. */
async function stampIn(tools: CommandTools, path: string, tableName: string): Promise<TableEntry> {
  const before = await readTextFile(path);
  const { name } = findTable(requireRegistry(path, before), tableName);
  const given = tablesOf(before)[name];
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
    // A store that cannot record deletes stamps the table without them.
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
  requireRegistry(path, text, "would have");
  await writeText(path, [text]);
  try {
    await open();
    return entry;
  } catch (error) {
    await writeText(path, [before]);
    throw error;
  }
}

/** Throws `invalid_request` where SYNC_TABLES names no file. */
function configuredFile(): string {
  const path = process.env["SYNC_TABLES"] ?? "";
  if (path !== "") return path;
  throw new AppError("invalid_request", "There is no registry file", {
    hint: "Name one, or set SYNC_TABLES",
  });
}
