// The page `Compare`: counts, rows side by side, repairs. D-9.4.
import { expect, test } from "bun:test";
import { startHeldRemote } from "../http/sync-runs/support/held-remote.ts";
import { notes, startPair, startRunApp } from "../http/sync-runs/support/run-apps.ts";
import { onConsole, openConsole } from "./support/console-page.ts";
import { waitUntil } from "./support/wait-until.ts";

const ADDRESS = "/console/compare";

/** A listing whose views are no double. */
function listing(sku: string, price: string) {
  const at = "2026-01-01T00:00:00Z";
  return { shop: "s", sku, price, views: "9007199254740993", updated_at: at };
}

onConsole("the page Compare", (backend) => {
  test("D-9.4.4 differing rows stand side by side, and Repair makes the ends equal after a question", async () => {
    const { local, remote } = await startPair({ backend });
    const evil = "<script>alert(1)</script>\u202egnp.exe";
    const long = "x".repeat(10_000);
    await local.push("listings", { records: [listing("a", "1.00"), listing("b", "2.00")] });
    await remote.push("listings", {
      records: [listing("a", "1.50"), listing(evil, "3.00"), listing(long, "4.00")],
    });
    const { page, expectGood } = await openConsole(local, local.admin, ADDRESS);
    await page.getByText("No comparison is shown").waitFor();
    await expectGood();
    await page.getByLabel("Table", { exact: true }).selectOption("listings");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    const pair = page.getByRole("table", { name: "shop=s, sku=a" });
    const price = pair.getByRole("row", { name: /^price/ });
    await price.waitFor();
    expect(await price.getByRole("cell").allTextContents()).toEqual([
      "1.00 (differs)",
      "1.50 (differs)",
    ]);
    const views = pair.getByRole("row", { name: /^views/ });
    expect(await views.getByRole("cell").allTextContents()).toEqual([
      "9007199254740993",
      "9007199254740993",
    ]);
    await page.getByText(evil).first().waitFor();
    await page.getByRole("table", { name: /Missing there: 1/ }).waitFor();
    await page.getByRole("table", { name: /Missing here: 2/ }).waitFor();
    await expectGood();
    await page.reload();
    await price.waitFor();
    await page.getByLabel("pull", { exact: true }).check();
    await page.getByRole("button", { name: "Repair", exact: true }).click();
    const question = "Overwrite 1 row of “listings” here with those of the remote, and add 2 here?";
    const dialog = page.getByRole("dialog", { name: question });
    await dialog.waitFor();
    await expectGood();
    await dialog.getByRole("button", { name: "Back", exact: true }).click();
    expect(await local.rows("listings")).toHaveLength(2);
    await page.getByRole("button", { name: "Repair", exact: true }).click();
    await dialog.getByRole("button", { name: "Repair", exact: true }).click();
    await page.getByText("3 rows", { exact: true }).waitFor();
    expect((await local.rows("listings")).map(({ price: text }) => text).sort()).toEqual([
      "1.50",
      "2.00",
      "3.00",
      "4.00",
    ]);
    await page.goBack();
    await price.waitFor();
    await waitUntil(page, 'document.title === "listings · Compare · repsync"');
    await page.goBack();
    await page.getByText("No comparison is shown").waitFor();
    await waitUntil(page, 'document.title === "Compare · repsync"');
  });

  test("D-9.1, D-9.4.4 null and the text null differ, and can be read in either colour scheme", async () => {
    const { local, remote } = await startPair();
    await local.push("notes", { records: [{ name: "n", body: null }] });
    await remote.push("notes", { records: [{ name: "n", body: "null" }] });
    const address = `${ADDRESS}?table=notes`;
    const { page, expectGood } = await openConsole(local, local.admin, address);
    await page.getByRole("button", { name: "Start", exact: true }).click();
    const body = page.getByRole("row", { name: /^body/ });
    await body.waitFor();
    expect(await body.getByRole("cell").allTextContents()).toEqual([
      "null (differs)",
      "null (differs)",
    ]);
    await expectGood();
  });

  test("D-9.4.4 a comparison under way is shown after a reload, and Cancel ends it", async () => {
    const remote = await startRunApp();
    await remote.push("notes", { records: notes(3) });
    const held = startHeldRemote(remote.url, "/digest/");
    const local = await startRunApp({ env: { SYNC_REMOTE_URL: held.url } });
    await local.push("notes", { records: notes(2) });
    const { page, expectGood } = await openConsole(local, local.admin, `${ADDRESS}?table=notes`);
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("progressbar", { name: "Comparing" }).waitFor();
    await page.reload();
    await page.getByRole("progressbar", { name: "Comparing" }).waitFor();
    await expectGood();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByText("Cancelled by root", { exact: true }).waitFor();
    await expectGood();
    held.release();
  });

  test("D-9.4.4 equal tables are said to be equal, and nothing is repaired", async () => {
    const { local } = await startPair();
    const { page, expectGood } = await openConsole(local, local.admin, `${ADDRESS}?table=notes`);
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByText("There is nothing to repair").waitFor();
    expect(await page.getByRole("button", { name: "Repair", exact: true }).count()).toBe(0);
    await expectGood();
  });

  test("D-9.4.4 without a remote, the page says what to set", async () => {
    const app = await startRunApp();
    const { page, expectGood } = await openConsole(app, app.admin, ADDRESS);
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByText("set SYNC_REMOTE_URL").waitFor();
    await expectGood();
  });
});
