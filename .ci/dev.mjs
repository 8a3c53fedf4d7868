// node .ci/dev.mjs: serves, restarts the service on change, and builds the console anew on change.
import * as fs from "node:fs";
import { join } from "node:path";
import { buildConsole } from "./build-console.mjs";
import { runChild } from "./run-child.mjs";
import { BUN, ROOT, setUp } from "./setup.mjs";

/** Editors write a file in several steps. */
const QUIET_MS = 100;

await setUp();
let building = Promise.resolve();
let timer;
fs.watch(join(ROOT, "src", "console"), { recursive: true }, () => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    // One after another; the service notices a new build by itself.
    building = building.then(() => buildConsole({ root: ROOT, bun: BUN, force: false, say }));
  }, QUIET_MS);
});
const { code } = await runChild(BUN, ["--no-orphans", "--watch", "src/main.ts"]);
process.exit(code);

function say(text) {
  console.error(`[console] ${text}`);
}
