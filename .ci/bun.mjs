// node .ci/bun.mjs <file> [arguments]: set-up, then the pinned Bun in our place.
import { runChild } from "./run-child.mjs";
import { BUN, setUp } from "./setup.mjs";

await setUp();
endWithNpm();
const { code, error } = await runChild(BUN, ["--no-orphans", ...process.argv.slice(2)]);
if (error) console.error(`Bun cannot be started: ${error.message}`);
process.exit(code);

/** npm passes on SIGINT and SIGTERM only; without this, Bun would outlive an npm that ends otherwise. */
function endWithNpm() {
  if (!process.env.npm_lifecycle_event) return;
  const npm = process.ppid;
  const check = () => process.ppid === npm || process.kill(process.pid, "SIGTERM");
  setInterval(check, 500).unref();
}
