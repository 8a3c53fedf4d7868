// docs/contributing.md names files that exist and words that stand in them, and has a line for every folder of tests.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

const ROOT = join(import.meta.dir, "../..");
const EXPORTED = /^export (?:abstract |async )?(?:class|interface|type|function|const) (\w+)/gm;
const DOCUMENT = readFileSync(join(ROOT, "docs/contributing.md"), "utf8");

/** What people add most often. */
const CHANGES = [
  ...["route", "setting", "CLI command", "column type", "table option"],
  ...["count", "error kind", "alert type", "audit event", "field", "limit"],
  ...["metric", "collection", "condition", "platform", "store"],
];
const ROWS = [...DOCUMENT.matchAll(/^\| an? \*\*([\w ]+)\*\*[^|]* \| (.*) \| (.*) \|$/gm)].map(
  ([, change = "", places = "", tests = ""]) => ({ change, places, tests }),
);
/** A file, and the words to look for in it: `path` (`word`, `word`). */
const PLACE =
  /`((?:src|tests|docs|\.ci)\/[\w./-]+|\.env\.example)`(?: \((`[^`]+`(?:, `[^`]+`)*)\))?/g;

function anchorsOf(row: string) {
  return [...row.matchAll(PLACE)].flatMap(([, path = "", words = ""]) =>
    [...words.matchAll(/`([^`]+)`/g)].map(([, word = ""]) => ({ path, word })),
  );
}

test("every path that docs/contributing.md names exists", () => {
  const paths = [
    ...DOCUMENT.matchAll(/`((?:src|tests|docs|\.ci)\/[\w./-]+|[\w.-]+\.json|\.env\.example)`/g),
  ];
  const missing = paths
    .map(([, path = ""]) => path)
    .filter((path) => !existsSync(join(ROOT, path)));
  expect(paths.length).toBeGreaterThan(20);
  expect(missing).toEqual([]);
});

test("docs/contributing.md says where each typical change goes, and how it is tested", () => {
  expect(CHANGES.filter((change) => !ROWS.some((row) => row.change === change))).toEqual([]);
  for (const { change, places, tests } of ROWS.filter((row) => CHANGES.includes(row.change))) {
    expect([change, anchorsOf(places).length >= 2]).toEqual([change, true]);
    expect([change, tests.includes("`tests/")]).toEqual([change, true]);
  }
});

test.each(ROWS.map((row) => [row.change, row] as const))(
  "docs/contributing.md names words that stand in their files, for a %s",
  (_, { places, tests }) => {
    const anchors = [...anchorsOf(places), ...anchorsOf(tests)];
    const missing = anchors.filter(
      ({ path, word }) => !readFileSync(join(ROOT, path), "utf8").includes(word),
    );
    expect(missing).toEqual([]);
  },
);

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

/** Words for the house and for what runs, which no type is named after. */
const NO_NAMES = ["instance", "room", "repository"];

test("the words of the glossary are those that exported names are made of", () => {
  const files = [...new Glob("**/*.{ts,tsx}").scanSync(join(ROOT, "src"))];
  const names = files.flatMap((file) =>
    [...readFileSync(join(ROOT, "src", file), "utf8").matchAll(EXPORTED)].map(([, name = ""]) =>
      name.replaceAll("_", "").toLowerCase(),
    ),
  );
  const [, glossary = ""] = DOCUMENT.split("## Glossary");
  const terms = [...glossary.matchAll(/^\| ([^|]+) \|/gm)]
    .flatMap(([, terms = ""]) => terms.split(", "))
    .filter((term) => /^[a-z]/.test(term) && term !== "term");
  const isNamed = (term: string) =>
    names.some((name) => term.split(" ").every((word) => name.includes(word)));
  expect(terms.length).toBeGreaterThan(60);
  expect(terms.filter((term) => !isNamed(term) && !NO_NAMES.includes(term))).toEqual([]);
});

test("a script of more rounds names tests that read their number", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const rounds = Object.values<string>(scripts).flatMap((script) => {
    const [, name = ""] = /^(\w+_ROUNDS)=/.exec(script) ?? [];
    return name === "" ? [] : (script.match(/tests\/\S+/g) ?? []).map((file) => ({ name, file }));
  });
  expect(rounds.length).toBeGreaterThan(3);
  const unread = rounds.filter(({ name, file }) => {
    return !readFileSync(join(ROOT, file), "utf8").includes(name);
  });
  expect(unread).toEqual([]);
});
