// What holds for every page of the console, whatever a test does with it. D-9.1, D-9.2.
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ConsoleMessage, Page } from "playwright-core";
import { ROOT } from "../../../.ci/setup.mjs";
import { keepResource } from "../../support/resources.ts";
import { IS_QUICK } from "../../support/test-run.ts";

/** The small one, as every page reads it anew. */
const AXE = readFileSync(join(ROOT, "node_modules/axe-core/axe.min.js"), "utf8");
/** The browser's own line on a reply that is no good one. */
const STATUS_LINE = /^Failed to load resource: the server responded with a status of 4\d\d /;
/** Where axe has looked: a place in a test and the path of the page; of that alone in quick runs. */
const SEEN = new Set<string>();
/** The narrowest screen that the console serves. */
const NARROW = { width: 360, height: 740 };

export interface PageWatch {
  /**
   * The page as it is now has no barriers (axe) in either colour scheme, and at 360 px does not scroll sideways and has the label
   * of each checkbox beside it.
   */
  expectGood(): Promise<void>;
}

interface WatchOptions {
  /** Lines that this test makes the browser write, such as those on a service that was stopped. */
  readonly expectedErrors?: readonly RegExp[];
}

/**
 * Watches a page until the test ends, which then fails if a request left the origin of the page's first address, something
 * broke the page's policy, or a script failed. Call it before the page is opened.
 */
export function watchPage(page: Page, origin: string, options: WatchOptions = {}): PageWatch {
  const { expectedErrors = [] } = options;
  const problems: string[] = [];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("data:") && new URL(url).origin !== new URL(origin).origin) {
      problems.push(`A request left the origin: ${url}`);
    }
  });
  page.on("console", (message: ConsoleMessage) => {
    const text = message.text();
    const isExpected = [STATUS_LINE, ...expectedErrors].some((pattern) => pattern.test(text));
    // Chromium reports what its policy refuses as an error too.
    if (message.type() === "error" && !isExpected) problems.push(`Console: ${text}`);
  });
  page.on("pageerror", (error) => problems.push(`A script failed: ${error.stack ?? error}`));
  // Runs before the context is closed, as resources are released the last one first.
  keepResource(() => expect(problems).toEqual([]));
  return {
    async expectGood() {
      const { pathname } = new URL(page.url());
      const place = IS_QUICK ? pathname : `${new Error().stack?.split("\n")[2]} ${pathname}`;
      // The same page on another store has the same barriers.
      const isSeen = SEEN.has(place);
      SEEN.add(place);
      if (!isSeen) await expectNoBarriers();
      await expectRoom(page);
      expect(problems).toEqual([]);
    },
  };

  async function expectNoBarriers(): Promise<void> {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      // Only the contrast depends on the scheme.
      const rules = colorScheme === "light" ? null : ["color-contrast"];
      expect([page.url(), colorScheme, await barriersOf(page, rules)]).toEqual([
        page.url(),
        colorScheme,
        [],
      ]);
    }
  }
}

/** What axe finds: the rule, and the elements. `rules`: null for all. */
async function barriersOf(page: Page, rules: readonly string[] | null): Promise<readonly string[]> {
  const hasAxe = await page.evaluate("typeof axe === 'object'");
  // By the debugger's way into the page, which its policy does not concern.
  if (!hasAxe) await page.evaluate(AXE);
  const options = {
    resultTypes: ["violations"],
    // Off by itself, though WCAG 2.2 has it.
    rules: { "target-size": { enabled: true } },
    ...(rules === null ? {} : { runOnly: { type: "rule", values: rules } }),
  };
  const found = await page.evaluate(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.flatMap(({ id, help, nodes }) =>
        nodes.map((node) => id + ": " + help + ": " + node.html + " " + node.failureSummary)))`,
  );
  return found as readonly string[];
}

async function expectRoom(page: Page): Promise<void> {
  const before = page.viewportSize();
  await page.setViewportSize(NARROW);
  const width = await page.evaluate("document.documentElement.scrollWidth");
  expect([page.url(), width]).toEqual([page.url(), NARROW.width]);
  expect([page.url(), await page.evaluate(STRAY_LABELS)]).toEqual([page.url(), []]);
  if (before !== null) await page.setViewportSize(before);
}

/** The texts of labels that do not begin in the line of their checkbox, or go beyond the edge of the page. */
const STRAY_LABELS = `[...document.querySelectorAll("[type=checkbox], [type=radio]")]
  .flatMap((box) => [...box.labels].map((label) => [box.getBoundingClientRect(), label]))
  .filter(([box, label]) => {
    const { left, right, top } = label.getBoundingClientRect();
    return box.width > 0 && (left < box.right || right > innerWidth || top > box.bottom);
  })
  .map(([, label]) => label.textContent)`;
