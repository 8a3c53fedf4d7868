// docs/contributing.md names files that exist, and has a line for every folder of tests.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const DOCUMENT = readFileSync(join(ROOT, "docs/contributing.md"), "utf8");

test("every path that docs/contributing.md names exists", () => {
  const paths = [
    ...DOCUMENT.matchAll(/`((?:src|tests|docs)\/[\w./-]+|[\w.-]+\.json|\.env\.example)`/g),
  ];
  const missing = paths
    .map(([, path = ""]) => path)
    .filter((path) => !existsSync(join(ROOT, path)));
  expect(paths.length).toBeGreaterThan(20);
  expect(missing).toEqual([]);
});

test("every script that docs/contributing.md names is in package.json, and every folder of tests has a line", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const named = [...DOCUMENT.matchAll(/`(?:npm run )?(test:\w+)`/g)].map(([, name]) => name);
  expect(named.filter((name) => !(String(name) in scripts))).toEqual([]);
  const folders = readdirSync(join(ROOT, "tests"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `tests/${name}`);
  const lines = [...DOCUMENT.matchAll(/^\| `(tests\/\w+)` \|/gm)].map(([, folder]) => folder);
  expect(lines.sort() as string[]).toEqual(folders.sort());
});
