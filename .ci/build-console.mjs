// Builds dist/console: the web console as the service sends it. Plain Node; Bun does the bundling.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { runChild } from "./run-child.mjs";

/**
 * Builds when a source of the console or a package has changed, or `force`. Only a forced build may fail. Names of files carry a hash of
 * their content, and `console.json` is put in place last: whoever reads it finds all that it names.
 */
export async function buildConsole({ root, bun, force, say }) {
  const inputs = consoleInputs(root);
  if (!force && readBuilt(root)?.inputs === inputs) return;
  const stdio = ["ignore", "ignore", 2];
  const step = [join(root, ".ci", "bundle-console.mjs"), inputs, ...(force ? ["--clean"] : [])];
  const { code } = await runChild(bun, step, { cwd: root, stdio });
  if (code === 0) return force ? say("Built the console") : undefined;
  say(`The console could not be built: exit code ${code}`);
  if (force) process.exit(1);
}

/** The names of files and pages that the last build wrote; undefined before the first. */
function readBuilt(root) {
  try {
    return JSON.parse(fs.readFileSync(join(root, "dist", "console", "console.json"), "utf8"));
  } catch {
    return undefined;
  }
}

/** The console, and what it shares with the service. */
const SOURCES = [join("src", "console"), join("src", "domain")];

/** A hash of all that the console is built from. */
export function consoleInputs(root) {
  const sources = SOURCES.flatMap((folder) => {
    const entries = fs.readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath ?? entry.path, entry.name));
  });
  const others = [".ci/build-console.mjs", ".ci/bundle-console.mjs", "package.json"];
  const hash = createHash("sha256");
  for (const file of [...sources, ...others.map((name) => join(root, name))].sort()) {
    hash
      .update(`${file.slice(root.length)}\0`)
      .update(fs.readFileSync(file))
      .update("\0");
  }
  return hash.digest("hex");
}
