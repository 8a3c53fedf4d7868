// Pages of the console for tests: opened by somebody who is signed in, and watched.
import { describe } from "bun:test";
import type { Page } from "playwright-core";
import { PASSWORD, Person } from "../../http/reputation/people.ts";
import { startReputation } from "../../http/reputation/reputation-backends.ts";
import { type Backend, SQLITE_FILE } from "../../http/support/backends.ts";
import type { SyncApp } from "../../http/support/sync-app.ts";
import { chromiumAvailable, openContext } from "../../support/browser.ts";
import { waitUntil } from "./wait-until.ts";
import { type PageWatch, watchPage } from "./watch-page.ts";

/** Declares tests of the console, which are skipped where there is no Chromium. */
export function onConsole(name: string, tests: (backend: Backend) => void): void {
  describe.skipIf(!chromiumAvailable)(name, () => tests(SQLITE_FILE));
}

/** A page and what watches it. */
export interface WatchedPage extends PageWatch {
  readonly page: Page;
}

/** Opens a page of the console in a window of its own. `as`: who is signed in; null for nobody. */
export async function openConsole(
  app: SyncApp,
  as: Pick<Person, "token"> | null = null,
  address = "/console",
  expectedErrors: readonly RegExp[] = [],
): Promise<WatchedPage> {
  const context = await openContext();
  if (as !== null) {
    const { hostname } = new URL(app.url);
    const cookie = { name: "repsync_session", value: as.token, domain: hostname, path: "/" };
    await context.addCookies([{ ...cookie, httpOnly: true, sameSite: "Strict" }]);
  }
  const page = await context.newPage();
  const watch = watchPage(page, app.url, { expectedErrors });
  await page.goto(`${app.url}${address}`);
  return { page, ...watch };
}

/** A service of its own, somebody who signs up there, or its administrator `root`, and a page of theirs. */
export async function openFor(
  backend: Backend,
  username: string,
  address = "/console",
  expectedErrors: readonly RegExp[] = [],
) {
  const app = await startReputation(backend);
  const how = username === "root" ? "signIn" : "signUp";
  const as = await Person[how](app, username);
  return { app, as, ...(await openConsole(app, as, address, expectedErrors)) };
}

/** Types name and password into the page for signing in, and sends them. */
export async function signIn(page: Page, username = "root", password = PASSWORD): Promise<void> {
  await page.getByLabel("Username").fill(username);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** Waits until the page of this name is shown, with its heading and its title. */
export async function expectPage(page: Page, name: string): Promise<void> {
  await page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
  await waitUntil(page, `document.title.includes(${JSON.stringify(name)})`);
}
