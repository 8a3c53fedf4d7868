// What `npm test` leaves out, and that everything runs somewhere.
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../.ci/setup.mjs";
import { filesOnServers, SLOW } from "../../.ci/slow-tests.mjs";

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}

test("D-11.11 the tests that are left out as slow are there", () => {
  for (const path of ["tests/e2e/runs-kill.test.ts", "tests/package/"]) {
    expect(SLOW).toContain(path);
  }
  expect(SLOW.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("D-11.11 what is above the ports plays on servers with the slow tests", () => {
  const files = filesOnServers();
  for (const path of ["e2e/shared-store", "http/slow-store", "http/reputation/accounts/erasure"]) {
    expect(files).toContain(`tests/${path}.test.ts`);
  }
});

test("D-11.11 check and continuous integration run the slow tests too", () => {
  const { scripts } = JSON.parse(textOf("package.json")) as { scripts: Record<string, string> };
  expect(scripts["test"]).toMatch(/node \.ci\/test\.mjs$/);
  expect(scripts["test:slow"]).toMatch(/node \.ci\/test\.mjs --slow$/);
  expect(scripts["check"]).toMatch(/node \.ci\/test\.mjs --every$/);
  expect(textOf(".ci/run")).toMatch(/^exec npm run --silent check$/m);
});
