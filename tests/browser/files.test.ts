// Files in the console: an import with its preview, a table from a file, downloads. D-14.5.1.
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { SystemTimer } from "../../src/adapters/system/system.ts";
import type { TimeDeps } from "../../src/app/services.ts";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import { type RunApp, startRunApp } from "../http/sync-runs/support/run-apps.ts";
import { pollUntil } from "../support/time/poll-until.ts";
import { onConsole, openConsole, type WatchedPage } from "./support/console-page.ts";

setDefaultTimeout(120_000);

const STOCK: TableEntry = {
  ...{ timestamp_column: "updated_at", upsert_key: ["sku"], stamped: true, deletes: true },
  columns: {
    sku: { type: "text" },
    title: { type: "text" },
    qty: { type: "integer" },
    updated_at: { type: "datetime" },
  },
};

/** A second, of a file that is to be seen on its way. */
const SLOW_BYTES = 50_000;

const timer = new SystemTimer();
/** Long work lets others in all the time, and waits for a while each time: it takes longer than the browser's next steps. */
const MANY_TURNS: TimeDeps = {
  clock: { nowMs: () => Date.now(), monotonicMs: () => 20 * performance.now() },
  timer: { sleep: (durationMs, signal) => timer.sleep(Math.max(durationMs, 5), signal) },
};

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });

function fileOf(text: string | Buffer, name = "week.csv") {
  return { name, mimeType: "text/plain", buffer: Buffer.from(text) };
}

function open(app: RunApp, address: string): Promise<WatchedPage> {
  return openConsole(app, app.admin, `/console/tables${address}`);
}

/** What stands under a name among the counts. */
function countOf(page: Page, name: string): Promise<string | null> {
  const fact = page.locator("dl > div", { has: page.getByText(name, { exact: true }) });
  return fact.locator("dd").textContent();
}

async function stockOf(app: RunApp): Promise<readonly unknown[][]> {
  return (await app.rows("stock")).map(({ sku, title, qty }) => [sku, title, qty]);
}

