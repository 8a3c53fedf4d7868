// Runs before the first test file of every `bun test`, whoever started it.
import { afterAll, afterEach, beforeAll, beforeEach, setDefaultTimeout } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { BUN, ROOT, setUp } from "../../.ci/setup.mjs";
import { beginTest, endTest, releaseResources } from "./resources.ts";
import { memoryRoot } from "./temporary-folders.ts";
import { takeLastSteps } from "./test-run.ts";

const wasInstalled = await setUp();
// This process has looked for packages already, and would not find those installed since.
if (wasInstalled) process.exit(spawnSync(BUN, ownArguments(), { stdio: "inherit" }).status ?? 1);

process.env["TMPDIR"] ??= memoryRoot();
// A test may be the first to need MongoDB, and the machine may be busy.
setDefaultTimeout(60_000);
beforeEach(beginTest);
afterEach(endTest);
afterAll(async () => {
  await releaseResources();
  await takeLastSteps();
});

// Tells .ci/run-tests.mjs which file this process is at; in a worker both run for each file.
const filesUnderWay = process.env["TEST_FILES_UNDER_WAY"];
if (filesUnderWay !== undefined && process.env["BUN_TEST_WORKER_ID"] !== undefined) {
  const own = join(filesUnderWay, String(process.pid));
  beforeAll(() => writeFileSync(own, relative(ROOT, Bun.main)));
  afterAll(() => rmSync(own, { force: true }));
}

/** `process.argv` lacks the flags of `bun test`. */
function ownArguments(): string[] {
  const file = "/proc/self/cmdline";
  if (!existsSync(file)) return ["test"];
  return readFileSync(file, "utf8").split("\0").slice(1, -1);
}
