// Builds dist: the sync client for Node and browsers, and its types. Bun and Deno take the source.
import * as fs from "node:fs";
import { join } from "node:path";
import { runChild } from "./run-child.mjs";

const SOURCE = "src/client.ts";

/** Builds when the result is older than the sources, or `force`. Only a forced build may fail. */
export async function buildClient({ root, bun, force, say }) {
  if (!fs.existsSync(join(root, SOURCE))) {
    if (force) say(`No client to build: ${SOURCE} does not exist`);
    return;
  }
  const result = join(root, "dist", "client.js");
  if (!force && changedAt(result) >= newestIn(join(root, "src"))) return;
  const draft = join(root, "dist", `client-${process.pid}.js`);
  const steps = [
    ["node_modules/typescript/bin/tsc", "--project", ".ci/tsconfig.client.json"],
    ["build", SOURCE, "--target=browser", "--format=esm", `--outfile=${draft}`],
  ];
  for (const step of steps) {
    const stdio = ["ignore", "ignore", 2];
    const { code } = await runChild(bun, step, { cwd: root, stdio });
    if (code === 0) continue;
    fs.rmSync(draft, { force: true });
    say(`dist could not be built: bun ${step.join(" ")} ended with exit code ${code}`);
    if (force) process.exit(1);
    return;
  }
  fs.renameSync(draft, result);
  if (force) say("Built dist");
}

function changedAt(file) {
  return fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function newestIn(folder) {
  const names = fs.readdirSync(folder, { recursive: true });
  return names.reduce((newest, name) => Math.max(newest, changedAt(join(folder, name))), 0);
}
