// Pages of the console for tests: opened by somebody who is signed in, and watched.
import type { Page } from "playwright-core";
import type { Person } from "../../http/reputation/people.ts";
import type { SyncApp } from "../../http/support/sync-app.ts";
import { openContext } from "../../support/browser.ts";
import { waitUntil } from "./wait-until.ts";
import { type PageWatch, watchPage } from "./watch-page.ts";

/** A page and what watches it. */
export interface WatchedPage extends PageWatch {
  readonly page: Page;
}

interface OpenOptions {
  /** Who is signed in; nobody when absent. */
  readonly as?: Pick<Person, "token">;
  /** From `/console` on. */
  readonly address?: string;
  readonly expectedErrors?: readonly RegExp[];
}

/** Opens a page of the console in a window of its own. */
export async function openConsole(app: SyncApp, options: OpenOptions = {}): Promise<WatchedPage> {
  const { as, address = "/console", expectedErrors = [] } = options;
  const context = await openContext();
  if (as !== undefined) {
    const { hostname } = new URL(app.url);
    const cookie = { name: "repsync_session", value: as.token, domain: hostname, path: "/" };
    await context.addCookies([{ ...cookie, httpOnly: true, sameSite: "Strict" }]);
  }
  const page = await context.newPage();
  const watch = watchPage(page, app.url, { expectedErrors });
  await page.goto(`${app.url}${address}`);
  return { page, ...watch };
}

/** Waits until the page of this name is shown, with its heading and its title. */
export async function expectPage(page: Page, name: string): Promise<void> {
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  await waitUntil(page, `document.title.includes(${JSON.stringify(name)})`);
}
