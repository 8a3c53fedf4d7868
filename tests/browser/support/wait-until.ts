import type { Page } from "playwright-core";

/**
 * Waits until an expression is true in a page, looking once for each frame that is drawn. Playwright's own `waitForFunction`
 * evaluates in the page, where the policy of D-9.2 refuses it.
 */
export async function waitUntil(page: Page, expression: string, maxMs = 20_000): Promise<void> {
  const endsAtMs = performance.now() + maxMs;
  while (!(await page.evaluate(expression))) {
    if (performance.now() > endsAtMs) throw new Error(`Never came true: ${expression}`);
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
  }
}
