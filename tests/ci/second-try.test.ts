// What becomes of tests that failed beside others, when their file is played alone.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filesToPlay, joinTries } from "../../.ci/second-try.mjs";
import { countTests, readReport } from "../../.ci/test-report.mjs";
import { describeFolders, describeTimes } from "../../.ci/test-times.mjs";

const folder = mkdtempSync(join(tmpdir(), "repsync-ci-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** As the runner writes it, without what nobody reads. */
const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="bun test" tests="4">
  <testsuite name="tests/cli/a.test.ts" file="tests/cli/a.test.ts" tests="2" time="2.5">
    <testsuite name="A" file="tests/cli/a.test.ts" line="3" tests="2" time="0">
      <testcase name="fails" classname="A" time="2" file="tests/cli/a.test.ts" line="4">
        <failure type="Error" message="1 &lt; 0">Error: 1 &lt; 0</failure>
      </testcase>
      <testcase name="passes" classname="A" time="0.25" file="tests/cli/a.test.ts" line="5" />
    </testsuite>
  </testsuite>
  <testsuite name="tests/adapters/sqlite/b.test.ts" file="tests/adapters/sqlite/b.test.ts" time="0.75">
    <testcase name="later" classname="" time="0" file="tests/adapters/sqlite/b.test.ts" line="1"><skipped /></testcase>
  </testsuite>
</testsuites>`;

const A = "tests/cli/a.test.ts";
const FAILED = { file: A, line: "4", name: "A > fails", seconds: 2, failure: "Error: 1 < 0" };
const PASSED = { file: A, line: "5", name: "A > passes", seconds: 0.25, failure: null };
const SKIPPED = { file: "tests/adapters/sqlite/b.test.ts", line: "1", name: "later", seconds: 0 };
const TESTS = [
  { ...FAILED, isSkipped: false },
  { ...PASSED, isSkipped: false },
  { ...SKIPPED, failure: null, isSkipped: true },
];
const MENDED = { ...FAILED, isSkipped: false, failure: null };

/** How a file went alone. */
function again(tests: readonly object[], code = 0, hasOutside = false) {
  return { code, tests: [...tests], hasOutside };
}

function read(xml: string) {
  const path = join(folder, "report.xml");
  writeFileSync(path, xml);
  return readReport(path);
}

test("D-11.11 a report tells tests and times of files", () => {
  expect(read(REPORT)).toEqual({
    tests: TESTS,
    files: [
      { file: A, seconds: 2.5 },
      { file: "tests/adapters/sqlite/b.test.ts", seconds: 0.75 },
    ],
  });
  expect(readReport(join(folder, "none.xml"))).toEqual({ tests: [], files: [] });
});

test("D-11.11 files that failed are played once more, unless too many did", () => {
  expect(filesToPlay(TESTS)).toEqual([A]);
  expect(filesToPlay([MENDED])).toEqual([]);
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ ...TESTS[0], file: `tests/${i}.test.ts` }));
  expect(filesToPlay(many(20))).toHaveLength(20);
  expect(filesToPlay(many(21))).toEqual([]);
});

test("D-11.11 a test that passes alone counts as passed, and is told with its first failure", () => {
  const { tests, unsteady } = joinTries(TESTS, A, again([MENDED, TESTS[1]!]));
  expect(countTests(tests)).toEqual({ passed: 2, failed: 0, skipped: 1 });
  expect(unsteady).toEqual([TESTS[0]]);
});

test("D-11.11 a test that fails alone as well has failed, and so has one that fails only then", () => {
  const both = joinTries(TESTS, A, again([TESTS[0]!, TESTS[1]!], 1));
  expect(countTests(both.tests)).toEqual({ passed: 1, failed: 1, skipped: 1 });
  expect(both.unsteady).toEqual([]);
  const other = { ...TESTS[1], failure: "Error: now" };
  const swapped = joinTries(TESTS, A, again([MENDED, other], 1));
  expect(countTests(swapped.tests)).toEqual({ passed: 1, failed: 1, skipped: 1 });
  expect(swapped.unsteady).toEqual([TESTS[0]]);
});

test("D-11.11 a try that does not end as it should leaves the failure", () => {
  const tries = [again([], 137), again([MENDED], 1), again([MENDED], 1, true)];
  for (const one of tries) expect(joinTries(TESTS, A, one)).toEqual({ tests: TESTS, unsteady: [] });
});

test("D-11.11 times are told by folder, and by test and file in a table", () => {
  const report = read(REPORT);
  expect(describeFolders(report)).toBe(
    "Seconds by folder, of 3 in all processes: cli 3, adapters/sqlite 1",
  );
  expect(describeTimes(report)).toBe(
    `By folder
2.50\tcli
0.75\tadapters/sqlite

The 30 slowest tests
2.00\ttests/cli/a.test.ts A > fails
0.25\ttests/cli/a.test.ts A > passes
0.00\ttests/adapters/sqlite/b.test.ts later

By file
2.50\ttests/cli/a.test.ts
0.75\ttests/adapters/sqlite/b.test.ts
`,
  );
});
