// The packed project, installed as strangers install it: an empty home, an empty folder, this machine's Node and npm.
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../../.ci/setup.mjs";
import type { Command } from "../../e2e/support/service-process.ts";

const run = promisify(execFile);

/** The same tarball, installed in each of the ways. */
export interface Installed {
  readonly folder: string;
  readonly tarball: string;
  /** The program of a global install. */
  readonly program: string;
  /** The package's own folder in it. */
  readonly packageFolder: string;
  /** `npx` on the tarball. */
  readonly npx: Command;
  /** What the programs get of this machine's environment: npm needs to reach its registry. */
  readonly env: Readonly<Record<string, string>>;
}

/** Packs and installs; `npx` installs at its first call. The folder is the caller's to remove. */
export async function installPacked(): Promise<Installed> {
  const folder = mkdtempSync(join(tmpdir(), "repsync-package-"));
  const env = environment(join(folder, "home"));
  const packed = ["pack", "--silent", "--pack-destination", folder];
  await run("npm", packed, { cwd: ROOT, env });
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
  const prefix = join(folder, "global");
  // A package that wants a later Node ends the install; install scripts are not needed.
  const flags = ["--engine-strict", "--ignore-scripts", "--prefix", prefix];
  await run("npm", ["install", "--global", ...flags, tarball], { cwd: folder, env });
  return {
    folder,
    tarball,
    program: join(prefix, "bin", "repsync"),
    packageFolder: join(prefix, "lib", "node_modules", "repsync"),
    // npx would run a file that it finds at a bare absolute path.
    npx: ["npx", "--yes", `file:${tarball}`],
    env,
  };
}

/** Nothing of the npm that may run these tests, and a home of its own. */
function environment(home: string): Record<string, string> {
  mkdirSync(home);
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^npm_|^HOME$|^XDG_|^BUN_|^CI$/i.test(name) || /^npm_config_(registry|cafile)$/i.test(name),
  );
  return { ...(Object.fromEntries(kept) as Record<string, string>), HOME: home };
}

/** Bytes of what an install brought, but for Bun; a file with several names counts once. */
export async function sizeWithoutBun({ packageFolder }: Installed): Promise<number> {
  const excluded = ["--exclude=@oven", "--exclude=node_modules/bun"];
  const { stdout } = await run("du", ["-s", "--block-size=1", ...excluded, packageFolder]);
  return Number(stdout.split("\t")[0]);
}

const RUNS = 'require("node:fs").writeFileSync("RAN", "");';
const HOSTILE: Readonly<Record<string, string>> = {
  "bunfig.toml": 'preload = ["./run.cjs"]\n',
  "run.cjs": RUNS,
  // Every import would be of that file.
  "tsconfig.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"*": ["./run.cjs"]}}}',
  "package.json":
    '{"name": "repsync", "exports": {"./client": "./run.cjs"}, "scripts": {"serve": "touch RAN"}}',
  ".env":
    'SYNC_ENABLED=true\nSYNC_API_KEY=a$(touch RAN)$HOME\nNODE_OPTIONS=--require=./run.cjs\nBUN_OPTIONS="--preload ./run.cjs"\n',
  "node_modules/bun/package.json": '{"name": "bun", "version": "1.4.5"}',
  "node_modules/commander/package.json": '{"name": "commander", "main": "../../run.cjs"}',
  "node_modules/elysia/package.json": '{"name": "elysia", "main": "../../run.cjs"}',
};

/** Fills a folder with files that would make the file `RAN`, or break a program that reads them. */
export function makeHostile(folder: string): void {
  for (const [name, content] of Object.entries(HOSTILE)) {
    mkdirSync(join(folder, name, ".."), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}
