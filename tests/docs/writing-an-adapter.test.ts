import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../../", import.meta.url);
const GUIDE = readText("docs/writing-an-adapter.md");
const BLOCK = /^From `([^`]+)`:\n\n```ts\n([\s\S]*?)^```$/gm;
const blocks = [...GUIDE.matchAll(BLOCK)].map(([, path = "", code = ""]) => [path, code] as const);

test.each(blocks)("the guide for adapters shows a piece of %s as it is", (path, code) => {
  expect(readText(path)).toContain(code);
});

test("every block of code in the guide for adapters is a piece of a file", () => {
  expect(GUIDE.match(/^```ts$/gm)?.length).toBe(4);
  expect(blocks.length).toBe(4);
});

function readText(path: string): string {
  return readFileSync(fileURLToPath(new URL(path, ROOT)), "utf8");
}
