// A new deployment that has the tables of another one, and exchanges their rows with it. D-14.8.
import { join } from "node:path";
import { createFile, isTaken, makeFolder } from "../../../app/disk/create-file.ts";
import { registryText } from "../../../app/registry-file.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import type { RemotePeer } from "../../../ports/tables/remote-peer.ts";
import { readJoinedTables } from "../../../usecases/sync/pages/list-tables.ts";
import type { CommandTools } from "../../command-runner.ts";
import { EXIT, type ExitCode } from "../../failure.ts";
import { fromCallersFolder } from "../../files/file-arguments.ts";
import { readTextFile } from "../../files/read-text.ts";
import { OWNER_ONLY, SETTINGS, starterSettings, TABLES } from "../../files/starter-files.ts";
import { readSyncKey } from "../../prompts.ts";
import { examine } from "./doctor.ts";

interface JoinOptions {
  readonly url: string;
  readonly keyFile: string | undefined;
}

/** Reads all that it needs before it writes. */
export async function joinDeployment(
  tools: CommandTools,
  folder: string,
  { url, keyFile }: JoinOptions,
): Promise<ExitCode> {
  const { output } = tools;
  const paths = { settings: join(folder, SETTINGS), tables: join(folder, TABLES) };
  for (const path of Object.values(paths)) if (await isTaken(path)) throw inTheWay(path);
  const key = keyFile === undefined ? await readSyncKey(url) : await readKeyFile(keyFile);
  const { entries, unknown } = await readJoinedTables(await connect(url, key));
  await makeFolder(folder);
  const files = [
    [paths.tables, { text: registryText(entries) }],
    [paths.settings, { text: starterSettings({ url, key }), mode: OWNER_ONLY }],
  ] as const;
  for (const [path, file] of files) {
    if (!(await createFile(path, file))) throw inTheWay(path);
    output.print(`Wrote ${path}`);
  }
  const names = Object.keys(entries);
  output.print(
    `Tables as there: ${names.join(", ") || "none of its own"}`,
    `Not told, so look at ${TABLES}: ${unknown.join("; ")}`,
    `Sign in as admin with the ADMIN_PASSWORD of ${paths.settings}`,
  );
  process.chdir(folder);
  const { loadEnvFile } = await import("../../../app/environment.ts");
  loadEnvFile();
  const { code, findings } = await examine(tools);
  const written = files.map(([path]) => path);
  const ok = code === EXIT.success;
  output.printJson({ folder, written, remote: url, tables: names, unknown, ok, findings });
  output.print("Next: repsync sync both, SYNC_SCHEDULE for a schedule, and repsync serve");
  return code;
}

function inTheWay(path: string): AppError {
  const hint = "Join from a folder without it, such as --folder branch";
  return new AppError("invalid_request", `"${path}" is there already`, { hint });
}

async function readKeyFile(path: string): Promise<string> {
  const [key = ""] = (await readTextFile(fromCallersFolder(path))).trim().split(/\r?\n/);
  if (key !== "") return key;
  throw new AppError("invalid_request", `"${path}" holds no key`);
}

async function connect(baseUrl: string, key: string): Promise<RemotePeer> {
  const { createSyncClient } = await import("../../../client.ts");
  try {
    return createSyncClient({ baseUrl, key });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const text = error.message.replace("baseUrl", "--join").replace(/^key/, "The key");
    throw new AppError("invalid_request", text);
  }
}