onConsole("files in the console", (backend) => {
  test("D-14.5.1 an import shows what it would do before it writes, and asks before it removes; a download has the rows", async () => {
    const app = await startRunApp({ backend, tables: { stock: STOCK } });
    await app.push("stock", {
      records: [
        { sku: "a", title: "Blue shirt", qty: 1 },
        { sku: "b", title: "Red hat", qty: 2 },
        { sku: "c", title: "Scarf", qty: 3 },
      ],
    });
    const before = await stockOf(app);
    const { page, expectGood } = await open(app, "/stock");
    await page.getByRole("link", { name: "Import a file" }).press("Enter");
    await press(page, "Preview");
    await page.getByText("Choose a file", { exact: true }).waitFor();
    await expectGood();
    const bad =
      "sku,title,qty,colour\na,Blue shirt,1,x\nb,Red hat with a feather,5,\nd,Socks,many,\n";
    const long = `${"W".repeat(100)}\u202e.csv`;
    await field(page, "File").setInputFiles(fileOf(bad, long));
    await page.getByText("d,Socks,many").waitFor();
    await field(page, "Whole").press("Space");
    await page.getByRole("button", { name: "Preview", exact: true }).press("Enter");
    await page.getByText("W\ufffd.csv would do").waitFor();
    const failed = page.getByRole("row", { name: /^4 / });
    await failed.getByText("qty is not a whole number").waitFor();
    await failed.getByText("many", { exact: true }).waitFor();
    await page.getByText('There is no column "colour"; left out').waitFor();
    await page.getByText("No row was removed, as records failed").waitFor();
    const changed = page.getByRole("row", { name: /^3 sku=b title/ });
    await changed.getByText("Red hat", { exact: true }).waitFor();
    await changed.getByText("Red hat with a feather").waitFor();
    expect(await countOf(page, "To be overwritten")).toBe("1");
    await expectGood();
    const good = "sku,title,qty\na,Blue shirt,1\nb,Red hat with a feather,5\nd,Socks,4\n";
    await field(page, "File").setInputFiles(fileOf(good));
    await press(page, "Preview");
    await page.getByText("Records that fail", { exact: false }).waitFor({ state: "detached" });
    await page.getByText("To be removed").waitFor();
    expect(await countOf(page, "To be removed")).toBe("1");
    expect(await stockOf(app)).toEqual(before);
    await page.getByRole("button", { name: "Import", exact: true }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("and remove 1 row of “stock” that the file does not have?").waitFor();
    await expectGood();
    await dialog.getByRole("button", { name: "Import", exact: true }).press("Enter");
    await page.getByRole("heading", { name: "week.csv was imported" }).waitFor();
    expect(await countOf(page, "Removed")).toBe("1");
    expect(await stockOf(app)).toEqual([
      ["a", "Blue shirt", 1],
      ["b", "Red hat with a feather", 5],
      ["d", "Socks", 4],
    ]);
    await expectGood();
    await page.getByRole("link", { name: "Show the rows" }).click();
    await page.getByText("3 rows").waitFor();
    await field(page, "As").selectOption("csv");
    const downloading = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download", exact: true }).press("Enter");
    const download = await downloading;
    expect(download.suggestedFilename()).toBe("stock.csv");
    const text = readFileSync(await download.path(), "utf8");
    expect(text).toStartWith("sku,title,qty,updated_at\n");
    expect(text).toContain("b,Red hat with a feather,5,20");
  });

  test("D-14.5.1 an import is not over where its events end before they say so, as behind a proxy that asks by HTTP/1.0", async () => {
    const app = await startRunApp({ tables: { stock: STOCK } });
    const { page } = await open(app, "/stock/import");
    const events = 'data: {"type":"progress","rows":1}\n\n';
    await page.route("**/sync/import/stock*", (route) =>
      route.fulfill({ contentType: "text/event-stream", body: events }),
    );
    await field(page, "File").setInputFiles(fileOf("sku,title,qty\na,Blue shirt,1\n"));
    await press(page, "Preview");
    await page.getByText("The service cannot be reached").waitFor({ timeout: 10_000 });
  });

  test("D-14.5.1 a table is made of a file: the guess with its reasons, another key, type and time, and the import", async () => {
    const app = await startRunApp({ tables: { stock: STOCK } });
    const { page, expectGood } = await open(app, "");
    await page.getByRole("link", { name: "Import a file" }).press("Enter");
    const csv =
      "Order No;price;paid;changed\n1;1,50;1;2026-01-01T00:00:00Z\n2;2,75;0;2026-01-02T00:00:00Z\n";
    await field(page, "File").setInputFiles(fileOf(Buffer.from(`${csv}3;4,25;1;\n`), "Stock.csv"));
    await page.getByText("What the file is like").press("Enter");
    await field(page, "Decimal sign").selectOption(",");
    await press(page, "Guess");
    await page.getByRole("heading", { name: "A guess from 3 records" }).waitFor();
    await page.getByText("Key: Order_No").waitFor();
    expect(await field(page, "Type of price").inputValue()).toBe("numeric");
    expect(await field(page, "Table").inputValue()).toBe("stock");
    await expectGood();
    await press(page, "Make table and import");
    await page.getByText('There is a table "stock" already').waitFor();
    expect(await field(page, "Table").getAttribute("aria-invalid")).toBe("true");
    await field(page, "Table").fill("orders");
    await field(page, "Type of paid").selectOption("boolean");
    await field(page, "Key has paid").check();
    await field(page, "Time of change").selectOption("none");
    await press(page, "Guess again");
    await page.getByText("Key: Order_No, paid").waitFor();
    expect(await field(page, "Type of paid").inputValue()).toBe("boolean");
    await expectGood();
    expect(await field(page, "Table").inputValue()).toBe("orders");
    await press(page, "Make table and import");
    await page.getByRole("heading", { name: "Stock.csv was imported" }).waitFor();
    expect(await countOf(page, "New")).toBe("3");
    await expectGood();
    const { orders } = JSON.parse(readFileSync(app.tablesFile, "utf8")).tables;
    expect(orders).toMatchObject({
      upsert_key: ["Order_No", "paid"],
      columns: { paid: { type: "boolean" } },
      import: { delimiter: ";", decimal: "," },
    });
    expect((await app.rows("orders"))[0]).toMatchObject({ Order_No: 1, price: "1.50", paid: true });
    await page.getByRole("link", { name: "Show the rows" }).click();
    await page.getByText("3 rows").waitFor();
  });

  test("D-14.5.1 the name that was typed for a table outlasts another guess of its file alone, and stays while it is sent", async () => {
    const app = await startRunApp();
    const { page } = await open(app, "/from-file");
    const { promise: isTyped, resolve: goOn } = Promise.withResolvers<void>();
    await page.route("**/tables/mine", async (route) => {
      await isTyped;
      await route.continue();
    });
    await field(page, "File").setInputFiles(fileOf("sku,n\na,1\n", "Stock.csv"));
    await press(page, "Guess");
    await field(page, "Table").fill("mine");
    await field(page, "Number the rows").check();
    await press(page, "Guess");
    await page.getByText("Key: row").waitFor();
    expect(await field(page, "Table").inputValue()).toBe("mine");
    await field(page, "File").setInputFiles(fileOf("k,n\na,1\nb,2\n", "Other.csv"));
    await press(page, "Guess");
    await page.getByRole("heading", { name: "A guess from 2 records" }).waitFor();
    expect(await field(page, "Table").inputValue()).toBe("other");
    await field(page, "Table").fill("mine");
    await field(page, "Table").press("Enter");
    await page.locator("[aria-busy]").waitFor();
    await page.keyboard.type("_too");
    expect(await field(page, "Table").inputValue()).toBe("mine");
    goOn();
    await page.getByRole("heading", { name: "Other.csv was imported" }).waitFor();
    expect((await app.rows("mine")).map(({ k }) => k)).toEqual(["a", "b"]);
  });

  test("D-14.5.1 what is wrong with a file says what to do", async () => {
    const app = await startRunApp({ tables: { stock: STOCK } });
    const { page, expectGood } = await open(app, "/stock/import");
    await field(page, "File").setInputFiles(fileOf("sku\na\n", "week.dat"));
    await press(page, "Preview");
    await page
      .getByText("The name “week.dat” does not tell the format", { exact: false })
      .waitFor();
    const latin = Buffer.from("sku,title\na,M\xfcller\n", "latin1");
    await field(page, "File").setInputFiles(fileOf(latin));
    await page.getByText("Some of it is no text in utf-8", { exact: false }).waitFor();
    const wide = Buffer.from("\ufeffsku,title\na,Moß\n", "utf16le");
    for (const bytes of [wide, Buffer.from(wide).swap16()]) {
      await field(page, "File").setInputFiles(fileOf(bytes));
      await page.getByText("a,Moß").waitFor();
      expect(await page.getByText("Some of it is no text").count()).toBe(0);
      await field(page, "File").setInputFiles(fileOf(latin));
      await page.getByText("Some of it is no text in utf-8", { exact: false }).waitFor();
    }
    await press(page, "Preview");
    await page.getByText(/is not text in UTF-8/).waitFor();
    expect(await page.getByRole("button", { name: "Import", exact: true }).count()).toBe(0);
    await expectGood();
    await field(page, "Encoding").selectOption("latin1");
    await page.getByText("a,Müller").waitFor();
    await press(page, "Preview");
    await page.getByRole("button", { name: "Import", exact: true }).waitFor();
    expect(await page.getByText("Some of it is no text").count()).toBe(0);
  });

  test("D-9.4.11, D-14.5.1 a refused field in a part that was closed is shown", async () => {
    const app = await startRunApp();
    const { page, expectGood } = await open(app, "/from-file");
    await field(page, "File").setInputFiles(fileOf("k,n\na,1\n"));
    await press(page, "Guess");
    const part = page.getByText("As the registry has it");
    await part.click();
    await field(page, "Entry").fill("{");
    await part.click();
    await press(page, "Make table and import");
    await page.getByText(/^is not JSON/).waitFor({ timeout: 5_000 });
    expect(await page.evaluate("document.activeElement.name")).toBe("entry");
    await expectGood();
  });

  test("D-14.5.1 a file is shown in the encoding that the registry has for its table", async () => {
    const stock: TableEntry = { ...STOCK, import: { encoding: "latin1" } };
    const app = await startRunApp({ tables: { stock } });
    const { page } = await open(app, "/stock/import");
    const latin = Buffer.from("sku,title\na,M\xfcller\n", "latin1");
    await field(page, "File").setInputFiles(fileOf(latin));
    await page.getByText("a,Müller").waitFor();
    expect(await page.getByText("Some of it is no text").count()).toBe(0);
  });

  test("D-14.5.1 of GeoJSON the features are the records", async () => {
    const app = await startRunApp();
    const { page } = await open(app, "/from-file");
    const feature = (id: number) =>
      `{"type":"Feature","id":${id},"properties":{"n":1.50},"geometry":{"type":"Point","coordinates":[1,2]}}`;
    const trees = `{"type":"FeatureCollection","features":[${feature(1)},${feature(2)}]}`;
    await field(page, "File").setInputFiles(fileOf(trees, "trees.geojson"));
    await press(page, "Guess");
    await press(page, "Make table and import");
    await page.getByRole("heading", { name: "trees.geojson was imported" }).waitFor();
    const tables = JSON.parse(readFileSync(app.tablesFile, "utf8")).tables;
    expect(tables.trees.import).toEqual({ path: "features" });
    expect(await app.rows("trees")).toHaveLength(2);
  });

  test("D-14.4.1, D-14.5.1 rows are numbered where nothing identifies them, and a registry that cannot be written says what to paste", async () => {
    const app = await startRunApp({ env: { SYNC_TABLES: "" } });
    const { page, expectGood } = await open(app, "/from-file");
    await field(page, "File").setInputFiles(fileOf('[{"a":1},{"a":1}]', "twice.json"));
    await press(page, "Guess");
    await page.getByText("No columns identify a row", { exact: false }).waitFor();
    await expectGood();
    await field(page, "Number the rows").check();
    await press(page, "Guess");
    await page.getByText("Key: row").waitFor();
    await press(page, "Make table and import");
    await page.getByText("Paste this into the registry file", { exact: false }).waitFor();
    await page.getByText('"twice": {', { exact: false }).waitFor();
    await expectGood();
  });

  test("D-14.5.1 an import shows how far it has come, is cancelled, and goes on when its page is left", async () => {
    const app = await startRunApp({ tables: { stock: STOCK } });
    const lines = Array.from({ length: 20_000 }, (_, n) => `k${n},Title of ${n},${n}\n`);
    const large = fileOf(`sku,title,qty\n${lines.join("")}bad,Bad,many\n`, "large.csv");
    const { page, expectGood } = await open(app, "/stock/import");
    const network = await page.context().newCDPSession(page);
    const send = (uploadThroughput: number) =>
      network.send("Network.emulateNetworkConditions", {
        ...{ offline: false, latency: 0, downloadThroughput: -1, uploadThroughput },
      });
    await send(SLOW_BYTES);
    await field(page, "File").setInputFiles(large);
    await press(page, "Preview");
    await page.getByText("Looking through the file").waitFor();
    await page.getByText(/ of \d+ KiB/).waitFor();
    await expectGood();
    await press(page, "Cancel");
    await page.getByText("The preview was cancelled").waitFor();
    await send(-1);
    await press(page, "Preview");
    await page.getByRole("button", { name: "Import", exact: true }).waitFor();
    expect(await app.rows("stock")).toEqual([]);
    await send(SLOW_BYTES);
    await press(page, "Import");
    await page.getByRole("heading", { name: "Importing" }).waitFor();
    await pollUntil("a batch", async () => (await app.records("stock")).length > 0);
    await press(page, "Cancel");
    await page.getByText("The import was cancelled").waitFor();
    await page.getByText("To import the file again is safe", { exact: false }).waitFor();
    await expectGood();
    await send(-1);
    await press(page, "Preview");
    await page.getByRole("button", { name: "Import", exact: true }).waitFor();
    expect((await app.rows("stock")).length).toBeLessThan(20_000);
    await send(10 * SLOW_BYTES);
    await press(page, "Import");
    await page.getByRole("heading", { name: "Importing" }).waitFor();
    await page.getByRole("link", { name: "Audit", exact: true }).click();
    // The tab still sends the file.
    const asked = page.waitForEvent("dialog", { timeout: 5_000 });
    await page.close({ runBeforeUnload: true });
    expect((await asked).type()).toBe("beforeunload");
    await (await asked).dismiss();
    await page.getByText("The import into stock has ended: 20,000 rows, 1 failed").waitFor();
    expect(await app.rows("stock")).toHaveLength(20_000);
  });

  test("D-9.4.11, D-14.5.1 an import whose service goes away tells what stays, and that the whole file would be added again", async () => {
    const numbered = {
      ...{ upsert_key: ["row"], import: { number_rows: true } },
      columns: { row: { type: "integer" }, text: { type: "text" } },
    } as const;
    const app = await startRunApp({ tables: { numbered }, time: MANY_TURNS });
    const { page } = await openConsole(app, app.admin, "/console/tables/numbered/import", [
      /^Failed to load resource: net::ERR_/,
    ]);
    await field(page, "File").setInputFiles(fileOf(`text\n${"a\n".repeat(60_000)}`));
    await field(page, "Append").check();
    await press(page, "Preview");
    await press(page, "Import");
    await page.getByText(/records read/).waitFor();
    await app.stop();
    await page.getByText("The service cannot be reached").waitFor({ timeout: 10_000 });
    await page.getByText("Rows that were written before stay. The whole file again").waitFor();
  });

  test("D-7.8, D-14.5.1 an import whose file has been sent is cancelled as well, and a cancel that fails is told", async () => {
    const app = await startRunApp({ tables: { stock: STOCK }, time: MANY_TURNS });
    const lines = Array.from({ length: 400_000 }, (_, n) => `${n}\n`);
    const { page } = await open(app, "/stock/import");
    await field(page, "File").setInputFiles(fileOf(`sku\n${lines.join("")}`));
    await press(page, "Preview");
    await press(page, "Import");
    await page.getByRole("heading", { name: "Importing" }).waitFor();
    await page.getByText(/records read/).waitFor();
    const json = { error: "No run has this id" };
    await page.route("**/cancel", (route) => route.fulfill({ status: 404, json }), { times: 1 });
    await press(page, "Cancel");
    await page.getByText("No run has this id").waitFor();
    await press(page, "Cancel");
    await page.getByText("Cancelled by root").waitFor();
    const count = (await app.send("/api/v1/sync/status")).json["table_counts"] as { stock: number };
    expect(count.stock).toBeGreaterThan(0);
    expect(count.stock).toBeLessThan(400_000);
  });
});
