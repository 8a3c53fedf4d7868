import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { loadEnvFile, readEnvFile } from "../../../app/environment.ts";
import { registryText } from "../../../app/registry-text.ts";
import { createFile, isTaken, makeFolder, OWNER_ONLY } from "../../../app/write-file.ts";
import { AppError } from "../../../domain/shared/errors.ts";
import type { RemotePeer } from "../../../ports/tables/remote-peer.ts";
import { readJoinedTables } from "../../../usecases/sync/pages/table-schemas.ts";
import {
  type AddCommands,
  type CommandTools,
  declareCommand,
  EXIT,
  type ExitCode,
} from "../../command-runner.ts";
import { fromCallersFolder, readTextFile } from "../../files/file-arguments.ts";
import { readSecret } from "../../prompts.ts";

const SETTINGS = ".env";
const TABLES = "tables.json";

interface InitOptions {
  readonly folder: string;
  readonly join?: string;
  readonly keyFile?: string;
}

export const addCommands: AddCommands = (parent, run) => {
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
        if (url !== undefined) return joinDeployment(tools, folder, url, keyFile);
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
  await write(TABLES, STARTER_TABLES);
  output.printJson({ folder, written, left });
  if (hasNewSettings) {
    output.print(
      `Sign in as admin with the ADMIN_PASSWORD of ${join(folder, SETTINGS)}; SYNC_API_KEY stands there, too`,
    );
  }
  if (!hasNewSettings && !(await namesTables(folder))) {
    output.print(`${SETTINGS} names no registry: set SYNC_TABLES=./${TABLES} to use ${TABLES}`);
  }
  const place = folder === process.cwd() ? "" : ` in ${folder}`;
  output.print(
    `Next${place}: repsync tables infer FILE --into ${TABLES}, for tables of your own, and repsync serve`,
  );
}

/** True when the present settings name a registry file. */
async function namesTables(folder: string): Promise<boolean> {
  const text = await readFile(join(folder, SETTINGS), "utf8").catch(() => "");
  return (readEnvFile(text).values["SYNC_TABLES"] ?? "") !== "";
}

/** Makes a deployment with the tables of another one, which exchanges rows with it. Reads everything before it writes. D-14.8. */
async function joinDeployment(
  tools: CommandTools,
  folder: string,
  url: string,
  keyFile: string | undefined,
): Promise<ExitCode> {
  const { output } = tools;
  const paths = { settings: join(folder, SETTINGS), tables: join(folder, TABLES) };
  for (const path of Object.values(paths)) if (await isTaken(path)) throw inTheWay(path);
  const key =
    keyFile === undefined
      ? await readSecret(`SYNC_API_KEY of ${url}`, "No key was given")
      : await readKeyFile(keyFile);
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
  loadEnvFile();
  const { examine } = await import("./doctor.ts");
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

// The files of a new deployment. D-10.2.

/** Of letters, digits, `-` and `_`, which neither `.env` nor HTTP changes. */
function freshSecret(bytes: number): string {
  return randomBytes(bytes).toString("base64url");
}

interface JoinedDeployment {
  readonly url: string;
  /** Its SYNC_API_KEY. */
  readonly key: string;
}

/** Settings with fresh secrets, different at each call. */
export function starterSettings(joined: JoinedDeployment | null = null): string {
  return `# Settings of this deployment. It holds secrets: keep it to yourself, and out of version control.
# Every setting is described in .env.example of the package.

# Address and port to listen on.
# HOST=127.0.0.1
${joined === null ? "# PORT=3000" : ownPlace(joined)}

# Where data lives, from the folder in which repsync is started. For PostgreSQL: postgres://user:password@host/database,
# for MongoDB: mongodb://host1,host2,host3/repsync?replicaSet=rs0
STORAGE_URL=sqlite:./data/repsync.db

# Your own tables.
SYNC_TABLES=./tables.json

# Synchronization, and the key that the other deployment sends.
SYNC_ENABLED=true
SYNC_API_KEY=${freshSecret(32)}

# The other deployment: its address, its SYNC_API_KEY, and when to run, here every five minutes.
${joined === null ? "# SYNC_REMOTE_URL=https://other.example" : `SYNC_REMOTE_URL=${joined.url}`}
${joined === null ? "# SYNC_REMOTE_KEY=" : `SYNC_REMOTE_KEY=${quoted(joined.key)}`}
# SYNC_SCHEDULE=*/5 * * * *

# The administrator, whose account the first start makes; the console changes the password.
ADMIN_USERNAME=admin
ADMIN_PASSWORD=${freshSecret(18)}

# What Prometheus sends to read /metrics.
METRICS_TOKEN=${freshSecret(32)}
`;
}

/** Beside a deployment on the same machine, its own port, and its own cookie, as cookies do not know ports. */
function ownPlace({ url }: JoinedDeployment): string {
  const { hostname, port } = new URL(url);
  const isBeside = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if (!isBeside) return "# PORT=3000";
  const own = Number(port) === 3000 ? 3001 : 3000;
  return `PORT=${own}\nSESSION_COOKIE=repsync_session_${own}`;
}

/** Bare, or in quotes that it does not contain; bare, too, where it contains all of them. */
function quoted(key: string): string {
  if (/^[\w.~+/=-]+$/.test(key)) return key;
  const quote = ["'", '"', "`"].find((sign) => !key.includes(sign)) ?? "";
  return `${quote}${key}${quote}`;
}

/** A registry without own tables that shows how to write one. */
const STARTER_TABLES = `// The tables that this deployment synchronizes, beside profiles and platform_accounts, which it always has.
// docs/sync.md explains every entry. From a file of yours: repsync tables infer FILE --into tables.json
{
  "tables": {
    // "listings": {
    //   "timestamp_column": "updated_at", // says when a row changed last: runs are incremental by it
    //   "upsert_key": ["shop", "sku"], // identifies a row
    //   "columns": {
    //     "shop": { "type": "text" }, // or integer, bigint, numeric, real, boolean, datetime, date, json
    //     "sku": { "type": "text" },
    //     "price": { "type": "numeric" },
    //     "updated_at": { "type": "datetime" }
    //   }
    // }
  }
}
`;
