// Working copies of the project that can be measured: this one, and one of another commit.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** How to start the service of a working copy. */
export interface Checkout {
  readonly folder: string;
  readonly bun: string;
  readonly main: string;
}

/** This working copy, on the Bun that runs us. */
export const OURS: Checkout = {
  folder: ROOT,
  bun: process.execPath,
  main: join(ROOT, mainOf(ROOT)),
};

/** A commit in a folder of its own, set up with its own packages; the folder goes when the process ends. Throws for an unknown commit. */
export function checkOut(commit: string): Checkout {
  const scratch = mkdtempSync(join(tmpdir(), "repsync-bench-"));
  process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));
  const archive = join(scratch, "commit.tar");
  execFileSync("git", ["archive", "--output", archive, commit], { cwd: ROOT });
  const folder = join(scratch, "checkout");
  mkdirSync(folder);
  execFileSync("tar", ["-xf", archive, "-C", folder]);
  execFileSync("node", [".ci/setup.mjs"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  const bun = join(folder, "node_modules/.bin/bun");
  return { folder, bun, main: join(folder, mainOf(folder)) };
}

/** The program that `npm start` runs. */
function mainOf(folder: string): string {
  const { scripts } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return String(scripts.start.split(" ").at(-1));
}
