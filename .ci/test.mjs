// node .ci/test.mjs [--slow | --every] [arguments of bun test]: set-up, mongod, tests over all cores; the last line has the counts.
// Without arguments it runs all tests but the slow ones, with --slow those alone, with --every both. TEST_STORES=sqlite leaves MongoDB out.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findMongod } from "../tests/support/mongod-binary.mjs";
import { runChild } from "./run-child.mjs";
import { BUN, ROOT, setUp } from "./setup.mjs";
import { countTests, describeFailures, describeStores, readReport } from "./test-report.mjs";

// Tests wait for timers, disks and servers of their own part of the time.
const WORKERS = availableParallelism() + 2;
/** What kills, waits for elections, or needs the package registry and programs of others. */
const SLOW = [
  "tests/adapters/mongodb/deletes/failover.test.ts",
  "tests/adapters/mongodb/lookups/reputation-failover.test.ts",
  "tests/adapters/mongodb/runs/stores-failover.test.ts",
  "tests/adapters/mongodb/tables/failover.test.ts",
  "tests/e2e/runs-failover.test.ts",
  "tests/e2e/runs-kill.test.ts",
  "tests/deno/",
  "tests/docs/deploy/",
  "tests/package/",
];
/** Folders whose tests play more seeds among the slow ones. */
const SEEDED = ["tests/simulation"];
const MANY_SEEDS = "500";
// Remembers how long files take, so that the longest begin first; everything works without it.
const TIMINGS = join(ROOT, "node_modules", ".cache", "repsync", "test-timings.json");

await setUp();
// Found here, so that a download does not count as a test's time.
const mongod = await findMongodUnlessLeftOut();
const env = { ...process.env };
if ("path" in mongod) env.MONGOD_BINARY = mongod.path;

const folder = mkdtempSync(join(tmpdir(), "repsync-test-"));
const reportFile = join(folder, "report.xml");
mkdirSync(dirname(TIMINGS), { recursive: true });
const flags = [
  `--parallel=${WORKERS}`,
  // Files have always shared one process; that spares each its imports and its mongod.
  "--no-isolate",
  `--timings=${TIMINGS}`,
  "--update-timings",
  // Has to be said here: what the preload sets counts for the first file of a worker only.
  "--timeout=60000",
  "--reporter=junit",
  `--reporter-outfile=${reportFile}`,
];
const [which, ...others] = process.argv.slice(2);
const isOfSlow = which === "--slow" || which === "--every";
const asked = isOfSlow ? others : process.argv.slice(2);
if (isOfSlow) env.SEEDS ??= MANY_SEEDS;
if (which === "--slow" && asked.length === 0) asked.push(...SLOW, ...SEEDED);
if (!isOfSlow && asked.length === 0) {
  for (const path of SLOW) flags.push(`--path-ignore-patterns=${path}**`);
}
const { code, error } = await runChild(BUN, ["test", ...flags, ...asked], {
  cwd: ROOT,
  env,
});
const tests = readReport(reportFile);
rmSync(folder, { recursive: true, force: true });

const counts = countTests(tests);
const problem = findProblem();
if (counts.failed > 0) console.log(`\n${describeFailures(tests)}`);
if (problem) console.log(problem);
console.log(describeStores(tests));
const failed = Math.max(counts.failed, problem || code !== 0 ? 1 : 0);
console.log(`${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped`);
process.exit(failed > 0 ? code || 1 : 0);

async function findMongodUnlessLeftOut() {
  if (process.env.TEST_STORES === "sqlite") return {};
  return await findMongod({ say: (text) => console.error(text) });
}

function findProblem() {
  if (error) return `The test runner cannot be started: ${error.message}`;
  if (code > 128) return `The test runner was ended by signal ${code - 128}`;
  if (counts.passed + counts.failed === 0) return "No test was run, or the runner ended too soon";
  if (code !== 0 && counts.failed === 0) return "An error outside of all tests: see above";
  if ("reason" in mongod && process.env.CI === "true") return `CI needs a mongod: ${mongod.reason}`;
  return undefined;
}
