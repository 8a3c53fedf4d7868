// One Chromium for all tests of a process, started by the first that needs it. Each test has a context of its own.
import { type Browser, type BrowserContext, chromium } from "playwright-core";
import { findChromium } from "./chromium-binary.ts";
import { keepResource } from "./resources.ts";
import { makeGuardedFolder } from "./temporary-folders.ts";
import { afterAllTests } from "./test-run.ts";

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
  const folder = makeGuardedFolder("repsync-browser-");
  const { path } = found;
  const options = {
    executablePath: path,
    // Root of a container has no sandbox. A process for each page takes a tenth more time.
    args: ["--no-sandbox", HOSTS, "--process-per-site"],
  };
  const browser = await withTempFolder(folder.path, () => chromium.launch(options));
  // One that has died must not fail the tests that come later.
  browser.on("disconnected", () => {
    starting = undefined;
  });
  // In a worker of `bun test --parallel` it ends with the process.
  if (process.env["BUN_TEST_WORKER_ID"] === undefined) {
    afterAllTests(async () => {
      await browser.close();
      folder.remove();
    });
  }
  return browser;
}

/** Work that makes its temporary files there; the library asks the environment. */
async function withTempFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = folder;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
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
