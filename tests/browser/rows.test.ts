// Rows of a table by hand in the console: filters, orders, columns, a row's page, changes, conflicts.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import type { JsonFields } from "../http/support/sync-app.ts";
import { type RunApp, startRunApp } from "../http/sync-runs/support/run-apps.ts";
import { expectPage, onConsole, openConsole, signIn } from "./support/console-page.ts";

const ITEMS: Record<string, TableEntry> = {
  items: {
    ...{ upsert_key: ["shop", "n"], timestamp_column: "at", deletes: true },
    columns: {
      shop: { type: "text" },
      n: { type: "integer" },
      title: { type: "text" },
      price: { type: "numeric" },
      sold: { type: "boolean" },
      extra: { type: "json" },
      at: { type: "datetime" },
    },
  },
};
const TEXTS: Record<string, TableEntry> = {
  texts: {
    upsert_key: ["k"],
    columns: {
      ...{ k: { type: "text" }, cr: { type: "text" }, crlf: { type: "text", nullable: false } },
      ...{ lf: { type: "text" }, all: { type: "json" }, yes: { type: "boolean" } },
      ...{ sure: { type: "boolean", nullable: false }, other: { type: "text" } },
    },
  },
};
const LARGE = "9007199254740993";

const item = (n: number | string, day: number, title: string | null = `Title ${n}`) => ({
  ...{ shop: "a/b é", n, title, price: "1.50", sold: false, extra: { x: [1] } },
  at: `2026-01-0${day}T00:00:00Z`,
});

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
/** The next request to a path is answered to nobody. */
const loseReply = (page: Page, path: string) =>
  page.route(path, (route) => route.fetch().then(() => route.abort()), { times: 1 });

async function open(app: RunApp, address = "/console/tables/items") {
  return await openConsole(app, app.admin, address);
}

async function rowsOf(app: RunApp): Promise<readonly JsonFields[]> {
  return (await app.ask("/rows/items?order=key")).json["items"] as JsonFields[];
}

async function change(app: RunApp, expected: JsonFields, row: object): Promise<void> {
  const body = JSON.stringify({ row, expected });
  const headers = { "Content-Type": "application/json" };
  const reply = await app.ask("/rows/items", { method: "PUT", body, headers });
  if (reply.status !== 200) throw new Error(reply.text);
}

