// The README, line by line: a newcomer's first ten minutes.
import { expect, test } from "bun:test";
import { examplesOf, Reader } from "./support/document.ts";

/** How to get and start it, which other tests try: of the demo, of the package, and this whole run. */
const ELSEWHERE = /^(?:npm run demo|npm test|npx .*demo)\n/;

test("D-10.2, D-10.3, D-1.1 every line of the README does what it says", async () => {
  const examples = examplesOf("README.md");
  const own = examples.filter(({ commands }) => !ELSEWHERE.test(commands));
  expect(own.length).toBeGreaterThan(8);
  expect(own.map(({ commands }) => commands).join("")).not.toMatch(/^np[mx] /m);
  const reader = new Reader();
  for (const example of own) await reader.follow(example);
});
