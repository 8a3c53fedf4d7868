import { problemText, readRegistryFile } from "../../../app/registry-file.ts";
import { countOf } from "../../../domain/shared/text.ts";
import { lacksOwner } from "../../../domain/sync/run/table-owner.ts";
import { type AddCommand, type CommandTools, declareCommand } from "../../command-runner.ts";
import { EXIT, type ExitCode } from "../../failure.ts";
import { fromCallersFolder } from "../../files/file-arguments.ts";
import { readTextFile } from "../../files/read-text.ts";
import { addInferCommand } from "./infer-tables.ts";
import { addStampCommand, configuredFile } from "./stamp-table.ts";

export const addTablesCommand: AddCommand = (parent, run) => {
  const group = parent.command("tables");
  addInferCommand(group, run);
  addStampCommand(group, run);
  declareCommand(group, "check")
    .summary("report every problem of a registry file")
    .description(
      "Reads a registry file and reports all of its problems with line and column. Exit code 2 when there are any.",
    )
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
