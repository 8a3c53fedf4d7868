// The page `Runs`: start, watch, cancel, history. D-9.4.
import { expect, test } from "bun:test";
import { type Backend, connectSql, SQLITE_FILE } from "../http/support/backends.ts";
import { startHeldRemote } from "../http/sync-runs/support/held-remote.ts";
import { notes, startPair, startRunApp } from "../http/sync-runs/support/run-apps.ts";
import { expectPage, onConsole, openConsole } from "./support/console-page.ts";

/** The browser has no window here whose tabs somebody could look at. */
const look = (isShown: boolean) => `
  Object.defineProperty(document, "hidden", { configurable: true, value: ${!isShown} });
  document.dispatchEvent(new Event("visibilitychange"))`;

/** A push of 1,200 rows that is under way, and waits with its first batch at the remote until it is released. */
async function startHeldPush(backend: Backend) {
  const remote = await startRunApp({ backend });
  const held = startHeldRemote(remote.url, "/push/", 1);
  const local = await startRunApp({ backend, env: { SYNC_REMOTE_URL: held.url } });
  await local.push("notes", { records: notes(1_200) });
  const started = await local.trigger({ table: "notes", direction: "push", wait: false });
  await held.reached;
  return { local, held, id: String(started.json["run_id"]) };
}

