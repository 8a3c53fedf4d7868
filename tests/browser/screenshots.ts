// npm run screenshots: the pictures of docs/operating.md, taken of the demo in a real Chromium.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Browser, chromium, type Page } from "playwright-core";
import { findChromium } from "../support/chromium-binary.ts";

const ROOT = join(import.meta.dir, "../..");
const FOLDER = join(ROOT, "docs", "pictures");
const WINDOW = { width: 1280, height: 800 };

type Deployment = "local" | "production" | "copy";

interface Picture {
  /** Of the file, without its ending. */
  readonly name: string;
  readonly address: string;
  /** A text that is there once the page has what it shows. */
  readonly shows: string | RegExp;
  /** What to do before the picture is taken. */
  readonly prepare?: (page: Page) => Promise<void>;
}

interface Visit {
  readonly at: Deployment;
  readonly username: string;
  readonly password: string;
  readonly pictures: readonly Picture[];
}

const VISITS: readonly Visit[] = [
  {
    at: "local",
    username: "admin",
    password: "demo-admin-password",
    pictures: [
      { name: "overview", address: "/console/overview", shows: "cities" },
      { name: "runs", address: "/console/runs", shows: "success" },
      { name: "tables", address: "/console/tables/cities", shows: "Encamp" },
    ],
  },
  {
    at: "production",
    username: "admin",
    password: "demo-admin-password",
    pictures: [
      { name: "accounts", address: "/console/accounts", shows: "toko@example.com" },
      {
        name: "audit",
        address: "/console/audit?account=sari",
        shows: "consent_required",
        prepare: async (page) => {
          await page.getByRole("button", { name: "Verify" }).click();
          await page.getByText("3 records in 1 chain").waitFor();
        },
      },
    ],
  },
  {
    at: "production",
    username: "sari",
    password: "sari-demo-password",
    pictures: [
      { name: "my-reputation", address: "/console/my-reputation", shows: /tokopedia/i },
      { name: "accesses", address: "/console/accesses", shows: "toko" },
    ],
  },
  {
    at: "production",
    username: "toko",
    password: "toko-demo-password",
    pictures: [{ name: "usage", address: "/console/usage", shows: "REPSYNC_API_KEY" }],
  },
];

const found = findChromium();
if ("reason" in found) throw new Error(`There is no Chromium: ${found.reason}`);
mkdirSync(FOLDER, { recursive: true });
const demo = spawn(process.execPath, [join(ROOT, "src/cli/main.ts"), "demo"], {
  stdio: ["ignore", "pipe", "inherit"],
});
const browser = await chromium.launch({ executablePath: found.path, args: ["--no-sandbox"] });
try {
  const addresses = await readAddresses();
  for (const visit of VISITS) await take(browser, addresses[visit.at], visit);
} finally {
  await browser.close();
  demo.kill("SIGINT");
}

/** The addresses that the demo prints when it has done everything. */
async function readAddresses(): Promise<Record<Deployment, string>> {
  const addresses: Partial<Record<Deployment, string>> = {};
  for await (const line of createInterface({ input: demo.stdout })) {
    const [, name, url] = /^ {2}(local|production|copy) +(http:\S+)\/console$/.exec(line) ?? [];
    if (name !== undefined && url !== undefined) addresses[name as Deployment] = url;
    if (line.includes("press Ctrl-C")) return addresses as Record<Deployment, string>;
  }
  throw new Error("The demo ended early");
}

async function take(within: Browser, url: string, visit: Visit): Promise<void> {
  const context = await within.newContext({
    viewport: WINDOW,
    locale: "en-GB",
    colorScheme: "light",
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  await page.goto(`${url}/console/sign-in`);
  await page.getByLabel("Username").fill(visit.username);
  await page.getByLabel("Password").fill(visit.password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  for (const { name, address, shows, prepare } of visit.pictures) {
    await page.goto(url + address);
    await page.getByText(shows).first().waitFor();
    await prepare?.(page);
    const file = join(FOLDER, `console-${name}.png`);
    await page.screenshot({ path: file });
    console.log(`${name}: ${file.slice(ROOT.length + 1)}`);
  }
  await context.close();
}
