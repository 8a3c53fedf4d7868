// node .ci/dev.mjs: serves, restarts the service on change, and builds the console anew on change.
import { setTimeout as sleep } from "node:timers/promises";
import { buildConsole, consoleInputs } from "./build-console.mjs";
import { runChild } from "./run-child.mjs";
import { BUN, ROOT, setUp } from "./setup.mjs";

/** Looking takes some milliseconds. Watching would miss files that an editor replaces, on Node 20. */
const LOOK_MS = 500;

await setUp();
void keepConsoleBuilt();
const { code } = await runChild(BUN, ["--no-orphans", "--watch", "src/app/main.ts"]);
process.exit(code);

/** The service notices a new build by itself. What cannot be built is said once. */
async function keepConsoleBuilt() {
  let built = look();
  while (true) {
    await sleep(LOOK_MS);
    const inputs = look();
    if (inputs === null || inputs === built) continue;
    built = inputs;
    await buildConsole({ root: ROOT, bun: BUN, force: false, say });
  }
}

/** Null while a file is being replaced. */
function look() {
  try {
    return consoleInputs(ROOT);
  } catch {
    return null;
  }
}

function say(text) {
  console.error(`[console] ${text}`);
}
