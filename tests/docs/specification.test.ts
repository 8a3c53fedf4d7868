// Ties docs/specification.md to the tests, both ways.
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

const TESTS = join(import.meta.dir, "..");
const DOCUMENT = readFileSync(join(TESTS, "../docs/specification.md"), "utf8");

const RULE = String.raw`[SDR]-\d+(?:\.\d+)*`;

/** One rule as the document gives it. */
interface DocumentedRule {
  readonly number: string;
  /** From `tests/`. */
  readonly files: readonly string[];
}

const rules = documentedRules();
const namedByFile = new Map(
  sourceFiles(TESTS).map((path) => [relative(TESTS, path), namedRules(path)]),
);
const named = new Set([...namedByFile.values()].flatMap((numbers) => [...numbers]));

describe("docs/specification.md", () => {
  test("numbers every rule once", () => {
    const numbers = rules.map(({ number }) => number);
    expect(numbers.length).toBeGreaterThan(100);
    expect(numbers.filter((number, i) => numbers.indexOf(number) !== i)).toEqual([]);
  });

  test("names only files that have a test of the rule", () => {
    const wrong = rules.flatMap(({ number, files }) =>
      files
        .filter((file) => !namedByFile.get(file)?.has(number))
        .map((file) => `${number}: ${file}`),
    );
    expect(wrong).toEqual([]);
  });

  test("has a test for every rule", () => {
    const untested = rules.filter(({ files }) => files.length === 0);
    expect(untested.map(({ number }) => number)).toEqual([]);
  });

  test("has every rule that a test names", () => {
    const headings = DOCUMENT.matchAll(new RegExp(`^#+ (${RULE}) `, "gm"));
    const known = new Set([
      ...rules.map(({ number }) => number),
      ...[...headings].map((m) => m[1]),
    ]);
    expect([...named].filter((number) => !known.has(number))).toEqual([]);
  });
});

/** `- **S-1.1** Sentence.` and below it `Tests: ...`. */
function documentedRules(): DocumentedRule[] {
  const entries = DOCUMENT.matchAll(
    new RegExp(
      String.raw`^- \*\*(${RULE})\*\* (?:.|\n(?!-|\n))*?\n  Tests: ((?:.|\n(?=  ))*)$`,
      "gm",
    ),
  );
  return [...entries].map(([, number = "", tests = ""]) => ({
    number,
    files: [...tests.matchAll(/`([^`]+)`/g)].map(([, file = ""]) => file),
  }));
}

/** Every rule at the beginning of a text in a test file: of a test's name, or in a table of them. */
function namedRules(path: string): Set<string> {
  const names = readFileSync(path, "utf8").matchAll(
    new RegExp(`["'\`](${RULE}(?:, ${RULE})*)(?=[ ,"'\`])`, "g"),
  );
  return new Set([...names].flatMap(([, numbers = ""]) => numbers.split(", ")));
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => path !== import.meta.path);
}
