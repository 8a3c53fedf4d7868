// What a list shows while it is asked for, and once it was refused. D-9.1.
import { expect, test } from "bun:test";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import { startRunApp } from "../http/sync-runs/support/run-apps.ts";
import { onConsole, openConsole } from "./support/console-page.ts";
import { waitUntil } from "./support/wait-until.ts";

const ITEMS: Record<string, TableEntry> = {
  items: { upsert_key: ["k"], columns: { k: { type: "text" }, v: { type: "text" } } },
};

async function openItems(records: readonly { readonly k: string; readonly v: string }[]) {
  const app = await startRunApp({ tables: ITEMS });
  await app.push("items", { records });
  return await openConsole(app, app.admin, "/console/tables/items");
}

onConsole("a list", () => {
  test("D-9.1 stays as it is while it is asked for again by itself", async () => {
    const app = await startRunApp();
    const { page } = await openConsole(app, app.admin, "/console/usage");
    await page.getByText("No calls in the last 31 days").waitFor();
    await page.clock.install();
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    const nothing = page.getByText("Nothing has run yet");
    await nothing.waitFor();
    await page.route("**/sync/runs?*", () => {});
    const again = page.waitForRequest("**/sync/runs?*");
    await page.clock.fastForward(3_000);
    await again;
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
    expect(await nothing.count()).toBe(1);
  });

  test("D-9.1 looks as if it was asked for, and has nothing of another filter once it was refused", async () => {
    const { page, expectGood } = await openItems([{ k: "k1", v: "a" }]);
    const row = page.getByRole("link", { name: "k1", exact: true });
    await row.waitFor();
    let answer = () => {};
    await page.route("**/rows/items?*", async (route) => {
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      await route.continue();
    });
    await page.getByLabel("Since", { exact: true }).fill("yesterday");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await waitUntil(
      page,
      "getComputedStyle(document.querySelector('table')).filter === 'opacity(0.5)'",
    );
    answer();
    await page.getByRole("alert").getByText("since").waitFor();
    expect(await row.count()).toBe(0);
    await expectGood();
  });

  test("D-9.1 is where it was after a reload, and after Back from a row", async () => {
    const records = Array.from({ length: 50 }, (_, n) => ({ k: `k${n}`, v: "a" }));
    const { page } = await openItems(records);
    const rows = page.getByText("50 rows", { exact: true });
    await rows.waitFor();
    await page.evaluate("window.scrollTo(0, 400)");
    await page.reload();
    await rows.waitFor();
    await waitUntil(page, "window.scrollY === 400");
    await page.getByRole("link", { name: "k20", exact: true }).dispatchEvent("click");
    await page.getByRole("button", { name: "Edit", exact: true }).waitFor();
    expect(await page.evaluate("window.scrollY")).toBe(0);
    await page.goBack();
    await waitUntil(page, "window.scrollY === 400");
  });

  test("D-14.5 can be read while more of it is looked for", async () => {
    const { page } = await openItems([{ k: "k1", v: "a" }]);
    await page.getByRole("link", { name: "k1", exact: true }).waitFor();
    const found = { items: [{ k: "k2", v: "a" }], next_cursor: "x", total: null };
    await page.route("**/rows/items?*", async (route) => {
      if (!route.request().url().includes("cursor")) await route.fulfill({ json: found });
    });
    await page.getByLabel("Holds").fill("a");
    await page.getByRole("button", { name: "Add filter", exact: true }).click();
    await page.getByText("1 row so far, looking on").waitFor();
    await page.getByRole("link", { name: "k2", exact: true }).waitFor();
    expect(await page.locator("[aria-busy]").count()).toBe(0);
  });

  test("D-9.4.2 says of a text of which nothing is seen that it is blank", async () => {
    const { page, expectGood } = await openItems([{ k: " \u200b", v: "\u00a0" }]);
    await page.getByRole("link", { name: "Open", exact: true }).waitFor();
    expect(await page.getByText("blank text", { exact: true }).count()).toBe(2);
    await expectGood();
  });
});
