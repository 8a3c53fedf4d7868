// The page of accesses: who looked, when, for what, with which outcome. D-9.4.10, D-5.5.
import { expect, test } from "bun:test";
import { lookUp, Person } from "../../http/reputation/people.ts";
import { startReputation } from "../../http/reputation/reputation-backends.ts";
import { expectPage, onConsole, openConsole } from "../support/console-page.ts";

const ADDRESS = "/console/accesses";

onConsole("accesses", (backend) => {
  test("D-9.4.10 lookups are listed with their outcome, and counted by days", async () => {
    const app = await startReputation(backend);
    const as = await Person.signUp(app, "ana");
    const shop = await Person.signUp(app, "shop");
    const key = await shop.issueKey();
    const { page, expectGood } = await openConsole(app, as, ADDRESS);
    await expectPage(page, "Accesses");
    await page.getByText("Nobody has looked you up", { exact: true }).waitFor();
    await expectGood();

    await lookUp(app, key, { username: "ana" });
    await as.consent();
    await lookUp(app, key, { username: "ana" });
    await lookUp(app, key, { username: "ana", rest: "/platforms" });
    await page.reload();
    const rows = page.locator("tbody tr");
    await rows.nth(2).waitFor();
    const cells = rows.getByRole("cell");
    const texts = (await cells.allTextContents()).filter((_, i) => i % 3 !== 0);
    expect(texts).toEqual([
      ...["Platforms", "allowed"],
      ...["Score", "allowed"],
      ...["Score", "denied you had given no consent to it"],
    ]);
    expect(await rows.getByRole("rowheader").allTextContents()).toEqual(["shop", "shop", "shop"]);
    await expectGood();

    await page.getByLabel("Show").selectOption("days");
    const chart = page.getByRole("figure", { name: "Accesses of the last 31 days" });
    await chart.getByText("Accesses: 3").waitFor();
    await chart.getByText("Denied: 1").waitFor();
    expect(await chart.locator(".day-bars-day").count()).toBe(31);
    await chart.getByText("Show as a table").click();
    const today = chart.locator("tbody tr").first();
    await today.getByRole("cell").first().waitFor();
    expect(await today.getByRole("cell").allTextContents()).toEqual(["3", "1"]);
    await expectGood();
    await page.reload();
    await chart.waitFor();
    await page.goBack();
    await rows.nth(2).waitFor();
  });

  test("D-9.4.10 a long list comes in pages, and an erased account is told as one", async () => {
    const app = await startReputation(backend, {});
    const as = await Person.signUp(app, "ana");
    const shops = [await Person.signUp(app, "shop-1"), await Person.signUp(app, "shop-2")];
    for (const shop of shops) {
      const key = await shop.issueKey();
      for (let i = 0; i < 26; i++) await lookUp(app, key, { username: "ana" });
    }
    await shops[0]?.send("/v1/me", { method: "DELETE" });
    const { page, expectGood } = await openConsole(app, as, ADDRESS);
    const rows = page.locator("tbody tr");
    await rows.nth(49).waitFor();
    expect(await rows.count()).toBe(50);
    await page.getByRole("button", { name: "Next", exact: true }).press("Enter");
    await rows.nth(2).waitFor({ state: "detached" });
    expect(await rows.getByRole("rowheader").allTextContents()).toEqual([
      "an erased account",
      "an erased account",
    ]);
    await expectGood();
    await page.reload();
    await rows.nth(1).waitFor();
    expect(await rows.count()).toBe(2);
    await page.getByRole("button", { name: "First", exact: true }).click();
    await rows.nth(49).waitFor();
  });
});
