// The page of one's own reputation: score, points, words, visibility. D-9.4.10, D-6.6.
import { expect, test } from "bun:test";
import { dataOf, lookUp, Person } from "../../http/reputation/people.ts";
import { startReputation } from "../../http/reputation/reputation-backends.ts";
import { startProvider } from "../../http/support/start-provider.ts";
import type { SyncApp } from "../../http/support/sync-app.ts";
import { expectPage, onConsole, openConsole } from "../support/console-page.ts";

const ADDRESS = "/console/my-reputation";
const HOSTILE = `<script>alert(1)</script>\u202e${"w".repeat(10_000)}`;

async function pushPlatforms(app: SyncApp, platforms: readonly string[]): Promise<void> {
  const records = platforms.map((platform) => ({
    username: "ana",
    platform,
    verified: true,
    account_created_at: "2016-01-01T00:00:00Z",
    activity_count: 800,
    updated_at: "2026-11-20T08:00:00Z",
  }));
  const { json } = await app.push("platform_accounts", { records });
  expect(json["upserted"]).toBe(platforms.length);
}

onConsole("my reputation", (backend) => {
  test("D-9.4.10 the points of the platforms are bars that sum to the score, hostile names are text", async () => {
    const app = await startReputation(backend);
    const as = await Person.signUp(app, "ana");
    await pushPlatforms(app, ["github", "government_id", "linkedin", HOSTILE]);
    const { score } = dataOf(await as.send("/v1/me/reputation"));
    const { page, expectGood } = await openConsole(app, as, ADDRESS);
    await expectPage(page, "My reputation");
    const bars = page.getByRole("figure", { name: "Points by platform" });
    await bars.waitFor();
    const values = await bars.locator(".bars-value").allTextContents();
    expect(values.length).toBe(5);
    expect(values.at(-1)).toBe(String(score));
    const sum = values.slice(0, -1).reduce((before, value) => before + Number(value), 0);
    expect(Math.abs(sum - Number(score))).toBeLessThan(0.05);
    const widths = (await page.evaluate(
      "[...document.querySelectorAll('.bars-bar')].map((bar) => bar.getBoundingClientRect().width)",
    )) as number[];
    const total = widths.at(-1) ?? 0;
    const parts = widths.slice(0, -1).reduce((before, width) => before + width, 0);
    expect(Math.abs(parts - total)).toBeLessThan(2);
    await page.getByText("How it came about").waitFor();
    await page.getByText(`${Math.min(5, 1 + Math.floor(Number(score) / 20))} of 5 stars`).waitFor();
    await expectGood();
    await page.getByRole("button", { name: "Show all 10026 characters" }).first().click();
    await expectGood();
  });

  test("D-9.4.10 public off hides the profile from the next lookup, and on shows it again", async () => {
    const app = await startReputation(backend);
    const as = await Person.signUp(app, "ana");
    const key = await (await Person.signUp(app, "shop")).issueKey();
    await as.consent();
    const statusOf = async () => (await lookUp(app, key, { username: "ana" })).status;
    const { page, expectGood } = await openConsole(app, as, ADDRESS);
    const box = page.getByLabel("Public");
    await box.uncheck();
    await page.getByText("Your profile is hidden now").waitFor();
    expect(await statusOf()).toBe(404);
    await expectGood();
    await page.reload();
    await box.waitFor();
    expect(await box.isChecked()).toBe(false);
    await box.press("Space");
    await page.getByText("Your profile is public now").waitFor();
    expect(await statusOf()).toBe(200);
  });

  test("D-9.4.10 without platforms, or without a profile, the page says what to do next", async () => {
    const provider = await startProvider();
    const app = await startReputation(backend, provider.env);
    const shop = await openConsole(app, await Person.signUp(app, "shop"), ADDRESS);
    await shop.page.getByText("No verified platform yet").waitFor();
    await shop.expectGood();
    await shop.page.getByRole("link", { name: "make an API key" }).click();
    await expectPage(shop.page, "API keys");

    const token = await provider.sign({ sub: "somebody" });
    const other = await openConsole(app, { token }, ADDRESS);
    await other.page.getByText("This account has no profile").waitFor();
    await other.expectGood();
  });
});
