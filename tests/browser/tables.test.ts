// The page `Tables`: tables, their rows in pages, filters, copies. D-9.4.
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import { notes, startRunApp } from "../http/sync-runs/support/run-apps.ts";
import { onConsole, openConsole } from "./support/console-page.ts";

const EVIL = "<script>alert(1)</script>\u202egnp.exe";

onConsole("the page Tables", (backend) => {
  test("D-9.4.2 a table of the list opens with its rows in pages, which have addresses", async () => {
    const app = await startRunApp({ backend });
    await app.push("notes", { records: notes(60) });
    const address = "/console/tables";
    const { page, expectGood } = await openConsole(app, app.admin, address);
    const entry = page.getByRole("row", { name: /^notes/ });
    await entry.getByText("60", { exact: true }).waitFor();
    await entry.getByText("text", { exact: true }).first().waitFor();
    await expectGood();
    await page.getByRole("link", { name: "notes", exact: true }).click();
    await page.getByText("60 rows").waitFor();
    expect(await page.title()).toContain("notes");
    await expectGood();
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await page.getByText("body of n0059").waitFor();
    await page.reload();
    await page.getByText("body of n0059").waitFor();
    await page.goBack();
    await page.getByText("body of n0000").waitFor();
  });

  test("D-11.9.3 a table that goes one way says who owns it, and one without time and owner that it has none", async () => {
    const ownerless: TableEntry = { upsert_key: ["k"], columns: { k: { type: "text" } } };
    const timed: TableEntry = {
      ...{ upsert_key: ["k"], timestamp_column: "at" },
      columns: { k: { type: "text" }, at: { type: "datetime" } },
    };
    const mine: TableEntry = { ...ownerless, direction: "push" };
    const theirs: TableEntry = { ...ownerless, direction: "pull" };
    const tables = { ownerless, timed, mine, theirs };
    const app = await startRunApp({ backend, tables });
    const { page } = await openConsole(app, app.admin, "/console/tables");
    const marks = [
      ["ownerless", "no owner"],
      ["mine", "one way, owned here"],
      ["theirs", "one way, owned by the remote"],
    ] as const;
    for (const [name, mark] of marks) {
      await page
        .getByRole("row", { name: new RegExp(`^${name}`) })
        .getByText(mark)
        .waitFor();
    }
    const row = page.getByRole("row", { name: /^timed/ });
    expect(await row.getByText(/owner|owned/).count()).toBe(0);
  });

  test("D-9.4.2 a long text is shortened between its characters", async () => {
    const app = await startRunApp({ backend });
    const at = "2026-01-01T00:00:00Z";
    await app.push("listings", {
      records: [{ shop: "s", sku: `a${"😀".repeat(300)}`, updated_at: at }],
    });
    const address = "/console/tables/listings";
    const { page } = await openConsole(app, app.admin, address);
    await page.getByRole("button", { name: "Show all 601 characters" }).waitFor();
    expect(await page.evaluate("document.body.textContent.isWellFormed()")).toBe(true);
  });

  test("D-9.4.2 a long text that is shown whole leaves those of the next page short", async () => {
    const app = await startRunApp({ backend });
    const long = notes(60).map((note) => ({
      ...note,
      body: `${note["body"]} ${"x".repeat(300)}`,
    }));
    await app.push("notes", { records: long });
    const { page } = await openConsole(app, app.admin, "/console/tables/notes");
    await page
      .getByRole("button", { name: /^Show all/ })
      .first()
      .click();
    await page.getByRole("button", { name: "Show less" }).waitFor();
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await page.getByText("body of n0059").waitFor();
    expect(await page.getByRole("button", { name: "Show less" }).count()).toBe(0);
  });

  test("D-9.4.2 hostile values are text, large integers exact; Key and Since filter, and a bad time is kept and explained", async () => {
    const app = await startRunApp({ backend });
    const listing = (sku: string, day: number) => ({
      ...{ shop: "s", sku, views: "9007199254740993", extra: { b: ["<b>"] } },
      updated_at: `2026-01-0${day}T00:00:00Z`,
    });
    await app.push("listings", {
      records: [listing("a", 1), listing(EVIL, 2), listing("x".repeat(10_000), 3)],
    });
    const address = "/console/tables/listings";
    const { page, expectGood } = await openConsole(app, app.admin, address);
    await page.getByText(EVIL).waitFor();
    expect(await page.getByText("9007199254740993").count()).toBe(3);
    await page.getByRole("button", { name: "Show all 10000 characters" }).click();
    await page.getByText("x".repeat(10_000)).waitFor();
    await expectGood();
    await search(page, "", "2026-01-02T00:00:00Z");
    await page.getByText("2 rows").waitFor();
    expect(page.url()).toContain("since=2026-01-02");
    await search(page, '{"shop":"s","sku":"a"}', "");
    await page.getByText("1 row", { exact: true }).waitFor();
    await page.reload();
    await page.getByText("1 row", { exact: true }).waitFor();
    expect(await page.getByLabel("Key", { exact: true }).inputValue()).toContain('"sku":"a"');
    await search(page, '{"shop":"s","sku":"none"}', "");
    await page.getByText("No row fits").waitFor();
    await expectGood();
    await search(page, "", "yesterday");
    await page.getByRole("alert").waitFor();
    expect(await page.getByLabel("Since", { exact: true }).inputValue()).toBe("yesterday");
    await expectGood();
  });

  test("D-9.4.2, D-11.3 the rows of a page are copied as JSON, or as CSV that no spreadsheet runs", async () => {
    const app = await startRunApp();
    await app.push("notes", {
      records: [
        { name: 'a "b", c', body: null },
        { name: "=1+2", body: "-5" },
      ],
    });
    const address = "/console/tables/notes";
    const { page } = await openConsole(app, app.admin, address);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const copied = async (format: string) => {
      await page.getByLabel("As", { exact: true }).selectOption(format);
      await page.getByRole("button", { name: "Copy", exact: true }).click();
      await page.getByRole("button", { name: "Copied", exact: true }).waitFor();
      return String(await page.evaluate("navigator.clipboard.readText()"));
    };
    expect(JSON.parse(await copied("json"))).toMatchObject([
      { name: "=1+2", body: "-5" },
      { name: 'a "b", c', body: null },
    ]);
    const csv = (await copied("csv")).replaceAll("\r\n", "\n");
    expect(csv).toContain('"a ""b"", c",\n');
    expect(csv).toContain("\n'=1+2,-5\n");
    // Other rows are not copied yet.
    await page.getByLabel("Order", { exact: true }).selectOption("-key");
    await page.getByRole("button", { name: "Copy", exact: true }).waitFor({ timeout: 5_000 });
  });

  test("D-9.4.2 an empty table says how to fill it, and an unknown one that it is none", async () => {
    const app = await startRunApp();
    const address = "/console/tables/notes";
    const { page, expectGood } = await openConsole(app, app.admin, address);
    await page.getByText("This table has no rows").waitFor();
    await expectGood();
    await page.goto(`${app.url}/console/tables/${encodeURIComponent(EVIL)}`);
    await page.getByText("There is no such table").waitFor();
    expect(await page.getByText(/Add row|Import a file|Search/).count()).toBe(0);
    await expectGood();
  });
});

async function search(page: Page, key: string, since: string): Promise<void> {
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.getByLabel("Since", { exact: true }).fill(since);
  await page.getByRole("button", { name: "Search", exact: true }).click();
}
