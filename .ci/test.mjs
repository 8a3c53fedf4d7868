// node .ci/test.mjs [arguments of bun test]: set-up, mongod, all tests; the last line has the counts.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findMongod } from "../tests/support/mongod-binary.mjs";
import { runChild } from "./run-child.mjs";
import { BUN, ROOT, setUp } from "./setup.mjs";

await setUp();
// Found here, so that a download does not count as a test's time.
const mongod = await findMongod({ say: (text) => console.error(text) });
const env = "path" in mongod ? { ...process.env, MONGOD_BINARY: mongod.path } : process.env;

const folder = mkdtempSync(join(tmpdir(), "repsync-test-"));
const reportFile = join(folder, "report.xml");
const report = ["--reporter=junit", `--reporter-outfile=${reportFile}`];
const { code, error } = await runChild(BUN, ["test", ...report, ...process.argv.slice(2)], {
  cwd: ROOT,
  env,
});
const counts = readCounts();
rmSync(folder, { recursive: true, force: true });

const problem = findProblem();
if (problem) console.log(problem);
const failed = Math.max(counts.failed, problem || code !== 0 ? 1 : 0);
console.log(`${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped`);
process.exit(failed > 0 ? code || 1 : 0);

function readCounts() {
  let head = "";
  try {
    head = /<testsuites [^>]*>/.exec(readFileSync(reportFile, "utf8"))?.[0] ?? "";
  } catch {
    // The runner writes no report when it crashes or finds nothing.
  }
  const read = (name) => Number(new RegExp(` ${name}="(\\d+)"`).exec(head)?.[1] ?? 0);
  const [tests, failures, skipped] = [read("tests"), read("failures"), read("skipped")];
  return { passed: tests - failures - skipped, failed: failures, skipped };
}

function findProblem() {
  if (error) return `The test runner cannot be started: ${error.message}`;
  if (code > 128) return `The test runner was ended by signal ${code - 128}`;
  if (counts.passed + counts.failed === 0) return "No test was run, or the runner ended too soon";
  if ("reason" in mongod && process.env.CI === "true") return `CI needs a mongod: ${mongod.reason}`;
  return undefined;
}
