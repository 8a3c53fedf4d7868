// Builds dist: the clients for Node and browsers, and their types. Bun and Deno take the source.
import * as fs from "node:fs";
import { join } from "node:path";
import { runChild } from "./run-child.mjs";

const CLIENTS = ["client", "lookups"];

/** Builds when the results are older than the sources, or `force`. Only a forced build may fail. */
export async function buildClient({ root, bun, force, say }) {
  const clients = CLIENTS.filter((name) => fs.existsSync(join(root, "src", `${name}.ts`)));
  if (clients.length === 0) return;
  const results = clients.map((name) => join(root, "dist", `${name}.js`));
  const sourceAt = newestIn(join(root, "src"));
  if (!force && results.every((result) => changedAt(result) >= sourceAt)) return;
  const run = async (step) => {
    const stdio = ["ignore", "ignore", 2];
    const { code } = await runChild(bun, step, { cwd: root, stdio });
    if (code !== 0)
      say(`dist could not be built: bun ${step.join(" ")} ended with exit code ${code}`);
    if (code !== 0 && force) process.exit(1);
    return code === 0;
  };
  const types = ["node_modules/typescript/bin/tsc", "--project", ".ci/tsconfig.client.json"];
  // The types of files that are gone.
  if (force) fs.rmSync(join(root, "dist", "types"), { recursive: true, force: true });
  if (!(await run(types))) return;
  for (const name of clients) {
    const draft = join(root, "dist", `${name}-${process.pid}.js`);
    const flags = ["--target=browser", "--format=esm", `--outfile=${draft}`];
    if (!(await run(["build", `src/${name}.ts`, ...flags]))) {
      fs.rmSync(draft, { force: true });
      return;
    }
    fs.renameSync(draft, join(root, "dist", `${name}.js`));
  }
  if (force) say("Built dist");
}

function changedAt(file) {
  return fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function newestIn(folder) {
  const names = fs.readdirSync(folder, { recursive: true });
  return names.reduce((newest, name) => Math.max(newest, changedAt(join(folder, name))), 0);
}