onConsole("the page Runs", (backend) => {
  test("D-9.4.1 a run is started, watched to its end, and has an address that survives a reload and Back", async () => {
    const { local, remote } = await startPair({ backend });
    await local.push("notes", { records: notes(1_200) });
    const { page, expectGood } = await openConsole(local, local.admin, "/console/runs");
    await expectPage(page, "Runs");
    await page.getByText("Nothing has run yet").waitFor();
    await expectGood();
    await page.getByLabel("Table", { exact: true }).selectOption("notes");
    await page.getByLabel("Direction", { exact: true }).selectOption("push");
    await page.getByLabel("Full", { exact: true }).check();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL(/\/console\/runs\/[^/?]+$/);
    await page.getByRole("status").getByText("success", { exact: true }).waitFor();
    await expectPage(page, "Runs");
    const row = page.getByRole("row", { name: /^notes/ });
    expect(await row.getByRole("cell").nth(0).textContent()).toBe("1,200");
    expect(await remote.rows("notes")).toHaveLength(1_200);
    await page.getByText("Events", { exact: true }).click();
    await page.getByText("start: push of notes, 1,200 rows").waitFor();
    await expectGood();
    await page.reload();
    await page.getByRole("row", { name: /^notes/ }).waitFor();
    await page.goBack();
    await page.getByRole("row", { name: /Push, full/ }).waitFor();
    await expectGood();
  });

  test("D-9.4.1 a run that was started elsewhere is shown as it goes, after a reload too, and Cancel ends it", async () => {
    const { local, held, id } = await startHeldPush(backend);
    const { page, expectGood } = await openConsole(local, local.admin, "/console/runs");
    await page.getByText(/^500 of 1,200 rows, [\d,]+ rows\/s$/).waitFor();
    await expectGood();
    const asked = page.waitForRequest("**/events");
    await page.goto(`${local.url}/console/runs/${id}`);
    await page.getByRole("progressbar", { name: "Push of notes" }).waitFor();
    // Not by way of the cache, where Firefox lets one tab wait for the stream of another.
    expect((await (await asked).allHeaders())["cache-control"]).toBe("no-cache");
    await page.reload();
    await page.getByRole("progressbar", { name: "Push of notes" }).waitFor();
    await expectGood();
    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByText("failed", { exact: true }).waitFor();
    await page.getByText("Cancelled by root", { exact: true }).waitFor();
    await page.getByText("it goes on where it stopped").waitFor();
    await expectGood();
    held.release();
  });

  test("D-9.4.1 a run is watched in tabs that somebody looks at: others leave a browser's few connections to them", async () => {
    const { local, held, id } = await startHeldPush(backend);
    const { page: first } = await openConsole(local, local.admin);
    const tabs = [first];
    while (tabs.length < 7) tabs.push(await first.context().newPage());
    for (const tab of tabs) {
      await tab.goto(`${local.url}/console/runs/${id}`);
      await tab.getByText("500 of 1,200 rows").waitFor();
      await tab.evaluate(look(false));
    }
    await first.evaluate(look(true));
    const watched = first.waitForResponse("**/events");
    held.release();
    await watched;
    await first.getByRole("status").getByText("success", { exact: true }).waitFor();
  });

  test("D-9.4.1 a run that begins after somebody has left the page leads them nowhere", async () => {
    const { local } = await startPair();
    const address = "/console/runs";
    const { page } = await openConsole(local, local.admin, address);
    const { promise: isLeft, resolve: leave } = Promise.withResolvers<void>();
    await page.route("**/sync/trigger", async (route) => {
      await isLeft;
      await route.continue();
    });
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    await expectPage(page, "Settings");
    const started = page.waitForResponse("**/sync/trigger");
    leave();
    expect((await started).status()).toBe(202);
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await page.getByRole("cell", { name: "Push and pull" }).waitFor();
    expect(new URL(page.url()).pathname).toBe(address);
    await page.goBack();
    await expectPage(page, "Settings");
  });

  test("D-9.4.1 a dry run tells what would move, and moves nothing", async () => {
    const { local, remote } = await startPair();
    await local.push("notes", { records: notes(3) });
    const { page, expectGood } = await openConsole(local, local.admin, "/console/runs");
    await page.getByLabel("Table", { exact: true }).selectOption("notes");
    await page.getByLabel("Dry run", { exact: true }).check();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByText("Dry run: what would move").waitFor();
    const push = page.getByRole("row", { name: /^notes push/ });
    expect(await push.getByRole("cell").nth(1).textContent()).toBe("3");
    expect(await remote.rows("notes")).toEqual([]);
    await expectGood();
  });

  test("D-9.4.1, D-14.6 a dry run says why it does not count a table", async () => {
    const STORAGE_URL = await SQLITE_FILE.makeUrl();
    const { local } = await startPair({ backend, env: { STORAGE_URL } });
    await connectSql(STORAGE_URL).unsafe("alter table notes rename column body to text");
    await local.lookAtRegistry();
    const { page, expectGood } = await openConsole(local, local.admin, "/console/runs");
    await page.getByLabel("Dry run", { exact: true }).check();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByText("Dry run: what would move").waitFor();
    const text = await page.getByRole("alert").textContent();
    expect(text).toContain('Table "notes": column "body" is missing in the database');
    await expectGood();
  });

  test("D-9.4.1 Force asks and names what it overwrites; a refusal says why and keeps what was chosen", async () => {
    const { local, remote } = await startPair();
    const row = (minute: number, price: string) => ({
      ...{ shop: "s", sku: "a", price, updated_at: `2026-01-01T00:0${minute}:00Z` },
    });
    await local.push("listings", { records: [row(1, "1.00")] });
    await remote.push("listings", { records: [row(2, "2.00")] });
    const { page, expectGood } = await openConsole(local, local.admin, "/console/runs");
    const start = page.getByRole("button", { name: "Start", exact: true });
    await page.getByLabel("Table", { exact: true }).selectOption("listings");
    await page.getByLabel("Force", { exact: true }).check();
    await start.click();
    await page.getByRole("alert").waitFor();
    expect(await page.getByLabel("Table", { exact: true }).inputValue()).toBe("listings");
    await expectGood();
    await page.getByLabel("Direction", { exact: true }).selectOption("push");
    await start.click();
    const dialog = page.getByRole("dialog", { name: /Overwrite rows of “listings” at the remote/ });
    await dialog.getByRole("button", { name: "Back", exact: true }).click();
    expect(await remote.rows("listings")).toMatchObject([{ price: "2.00" }]);
    await start.click();
    await expectGood();
    await dialog.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByText("success", { exact: true }).waitFor();
    expect(await remote.rows("listings")).toMatchObject([{ price: "1.00" }]);
  });

  test("D-9.4.1 without a remote, Start says what to set", async () => {
    const app = await startRunApp();
    const { page, expectGood } = await openConsole(app, app.admin, "/console/runs");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByText("set SYNC_REMOTE_URL").waitFor();
    await expectGood();
  });

  test("D-9.4.1 the history comes in pages, which have addresses", async () => {
    const { local } = await startPair();
    for (let i = 0; i < 21; i++) await local.trigger({ table: "notes", direction: "pull" });
    const { page, expectGood } = await openConsole(local, local.admin, "/console/runs");
    const rows = page.getByRole("row", { name: /Pull/ });
    await rows.nth(19).waitFor();
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await rows.nth(1).waitFor({ state: "detached" });
    expect(await rows.count()).toBe(1);
    expect(page.url()).toContain("cursor=");
    await page.reload();
    await rows.nth(0).waitFor();
    expect(await rows.count()).toBe(1);
    await expectGood();
    await page.goBack();
    await rows.nth(19).waitFor();
  });
});
