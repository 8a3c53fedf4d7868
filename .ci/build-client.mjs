// Builds dist/client.js, the sync client for Node and browsers. Bun and Deno take the source itself.
import * as fs from "node:fs";
import { join } from "node:path";
import { runChild } from "./run-child.mjs";

const SOURCE = "src/adapters/fetch/sync-client.ts";

/** Builds when the result is older than the sources, or `force`. Only a forced build may fail. */
export async function buildClient({ root, bun, force, say }) {
  const source = join(root, SOURCE);
  const result = join(root, "dist", "client.js");
  if (!fs.existsSync(source)) {
    if (force) say(`No client to build: ${SOURCE} does not exist`);
    return;
  }
  if (!force && changedAt(result) >= newestIn(join(root, "src"))) return;
  const draft = join(root, "dist", `client-${process.pid}.js`);
  const flags = ["--target=browser", "--format=esm", `--outfile=${draft}`];
  const { code } = await runChild(bun, ["build", source, ...flags], {
    cwd: root,
    stdio: ["ignore", "ignore", 2],
  });
  if (code === 0) {
    fs.renameSync(draft, result);
    if (force) say("Built dist/client.js");
    return;
  }
  fs.rmSync(draft, { force: true });
  say(`dist/client.js could not be built from ${SOURCE}: exit code ${code}`);
  if (force) process.exit(1);
}

function changedAt(file) {
  return fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function newestIn(folder) {
  const names = fs.readdirSync(folder, { recursive: true });
  return names.reduce((newest, name) => Math.max(newest, changedAt(join(folder, name))), 0);
}
