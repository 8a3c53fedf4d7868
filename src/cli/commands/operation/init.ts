import { mkdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createFile } from "../../../app/disk/create-file.ts";
import { codeOf, systemReason } from "../../../app/disk/system-reason.ts";
import { readEnvFile } from "../../../app/env-file.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareCommand,
} from "../../command-runner.ts";
import { EXIT, type ExitCode } from "../../failure.ts";
import { fromCallersFolder } from "../../files/file-arguments.ts";
import { STARTER_TABLES, starterSettings } from "../../files/starter-files.ts";

interface InitOptions extends CommonOptions {
  readonly folder: string;
}

const SETTINGS = ".env";
const TABLES = "tables.json";
/** The settings hold secrets. */
const OWNER_ONLY = 0o600;

export const addInitCommand: AddCommand = (parent, run) => {
  declareCommand(parent, "init")
    .description(
      "Writes .env, with fresh keys and the password of an administrator, and a tables.json with comments. " +
        "A file that is there stays as it is.",
    )
    .option("--folder <path>", "where to write, made when missing", ".")
    .action((options: InitOptions) => run(options, (tools) => init(tools, options.folder)));
};

async function init({ output }: CommandTools, asked: string): Promise<ExitCode> {
  const folder = resolve(fromCallersFolder(asked));
  await makeFolder(folder);
  const written: string[] = [];
  const left: string[] = [];
  const write = async (name: string, text: string, mode?: number) => {
    const path = join(folder, name);
    const isNew = await createFile(path, mode === undefined ? { text } : { text, mode });
    (isNew ? written : left).push(path);
    output.print(isNew ? `Wrote ${path}` : `Left as it is, because it was there: ${path}`);
    return isNew;
  };
  const hasNewSettings = await write(SETTINGS, starterSettings(), OWNER_ONLY);
  const hasNewTables = await write(TABLES, STARTER_TABLES);
  output.printJson({ folder, written, left });
  if (hasNewSettings) {
    output.print(
      `Sign in as admin with the ADMIN_PASSWORD of ${join(folder, SETTINGS)}; SYNC_API_KEY stands there, too`,
    );
  }
  if (hasNewTables && !hasNewSettings && !(await namesTables(folder))) {
    output.print(`${SETTINGS} names no registry: set SYNC_TABLES=./${TABLES} to use ${TABLES}`);
  }
  const place = folder === process.cwd() ? "" : ` in ${folder}`;
  output.print(
    `Next${place}: repsync tables infer FILE --into ${TABLES}, for tables of your own, and repsync serve`,
  );
  return EXIT.success;
}

/** Whether the settings that were there name a registry file. */
async function namesTables(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, SETTINGS), "utf8").catch(() => "");
  return (readEnvFile(text).values["SYNC_TABLES"] ?? "") !== "";
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    const code = codeOf(error);
    throw code === "EEXIST" || code === "ENOTDIR"
      ? new AppError("invalid_request", `"${folder}" cannot be a folder: a file is in its place`)
      : new AppError("file_failed", `"${folder}" cannot be made: ${systemReason(error)}`);
  }
}
