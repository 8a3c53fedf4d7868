// Every link between documents leads somewhere, and every decision that is referred to exists.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const DECISIONS = join(ROOT, "docs/decisions");

const documents = [join(ROOT, "README.md"), ...filesBelow(join(ROOT, "docs"), ".md")];
const decisions = readdirSync(DECISIONS).filter((name) => /^\d{4}-.*\.md$/.test(name));

test("every relative link of a document leads to a file, and to a heading of it", () => {
  const broken = documents.flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g)]
      .map(([, link = "", anchor]) => ({
        target: link === "" ? path : join(dirname(path), link),
        anchor,
      }))
      .filter(({ target, anchor }) => !existsSync(target) || !hasAnchor(target, anchor))
      .map(
        ({ target, anchor = "" }) => `${relative(ROOT, path)}: ${relative(ROOT, target)}#${anchor}`,
      ),
  );
  expect(broken).toEqual([]);
});

test("docs/decisions/README.md lists every decision once, in order", () => {
  const list = readFileSync(join(DECISIONS, "README.md"), "utf8");
  const listed = [...list.matchAll(/^\| \[\d{4}\]\((.+?)\)/gm)].map(([, name]) => name);
  expect(listed).toEqual(decisions.sort());
});

test("a decision has at most 40 lines", () => {
  const long = decisions.filter(
    (name) => readFileSync(join(DECISIONS, name), "utf8").trimEnd().split("\n").length > 40,
  );
  expect(long).toEqual([]);
});

test("every decision that code or documents name exists", () => {
  const numbers = new Set(decisions.map((name) => Number(name.slice(0, 4))));
  const sources = ["src", "tests"].flatMap((folder) => filesBelow(join(ROOT, folder), ".ts"));
  const unknown = [...documents, ...sources].flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/\bdecisions?(?:\/| )0*(\d{1,4})\b/g)]
      .filter(([, number]) => !numbers.has(Number(number)))
      .map(([text]) => `${relative(ROOT, path)}: ${text}`),
  );
  expect(unknown).toEqual([]);
});

/** Hosting sites name a heading by its text in lowercase, without punctuation, with hyphens for spaces. */
function hasAnchor(document: string, anchor: string | undefined): boolean {
  if (anchor === undefined) return true;
  const headings = readFileSync(document, "utf8").matchAll(/^#+ (.*)$/gm);
  const names = [...headings].map(([, text = ""]) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- _]/gu, "")
      .replaceAll(" ", "-"),
  );
  return names.includes(anchor);
}

function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));
}