onConsole("rows in the console", (backend) => {
  test("D-14.5 rows are filtered by any column, ordered and shown by chosen columns, which the address keeps", async () => {
    const app = await startRunApp({ backend, tables: ITEMS });
    const records = [item(1, 3, "Blue shirt"), item(2, 1, "Red hat"), item(LARGE, 2, "blue sky")];
    const body = JSON.stringify({ records });
    await app.push("items", body.replace(`"${LARGE}"`, LARGE));
    const { page, expectGood } = await open(app);
    await page.getByText("3 rows").waitFor();
    await field(page, "Order").selectOption("-time");
    await page.waitForURL(/order=-time/);
    const titles = () => page.locator("tbody tr td:nth-child(3)").allInnerTexts();
    await page.locator("tbody tr:first-child", { hasText: "Blue shirt" }).waitFor();
    expect(await titles()).toEqual(["Blue shirt", "blue sky", "Red hat"]);
    await field(page, "Column").selectOption("title");
    await field(page, "Holds").fill("BLUE");
    await press(page, "Add filter");
    await page.getByText("2 rows").waitFor();
    expect(await titles()).toEqual(["Blue shirt", "blue sky"]);
    await page.getByText("Columns (7 of 7)").click();
    await page.getByRole("checkbox", { name: "extra", exact: true }).uncheck();
    await page.getByText("Columns (6 of 7)").waitFor();
    expect(await page.getByRole("columnheader", { name: "extra" }).count()).toBe(0);
    await expectGood();
    await page.reload();
    await page.getByText("2 rows").waitFor();
    expect(await titles()).toEqual(["Blue shirt", "blue sky"]);
    await field(page, "Column").selectOption("n");
    await field(page, "Holds").fill(LARGE);
    await page.keyboard.press("Enter");
    await page.getByText("1 row", { exact: false }).waitFor();
    await page.locator("ul.picks button").first().click();
    await page.getByText("Red hat").waitFor({ state: "detached" });
    await page.getByRole("link", { name: "a/b é" }).click();
    await page.getByRole("heading", { level: 2, name: /n=/ }).waitFor();
    await page.getByText(LARGE).first().waitFor();
    await expectGood();
  });

  test("D-14.3 a row is added, changed and deleted by keyboard, and what a column refuses stands beside it", async () => {
    const app = await startRunApp({ backend, tables: ITEMS });
    const { page, expectGood } = await open(app);
    await page.getByRole("link", { name: "Add row" }).press("Enter");
    await field(page, "shop").fill("s");
    await field(page, "n").fill(LARGE);
    await field(page, "price").fill("much");
    await field(page, "extra").fill('{"a": [1,');
    await page.keyboard.press("Tab");
    await page.getByText("is not JSON", { exact: true }).waitFor();
    await expectGood();
    await field(page, "extra").fill('{"a": [9007199254740993]}');
    await press(page, "Save");
    await page.getByText("is not a decimal number").waitFor();
    expect(await field(page, "price").getAttribute("aria-invalid")).toBe("true");
    await field(page, "price").fill("2.50");
    await press(page, "Save");
    await page.getByText("The row was added").waitFor();
    expect(await rowsOf(app)).toMatchObject([
      { shop: "s", n: LARGE, price: "2.50", title: null, sold: null, extra: { a: [LARGE] } },
    ]);
    await page.getByRole("button", { name: "Edit", exact: true }).press("Enter");
    await field(page, "title").fill("Hat");
    await field(page, "sold").selectOption("true");
    await expectGood();
    await field(page, "title").press("Enter");
    await page.getByText("The row was saved").waitFor();
    const [row] = await rowsOf(app);
    expect(row).toMatchObject({ title: "Hat", sold: true, price: "2.50" });
    await page.getByRole("button", { name: "Delete", exact: true }).press("Enter");
    await page
      .getByRole("dialog")
      .getByRole("button", { name: "Delete", exact: true })
      .press("Enter");
    await page.getByText("The row was deleted").waitFor();
    await page.getByText("This table has no rows").waitFor();
    expect(await rowsOf(app)).toEqual([]);
    await page.goBack();
    await page.getByText("There is no such row").waitFor();
    await expectGood();
  });

  test("D-14.3 one press saves what was mended", async () => {
    const app = await startRunApp({ backend, tables: ITEMS });
    const { page } = await open(app, "/console/tables/items/new");
    // Nothing is scrolled, which could hold the button where it is.
    await page.setViewportSize({ width: 1280, height: 2000 });
    await field(page, "shop").fill("s");
    await field(page, "n").fill("many");
    await page.keyboard.press("Tab");
    await page.getByText("is not a whole number").waitFor();
    await field(page, "n").fill("1");
    await press(page, "Save");
    await page.getByText("The row was added").waitFor({ timeout: 5_000 });
  });

  test("D-9.4.11 a form takes nothing while it is sent, and again once it was refused", async () => {
    const app = await startRunApp({ backend, tables: ITEMS });
    const { page } = await open(app, "/console/tables/items/new");
    const { promise: isTyped, resolve: goOn } = Promise.withResolvers<void>();
    await page.route("**/rows/items", async (route) => {
      await isTyped;
      await route.continue();
    });
    await field(page, "shop").fill("s");
    await field(page, "title").fill("Hat");
    await field(page, "title").press("Enter");
    await page.locator("[aria-busy]").waitFor();
    await page.keyboard.type(" and more");
    expect(await field(page, "title").inputValue()).toBe("Hat");
    expect(await field(page, "sold").isDisabled()).toBe(true);
    goOn();
    // The key lacks a part.
    await page.locator(".field-error").waitFor();
    await field(page, "n").fill("1");
    await field(page, "title").fill("Hat and more");
    await field(page, "sold").selectOption("true");
    await press(page, "Save");
    await page.getByText("The row was added").waitFor();
    expect(await rowsOf(app)).toMatchObject([{ title: "Hat and more", sold: true }]);
  });

  test("D-9.4.11 a session that ends leaves a typed row there, to be saved once somebody has signed in elsewhere", async () => {
    const app = await startRunApp({ backend, tables: ITEMS });
    const { page, expectGood } = await open(app, "/console/tables/items/new");
    await field(page, "shop").fill("s");
    await field(page, "n").fill("1");
    await app.admin.send("/v1/sessions", { method: "DELETE" });
    await press(page, "Save");
    const dialog = page.getByRole("dialog", { name: /^Your session has ended\. .* is lost then$/ });
    await dialog.waitFor({ timeout: 5_000 });
    await expectGood();
    await dialog.getByRole("button", { name: "Back", exact: true }).click();
    const other = await page.context().newPage();
    await other.goto(`${app.url}/console`);
    await signIn(other);
    await expectPage(other, "Overview");
    expect(await field(page, "shop").inputValue()).toBe("s");
    await press(page, "Save");
    await page.getByText("The row was added").waitFor();
    expect(await app.rows("items")).toMatchObject([{ shop: "s", n: 1 }]);
  });

  test("D-14.3 one press is taken that leaves a field whose check appears by it", async () => {
    const app = await startRunApp({ backend, tables: ITEMS });
    const { page } = await open(app, "/console/tables/items/new");
    await page.setViewportSize({ width: 1280, height: 2000 });
    await field(page, "shop").fill("s");
    await field(page, "n").fill("many");
    const box = (await page.getByRole("button", { name: "Back", exact: true }).boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.down();
    // As long as a hand takes: the check would be there by now.
    for (let frame = 0; frame < 5; frame++) {
      await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
    }
    expect((await page.getByRole("button", { name: "Back" }).boundingBox())?.y).toBe(box.y);
    await page.mouse.up();
    await page.getByText("This table has no rows").waitFor({ timeout: 5_000 });

    await page.goBack();
    await field(page, "n").fill("many");
    await page.getByRole("heading", { name: "A row of items" }).click();
    await page.getByText("is not a whole number").waitFor({ timeout: 5_000 });
  });

  test("D-9.1 a checkbox of a column with a long name has its label beside it at 360 px", async () => {
    const name = "the_name_of_a_column_that_is_as_long_as_names_of_columns_can_be";
    const long: TableEntry = {
      upsert_key: ["k"],
      columns: { k: { type: "text" }, [name]: { type: "text" } },
    };
    const app = await startRunApp({ backend, tables: { long } });
    const { page, expectGood } = await open(app, "/console/tables/long/new");
    await field(page, `${name} is null where it is empty`).waitFor();
    await expectGood();
  });

  test("D-14.3 columns are called as a form's own parts are", async () => {
    const names = ["elements", "querySelector", "reset", "className"];
    const columns = names.map((name) => [name, { type: "integer" }] as const);
    const parts: TableEntry = {
      upsert_key: ["k"],
      columns: { k: { type: "text" }, ...Object.fromEntries(columns) },
    };
    const app = await startRunApp({ backend, tables: { parts } });
    const { page } = await open(app, "/console/tables/parts/new");
    await field(page, "k").fill("a");
    await field(page, "elements").fill("many");
    await page.keyboard.press("Enter");
    await page.getByText("is not a whole number").waitFor();
    await field(page, "elements").and(page.locator(":focus")).waitFor();
    await field(page, "elements").fill("92");
    await press(page, "Save");
    await page.getByText("The row was added").waitFor({ timeout: 5_000 });
    expect(await app.rows("parts")).toMatchObject([{ k: "a", elements: 92 }]);
  });

  test("D-14.3 what nobody typed stays as it is: line breaks of every kind, and what is not of its type", async () => {
    const env = { STORAGE_URL: await backend.makeUrl() };
    const app = await startRunApp({ env, tables: TEXTS });
    const texts = { k: "a", cr: "a\rb", crlf: "x\r\ny", lf: "\n\nz\n", all: { n: "x\r\ny" } };
    await app.push("texts", { records: [{ ...texts, sure: true, other: "before" }] });
    const file = new Database(env.STORAGE_URL.replace("sqlite:", ""));
    file.run("UPDATE texts SET yes = 'perhaps', sure = 'perhaps'");
    file.close();
    const { page } = await open(app, "/console/tables/texts");
    await page.getByRole("link", { name: "a", exact: true }).click();
    await press(page, "Edit");
    await field(page, "other").fill("after");
    await press(page, "Save");
    await page.getByText("The row was saved").waitFor();
    expect(await app.rows("texts")).toEqual([
      { ...texts, yes: "perhaps", sure: "perhaps", other: "after" },
    ]);
  });

  test("D-14.3 a write whose reply was lost is sent again by one press, and is nobody else's", async () => {
    const app = await startRunApp({ backend, tables: ITEMS });
    await app.push("items", { records: [item(1, 1)] });
    const { page } = await openConsole(app, app.admin, "/console/tables/items", [
      /net::ERR_FAILED/,
    ]);
    await page.getByRole("link", { name: "a/b é" }).click();
    await press(page, "Edit");
    await field(page, "title").fill("Mine");
    await loseReply(page, "**/rows/items");
    await press(page, "Save");
    await page.getByText("The service cannot be reached").waitFor();
    expect(await rowsOf(app)).toMatchObject([{ title: "Mine" }]);
    await press(page, "Save");
    await page.getByText("The row was saved").waitFor();
    await press(page, "Delete");
    await loseReply(page, "**/rows/items/delete");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await dialog.getByText("The service cannot be reached").waitFor();
    expect(await rowsOf(app)).toEqual([]);
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("The row was deleted").waitFor();
  });

  test("D-14.3 a new row whose key is taken is told as added only where it was written", async () => {
    const app = await startRunApp({ backend, tables: ITEMS });
    await app.push("items", { records: [item(1, 1)] });
    const { page } = await openConsole(app, app.admin, "/console", [/net::ERR_FAILED/]);
    const typeRow = async (shop: string, n: string) => {
      await page.goto(`${app.url}/console/tables/items/new`);
      await field(page, "shop").fill(shop);
      await field(page, "n").fill(n);
    };
    await typeRow("a/b é", "1");
    await press(page, "Save");
    await page.getByText("There is such a row already").waitFor();
    await press(page, "Keep theirs");
    expect(await rowsOf(app)).toMatchObject([{ n: 1, title: "Title 1" }]);
    await typeRow("a/b é", "1");
    await field(page, "price").fill("9");
    await press(page, "Save");
    await press(page, "Write mine");
    await page.getByText("The row was added").waitFor();
    expect(await rowsOf(app)).toMatchObject([{ n: 1, title: "Title 1", price: "9" }]);
    await typeRow("s", "2");
    await loseReply(page, "**/rows/items");
    await press(page, "Save");
    await page.getByText("The service cannot be reached").waitFor();
    await press(page, "Save");
    await page.getByText("The row was added").waitFor();
    expect(await rowsOf(app)).toHaveLength(2);
  });

  test("D-9.4.11 nobody leaves a row that was typed in without a question", async () => {
    const app = await startRunApp({ backend, tables: ITEMS });
    await app.push("items", { records: [item(1, 1)] });
    const { page, expectGood } = await open(app);
    const dialog = page.getByRole("dialog");
    const answer = async (name: string) => {
      await dialog.getByText("Leave before the row is saved?").waitFor();
      await dialog.getByRole("button", { name, exact: true }).click();
      await dialog.waitFor({ state: "detached" });
    };
    await page.getByRole("link", { name: "a/b é" }).click();
    await press(page, "Edit");
    await field(page, "sold").selectOption("true");
    await page.getByRole("link", { name: "All rows of items" }).click();
    await dialog.waitFor();
    await expectGood();
    await answer("Back");
    await page.goBack();
    await answer("Back");
    expect(await field(page, "sold").inputValue()).toBe("true");
    await press(page, "Save");
    await page.getByText("The row was saved").waitFor();
    await page.getByRole("link", { name: "All rows of items" }).click();
    await page.getByRole("link", { name: "Add row" }).click();
    await field(page, "shop").fill("s");
    await page.getByRole("link", { name: "All rows of items" }).click();
    await answer("Leave");
    await page.getByText("1 row", { exact: true }).waitFor();
    expect(await rowsOf(app)).toMatchObject([{ title: "Title 1", sold: true }]);
  });

  test("D-14.3 what somebody else changed meanwhile is shown beside one's own, and which stands is asked", async () => {
    const app = await startRunApp({ backend, tables: ITEMS });
    await app.push("items", { records: [item(1, 1)] });
    const [read] = await rowsOf(app);
    const { page, expectGood } = await open(app);
    await page.getByRole("link", { name: "a/b é" }).click();
    await press(page, "Edit");
    await field(page, "title").fill("Mine");
    await change(app, read!, { title: "Theirs", price: "9" });
    await press(page, "Save");
    await page.getByText("Somebody else has changed it").waitFor();
    for (const text of ["Title 1", "Mine", "Theirs"]) {
      await page
        .getByRole("row", { name: /^title/ })
        .getByText(text, { exact: true })
        .waitFor();
    }
    // What only they changed stays as they have it.
    const prices = page.getByRole("row", { name: /^price/ }).locator("td");
    expect(await prices.allInnerTexts()).toEqual(["9", "9", "1.50"]);
    await expectGood();
    await press(page, "Write mine");
    await page.getByText("The row was saved").waitFor();
    const [mine] = await rowsOf(app);
    expect(mine).toMatchObject({ title: "Mine", price: "9" });
    await press(page, "Delete");
    await change(app, mine!, { title: "Last" });
    await page.getByRole("dialog").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("Somebody else has changed it").waitFor();
    await press(page, "Keep theirs");
    await page.getByText("Last", { exact: true }).waitFor();
    expect(await rowsOf(app)).toHaveLength(1);
    await expectGood();
  });
});
