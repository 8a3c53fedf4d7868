// One Chromium for all tests of a process, started by the first that needs it. Each test has a context of its own.
import { type Browser, type BrowserContext, chromium } from "playwright-core";
import { keepResource } from "../http/support/resources.ts";
import { afterAllTests } from "./after-all-tests.ts";
import { findChromium } from "./chromium-binary.ts";

const found = findChromium();
const problem = "reason" in found ? found.reason : undefined;
if (problem) {
  if (process.env["CI"] === "true") throw new Error(`CI needs a Chromium: ${problem}`);
  console.error(`\n*** Browser tests are SKIPPED, no Chromium: ${problem} ***\n`);
}

/** Whether there is a Chromium: `describe.skipIf(!chromiumAvailable)`. The reason has been printed. */
export const chromiumAvailable = problem === undefined;

/** Hosts below `.test` are this machine: for the browser they are other sites, and no secure contexts. */
const HOSTS = "--host-resolver-rules=MAP *.test 127.0.0.1";

let starting: Promise<Browser> | undefined;

async function sharedBrowser(): Promise<Browser> {
  starting ??= launch();
  return await starting;
}

async function launch(): Promise<Browser> {
  if (!("path" in found)) throw new Error("There is no Chromium");
  const browser = await chromium.launch({
    executablePath: found.path,
    // Root of a container has no sandbox.
    args: ["--no-sandbox", HOSTS],
  });
  // One that has died must not fail the tests that come later.
  browser.on("disconnected", () => {
    starting = undefined;
  });
  // In a worker of `bun test --parallel` it ends with the process.
  if (process.env["BUN_TEST_WORKER_ID"] === undefined) afterAllTests(() => browser.close());
  return browser;
}

/** A browser window of its own, without cookies; closed after the test. */
export async function openContext(): Promise<BrowserContext> {
  const browser = await sharedBrowser();
  const context = await browser.newContext({
    // What moves would be looked at half-way.
    reducedMotion: "reduce",
    viewport: { width: 1280, height: 800 },
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
  });
  context.setDefaultTimeout(45_000);
  keepResource(() => context.close());
  return context;
}
