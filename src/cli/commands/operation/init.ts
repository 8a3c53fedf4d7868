import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createFile, makeFolder } from "../../../app/disk/create-file.ts";
import { readEnvFile } from "../../../app/environment.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import {
  type AddCommand,
  type CommandTools,
  type CommonOptions,
  declareCommand,
} from "../../command-runner.ts";
import { fromCallersFolder } from "../../files/file-arguments.ts";
import {
  OWNER_ONLY,
  SETTINGS,
  STARTER_TABLES,
  starterSettings,
  TABLES,
} from "../../files/starter-files.ts";
import { joinDeployment } from "./join-deployment.ts";

interface InitOptions extends CommonOptions {
  readonly folder: string;
  readonly join?: string;
  readonly keyFile?: string;
}

export const addInitCommand: AddCommand = (parent, run) => {
  declareCommand(parent, "init")
    .description(
      "Writes .env, with fresh keys and the password of an administrator, and a tables.json with comments. " +
        "A file that is there stays as it is. With --join both are for a deployment that is there, and doctor looks at them.",
    )
    .option("--folder <path>", "where to write, made when missing", ".")
    .option("--join <url>", "have the tables of this deployment, and exchange their rows with it")
    .option("--key-file <path>", "with --join, file of its SYNC_API_KEY, which is asked for else")
    .action(
      run((tools, { folder: asked, join: url, keyFile }: InitOptions) => {
        const folder = resolve(fromCallersFolder(asked));
        if (url !== undefined) return joinDeployment(tools, folder, { url, keyFile });
        if (keyFile === undefined) return init(tools, folder);
        throw new AppError("invalid_request", "--key-file is for --join");
      }),
    );
};

async function init({ output }: CommandTools, folder: string): Promise<void> {
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
}

/** True when the settings that were there name a registry file. */
async function namesTables(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, SETTINGS), "utf8").catch(() => "");
  return (readEnvFile(text).values["SYNC_TABLES"] ?? "") !== "";
}
