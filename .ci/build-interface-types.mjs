// Builds dist/interface.d.ts: the types of the interface, for the console. Plain Node; Bun runs the generator.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { runChild } from "./run-child.mjs";

/**
 * Builds when docs/openapi.json or the generator has changed, or `force`. Only a forced build may fail. Where the document is not, as in
 * the build of the container image, nobody looks at types.
 */
export async function buildInterfaceTypes({ root, bun, force, say }) {
  const document = join(root, "docs", "openapi.json");
  if (!fs.existsSync(document)) return;
  const generator = join(root, ".ci", "interface-types.mjs");
  const target = join(root, "dist", "interface.d.ts");
  const heading = `// Made from docs/openapi.json by the set-up; inputs ${hashOf([document, generator])}`;
  if (!force && firstLineOf(target) === heading) return;
  const draft = `${target}.${process.pid}`;
  const stdio = ["ignore", "ignore", 2];
  const { code } = await runChild(bun, [generator, document, draft, heading], { cwd: root, stdio });
  if (code === 0) {
    fs.renameSync(draft, target);
    return force ? say("Built the types of the interface") : undefined;
  }
  fs.rmSync(draft, { force: true });
  say(`The types of the interface could not be built: exit code ${code}`);
  if (force) process.exit(1);
}

function hashOf(files) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(fs.readFileSync(file));
  return hash.digest("hex");
}

function firstLineOf(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, "utf8").split("\n", 1)[0] : undefined;
}
