// node .ci/test.mjs [--slow | --every] [arguments of bun test]: set-up, mongod, tests over all cores; the last line has the counts.
// Without arguments it runs all tests but the slow ones, with --slow those alone, with --every both; named ones run on every store.
// TEST_STORES=sqlite leaves the servers out.
// With --every, or CI=true, it is the gate: nothing runs without a limit, and files that failed are played once more, alone.
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { findMongod } from "../tests/support/stores/mongod-binary.mjs";
import { runTests } from "./run-tests.mjs";
import { filesToPlay, joinTries } from "./second-try.mjs";
import { ROOT, setUp } from "./setup.mjs";
import { filesOnServers, SLOW } from "./slow-tests.mjs";
import { countTests, describeFailures, describeStores } from "./test-report.mjs";
import { describeFolders, describeTimes } from "./test-times.mjs";

// Tests wait for timers, disks and servers of their own part of the time.
const WORKERS = availableParallelism() + 2;
const CACHE = join(ROOT, "node_modules", ".cache", "repsync");
// Remembers how long files take, so that the longest begin first; everything works without it.
const TIMINGS = join(CACHE, "test-timings.json");
/** How long files, the tests of this run and each test took. */
const TIMES = join(CACHE, "test-times.txt");
const TEST_TIMEOUT = "--timeout=60000";
/** Of the gate: a file, all files beside each other, and those that are played once more. The longest file takes three minutes. */
const FILE_MS = 600_000;
const RUN_MS = 2_700_000;
const AGAIN_MS = 1_200_000;

await setUp();
// Found here, so that a download does not count as a test's time.
const mongod = await findMongodUnlessLeftOut();
const env = { ...process.env };
if ("path" in mongod) env.MONGOD_BINARY = mongod.path;
mkdirSync(CACHE, { recursive: true });

const given = process.argv.slice(2);
const which = /^--(slow|every)$/.test(given[0] ?? "") ? given.shift() : undefined;
const isAll = given.length === 0;
const isGate = which === "--every" || process.env.CI === "true";
// Read by tests/support/test-run.ts.
if (which === undefined && isAll) env.TEST_PART = "quick";

const first = await runTests({
  args: [...flagsOfAll(), ...given],
  env,
  ...(isGate ? { fileMs: FILE_MS, runMs: RUN_MS } : {}),
});
const problem = findProblem(first);
const { tests, unsteady } =
  isGate && problem === undefined
    ? await playFailedOnceMore(first.tests)
    : { tests: first.tests, unsteady: [] };
const counts = countTests(tests);
writeFileSync(TIMES, describeTimes(first));
for (const file of first.killed)
  console.log(`KILLED ${file}: it took longer than ${FILE_MS / 60_000} minutes`);
if (counts.failed > 0) console.log(`\n${describeFailures(tests)}`);
if (unsteady.length > 0) {
  console.log("\nUnsteady, to be mended: these failed beside others, and passed alone");
  console.log(describeFailures(unsteady, "UNSTEADY"));
}
if (problem) console.log(problem);
if (isGate) console.log(`${describeFolders(first)}; more in ${TIMES}`);
console.log(describeStores(tests));
const failed = Math.max(counts.failed, problem ? 1 : 0);
console.log(`${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped`);
process.exit(failed > 0 ? first.code || 1 : 0);

async function findMongodUnlessLeftOut() {
  if (process.env.TEST_STORES === "sqlite") return {};
  return await findMongod({ say: (text) => console.error(text) });
}

function flagsOfAll() {
  const flags = [
    `--parallel=${WORKERS}`,
    // Files have always shared one process; that spares each its imports and its mongod.
    "--no-isolate",
    `--timings=${TIMINGS}`,
    "--update-timings",
    // Has to be said here: what the preload sets counts for the first file of a worker only.
    TEST_TIMEOUT,
  ];
  if (which === "--slow" && isAll) flags.push(...SLOW, ...filesOnServers());
  if (env.TEST_PART === "quick") {
    flags.push(...SLOW.map((path) => `--path-ignore-patterns=${path}**`));
  }
  return flags;
}

function findProblem({ code, error, tests: ran, isOver, hasOutside }) {
  const { passed, failed: failures } = countTests(ran);
  if (error) return `The test runner cannot be started: ${error.message}`;
  if (isOver) return `The tests took longer than ${RUN_MS / 60_000} minutes`;
  if (code > 128) return `The test runner was ended by signal ${code - 128}`;
  if (passed + failures === 0) return "No test was run, or the runner ended too soon";
  if (hasOutside || (code !== 0 && failures === 0)) {
    return "An error outside of all tests: see above";
  }
  if ("reason" in mongod && process.env.CI === "true") return `CI needs a mongod: ${mongod.reason}`;
  return undefined;
}

/** The tests as they went at last, and those that failed at first only. */
async function playFailedOnceMore(ofFirst) {
  const endMs = performance.now() + AGAIN_MS;
  let joined = ofFirst;
  const failedAtFirst = [];
  for (const file of filesToPlay(ofFirst)) {
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) break;
    console.log(`\nOnce more, alone: ${file}`);
    const runMs = Math.min(leftMs, FILE_MS);
    const again = await runTests({ args: [TEST_TIMEOUT, `./${file}`], env, fileMs: runMs, runMs });
    const both = joinTries(joined, file, again);
    joined = both.tests;
    failedAtFirst.push(...both.unsteady);
  }
  return { tests: joined, unsteady: failedAtFirst };
}
