// The numbers that README.md gives are those of the tree, to a tenth.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const README = readFileSync(join(ROOT, "README.md"), "utf8");

/** A test that is declared once, however often a table of cases or a contract suite runs it. */
const DECLARATION = /^\s*(?:test|it)(?:\.(?!each\b)\w+(?:\([^)]*\))?)*(?:\.each\b.*)?\(/gm;

/** Sentences of the README, and what they are to be compared with. */
const SENTENCES: readonly (readonly [pattern: RegExp, counted: () => readonly number[]])[] = [
  [
    /About ([\d,]+) lines of TypeScript in (\d+) files are the service \(`src`\)/,
    () => [linesOf("src"), textsOf("src").length],
  ],
  [
    /About ([\d,]+) lines in (\d+) files are its tests and benchmarks \(`tests`\)/,
    () => [linesOf("tests"), textsOf("tests").length],
  ],
  [
    /About ([\d,]+) tests are declared there/,
    () => [textsOf("tests").reduce((sum, text) => sum + (text.match(DECLARATION)?.length ?? 0), 0)],
  ],
];

for (const [pattern, counted] of SENTENCES) {
  test(`README.md says how much there is: ${pattern.source.slice(0, 40)}`, () => {
    const said = pattern.exec(README.replace(/\s+/g, " "))?.slice(1) ?? [];
    const numbers = said.map((number) => Number(number.replaceAll(",", "")));
    const real = counted();
    expect(numbers).toHaveLength(real.length);
    for (const [i, number] of numbers.entries()) {
      const share = number / (real[i] ?? 0);
      expect([number, real[i], share > 0.9 && share < 1.1]).toEqual([number, real[i], true]);
    }
  });
}

function linesOf(folder: string): number {
  return textsOf(folder).reduce((sum, text) => sum + text.split("\n").length - 1, 0);
}

function textsOf(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /(?<!\.d)\.tsx?$/.test(name))
    .map((name) => readFileSync(join(ROOT, folder, name), "utf8"));
}
