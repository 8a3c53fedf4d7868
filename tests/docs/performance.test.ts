// docs/performance.md keeps the marks between which `npm run bench -- publish` writes, and the table's shape.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";

const DOCUMENT = readFileSync(new URL("../../docs/performance.md", import.meta.url), "utf8");
const [, PUBLISHED = ""] =
  /<!-- bench:begin -->\n([\s\S]*)\n<!-- bench:end -->/.exec(DOCUMENT) ?? [];
const [HEADING = "", , ...LINES] = PUBLISHED.match(/^\| .* \|$/gm) ?? [];

test("each figure of docs/performance.md says its date, commit and machine", () => {
  expect(HEADING).toBe(
    "| measured | repsync | beside it | ratio | bar |  | 50 / 95 of 100 turns | a core | date, commit, machine |",
  );
  expect(LINES.length).toBeGreaterThan(30);
  const odd = LINES.filter(
    (line) =>
      !/^\|(?: [^|]* \|){3} \d+\.\d\d [^|]*\|(?: [^|]*\|){4} \d{4}-\d\d-\d\d, [0-9a-f]{8}\b[^|]*, Bun [\d.]+, \d+ × [^|]* \|$/.test(
        line,
      ),
  );
  expect(odd).toEqual([]);
});
