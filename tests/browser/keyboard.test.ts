// The focus after what somebody does without a mouse. D-9.1.
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import { startRunApp } from "../http/sync-runs/support/run-apps.ts";
import { onConsole, openConsole } from "./support/console-page.ts";

/** More than a screen has room for. */
const OTHERS = Array.from({ length: 30 }, (_, n) => [`c${n}`, { type: "text" }] as const);
const ITEMS: Record<string, TableEntry> = {
  items: {
    upsert_key: ["k"],
    columns: { k: { type: "text" }, title: { type: "text" }, ...Object.fromEntries(OTHERS) },
  },
};

/** What the element with the focus is, or stands in: a field by its label. */
const focused = (page: Page) =>
  page.evaluate(`(() => {
    const { activeElement: it } = document;
    return it.labels?.[0]?.textContent ?? it.querySelector("form, .card")?.className ?? it.tagName;
  })()`);

onConsole("by keyboard", (backend) => {
  test("D-9.1 a box from which its form is sent keeps the focus, and takes nothing meanwhile", async () => {
    const app = await startRunApp({ backend, tables: ITEMS });
    const { page } = await openConsole(app, app.admin, "/console/runs", [/ERR_FAILED/]);
    const { promise: isTyped, resolve: goOn } = Promise.withResolvers<void>();
    await page.route("**/sync/trigger", async (route) => {
      await isTyped;
      await route.abort();
    });
    const box = page.getByLabel("Dry run", { exact: true });
    await box.press("Space");
    await box.press("Enter");
    await page.locator("[aria-busy]").waitFor();
    await page.keyboard.press("Space");
    expect([await focused(page), await box.isChecked()]).toEqual(["Dry run", true]);
    goOn();
    await page.locator("[aria-busy]").waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Dry run");
    await page.keyboard.press("Space");
    expect(await box.isChecked()).toBe(false);
  });

  test("D-9.1 what has the focus keeps it, or hands it on when it goes", async () => {
    const app = await startRunApp({ backend, tables: ITEMS });
    await app.push("items", {
      records: [1, 2].map((n) => ({ k: `k${n}`, title: `Title ${n}` })),
    });
    const { page } = await openConsole(app, app.admin, "/console/tables/items");
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    const key = page.getByLabel("Key", { exact: true });
    await page.getByText("2 rows").waitFor();
    await key.fill("k1");
    await key.press("Enter");
    await page.getByText("1 row", { exact: true }).waitFor();
    expect([await focused(page), await key.inputValue()]).toEqual(["Key", "k1"]);
    await page.goBack();
    await page.getByText("2 rows").waitFor();
    expect(await key.inputValue()).toBe("");

    await page.getByLabel("Holds").fill("k2");
    await page.keyboard.press("Enter");
    await page.getByText("1 row on this page").waitFor();
    expect(await focused(page)).toBe("Holds");
    await button("Remove").press("Enter");
    await page.getByText("2 rows").waitFor();
    expect(await focused(page)).toBe("H1");

    await page.getByRole("link", { name: "k1", exact: true }).press("Enter");
    // The button stands below more than a screen of values.
    await page.setViewportSize({ width: 1280, height: 500 });
    await button("Edit").press("Enter");
    await page.getByLabel("title", { exact: true }).waitFor();
    expect(await focused(page)).toBe("form");
    const begin = await page.getByLabel("title", { exact: true }).boundingBox();
    expect(begin?.y).toBeGreaterThan(0);
    expect(begin?.y).toBeLessThan(300);
    await page.getByLabel("title", { exact: true }).fill("Mine");
    await app.push("items", { records: [{ k: "k1", title: "Theirs" }] });
    await page.keyboard.press("Enter");
    await button("Keep theirs").waitFor();
    expect(await focused(page)).toBe("card");
    await button("Keep theirs").press("Enter");
    await button("Edit").waitFor();
    expect(await focused(page)).toBe("H1");
    await button("Edit").press("Enter");
    await page.getByLabel("title", { exact: true }).press("Enter");
    await page.getByText("The row was saved").waitFor();
    await button("Edit").waitFor();
    expect(await focused(page)).toBe("H1");

    // Whoever has pressed beside it has no focus that could go.
    await button("Edit").click();
    await page.mouse.click(5, 700);
    await button("Back").dispatchEvent("click");
    await button("Edit").waitFor();
    expect(await focused(page)).toBe("BODY");
  });
});
