// The parts that pages of the console are made of, in place of the console itself, with all that its page allows. D-9.1, D-9.4.
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { type SyncApp, startApp } from "../http/support/sync-app.ts";
import { chromiumAvailable, openContext } from "../support/browser.ts";
import { keepResource } from "../support/resources.ts";
import { waitUntil } from "./support/wait-until.ts";
import { watchPage } from "./support/watch-page.ts";

const HARNESS = join(import.meta.dir, "harness/components.tsx");

/** What the browser says of a header on a page that came over plain HTTP from another machine. */
const INSECURE_ORIGIN =
  /^The Cross-Origin-Opener-Policy header has been ignored, because the URL's origin was untrustworthy/;

/** Built once for all tests. */
let harness: Promise<string> | undefined;

async function buildHarness(): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [HARNESS],
    target: "browser",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  return (await outputs[0]?.text()) ?? "";
}

/** The page of the console with the harness as its script. `host` may be a name below `.test`. */
async function openHarness(app: SyncApp, host = "127.0.0.1") {
  const context = await openContext();
  const page = await context.newPage();
  const origin = `http://${host}:${new URL(app.url).port}`;
  const watch = watchPage(page, origin, { expectedErrors: [INSECURE_ORIGIN] });
  harness ??= buildHarness();
  const body = await harness;
  await page.route("**/console/assets/*.js", (route) =>
    route.fulfill({ contentType: "text/javascript", body }),
  );
  await page.goto(`${origin}/console`);
  await page.getByRole("heading", { name: "Components" }).waitFor();
  return { page, ...watch };
}

const focused = (page: Page) => page.evaluate("document.activeElement.textContent");

describe.skipIf(!chromiumAvailable)("components", () => {
  test("D-9.1 every component is good, in both colour schemes and at 360 px, whatever it shows", async () => {
    const { page, expectGood } = await openHarness(await startApp());
    await expectGood();
    // Hostile text is text.
    expect(await page.getByText("<script>alert(1)</script>", { exact: true }).count()).toBe(1);
    expect(await page.evaluate("document.querySelectorAll('main script').length")).toBe(0);
    await page.getByRole("button", { name: "Show all 10000 characters" }).click();
    expect(await page.getByText("x".repeat(10_000)).count()).toBe(1);
    await page.getByText("Show as a table").click();
    await expectGood();
  });

  test("D-9.1 a table that is too wide scrolls by keyboard, inside its own frame", async () => {
    const { page } = await openHarness(await startApp());
    await page.setViewportSize({ width: 360, height: 740 });
    const frame = page.getByRole("region", { name: "Names" });
    await frame.focus();
    const overflow = "document.activeElement.scrollWidth - document.activeElement.clientWidth";
    expect(Number(await page.evaluate(overflow))).toBeGreaterThan(0);
    await page.keyboard.press("ArrowRight");
    await waitUntil(page, "document.activeElement.scrollLeft > 0");
    expect(await page.evaluate("window.scrollX")).toBe(0);
  });

  test("D-9.1 a time is local, and UTC for whoever points at it", async () => {
    const { page } = await openHarness(await startApp());
    const time = page.locator("time").first();
    expect(await time.textContent()).toBe("1 Mar 2026, 13:00:00");
    expect(await time.getAttribute("title")).toBe("2026-03-01 12:00:00 UTC");
  });

  test("D-9.4 a question is answered by the control's name or Back, and shows why it failed", async () => {
    const { page, expectGood } = await openHarness(await startApp());
    const revoke = page
      .locator("main")
      .getByRole("button", { name: "Revoke", exact: true })
      .first();
    const dialog = page.getByRole("dialog");
    for (const leave of [
      () => dialog.getByRole("button", { name: "Back" }).click(),
      () => page.keyboard.press("Escape"),
    ]) {
      await revoke.press("Enter");
      await dialog.waitFor();
      await expectGood();
      await leave();
      await dialog.waitFor({ state: "detached" });
      expect(await focused(page)).toBe("Revoke");
    }
    await revoke.click();
    await dialog.getByRole("button", { name: "Revoke", exact: true }).click();
    await dialog.getByRole("alert").getByText("Not yet").waitFor();
    await expectGood();
    await dialog.getByRole("button", { name: "Revoke", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
  });

  test("D-9.4 a button shows why its press failed, below all buttons, until the next press", async () => {
    const { page, expectGood } = await openHarness(await startApp());
    const button = page.getByRole("button", { name: "Twice", exact: true });
    await button.click();
    const note = page.getByRole("alert").filter({ hasText: "Not at the first press" });
    await note.waitFor();
    await expectGood();
    const last = page.locator("main").getByRole("button", { name: "Copy", exact: true });
    const { y, height } = (await last.boundingBox())!;
    expect((await note.boundingBox())!.y).toBeGreaterThan(y + height);
    await button.click();
    await note.waitFor({ state: "detached" });
  });

  test("D-9.4 a question is asked again by a press that comes at once after Back", async () => {
    const { page } = await openHarness(await startApp());
    await page.locator("main").getByRole("button", { name: "Revoke", exact: true }).press("Enter");
    await page.getByRole("button", { name: "Back" }).waitFor();
    // Sooner than the dialog tells that it has been closed.
    await page.evaluate(`(async () => {
      const press = (name) =>
        [...document.querySelectorAll("button")].find((it) => it.textContent === name).click();
      const closed = new Promise((resolve) =>
        document.querySelector("dialog").addEventListener("close", resolve),
      );
      press("Back");
      await new Promise((resolve) => queueMicrotask(resolve));
      press("Revoke");
      await closed;
    })()`);
    await page.getByRole("dialog").waitFor();
  });

  test.each(["127.0.0.1", "console.test"])("D-9.4 copying works at %s", async (host) => {
    const { page } = await openHarness(await startApp(), host);
    const isSecure = host === "127.0.0.1";
    expect(await page.evaluate("window.isSecureContext")).toBe(isSecure);
    if (isSecure) await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    // What is pasted somewhere is what was copied.
    const pasted = async () => {
      await page.getByLabel("Name", { exact: true }).press("ControlOrMeta+a");
      await page.keyboard.press("ControlOrMeta+v");
      return await page.getByLabel("Name", { exact: true }).inputValue();
    };
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByRole("button", { name: "Copied", exact: true }).waitFor();
    expect(await pasted()).toBe("text with ünï");
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Copy", exact: true }).click();
    await dialog.getByRole("button", { name: "Copied" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await pasted()).toBe("from the dialog");
  });

  test("D-9.1 a chart has the colours of the scheme, also of one that changes", async () => {
    const { page } = await openHarness(await startApp());
    const colour = () =>
      page.evaluate("getComputedStyle(document.querySelector('.plot-line')).stroke");
    await page.emulateMedia({ colorScheme: "light" });
    expect(await colour()).toBe("rgb(31, 85, 181)");
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await colour()).toBe("rgb(138, 180, 255)");
    await page.setViewportSize({ width: 500, height: 800 });
    expect(await page.evaluate("document.querySelector('.plot').clientWidth")).toBeLessThan(480);
  });

  test("D-9.1 bars, and what colours stand for, are seen where somebody has chosen all colours", async () => {
    const { page } = await openHarness(await startApp());
    await page.emulateMedia({ forcedColors: "active", colorScheme: "dark" });
    const colourOf = (place: string) =>
      page.evaluate(`getComputedStyle(document.querySelector("${place}")).backgroundColor`);
    const surface = await colourOf(".card");
    for (const place of [".bars-bar", ".chart-swatch"]) {
      expect([place, await colourOf(place)]).not.toEqual([place, surface]);
    }
  });

  test("D-9.4.5 a chart names round times and values, and tells those that are pointed at", async () => {
    const { page } = await openHarness(await startApp());
    const texts = (name: string) => page.locator(name).allTextContents();
    expect(await texts(".plot-value")).toEqual(["0", "200", "400", "600"]);
    expect(await texts(".plot-time")).toEqual([
      "13:00",
      "13:05",
      "13:10",
      "13:15",
      "13:20",
      "13:25",
    ]);
    const legend = () => texts("figure:has(.plot) .chart-legend > span");
    await page.locator(".plot").hover({ position: { x: 0, y: 20 } });
    expect(await legend()).toEqual(["Rows at 1 Mar 2026, 13:00: 0"]);
    const { width } = (await page.locator(".plot").boundingBox())!;
    await page.locator(".plot").hover({ position: { x: width - 1, y: 20 } });
    expect(await legend()).toEqual(["Rows at 1 Mar 2026, 13:29: 100"]);
    await page.locator("figcaption", { hasText: "Rows moved" }).hover();
    expect(await legend()).toEqual(["Rows"]);
  });

  test("D-9.4 a stream of events is read as it comes, with its comments", async () => {
    const { page } = await openHarness(await startApp());
    const body =
      'data: {"type":"start"}\n\n: retry 3 of 8 in 4 s: <b>\n\n: keep-alive\n\ndata: {"type":"finished"}\n\n';
    await page.route("**/stream", (route) =>
      route.fulfill({ contentType: "text/event-stream", body }),
    );
    expect(await page.evaluate("readAll('/stream')")).toEqual({
      events: [{ type: "start" }, { type: "finished" }],
      comments: ["retry 3 of 8 in 4 s: <b>"],
    });
    await page.route("**/refused", (route) =>
      route.fulfill({ status: 409, json: { error: "Sync is disabled" } }),
    );
    const failure = page.evaluate(
      "readAll('/refused').catch(({ status, detail }) => [status, detail])",
    );
    expect(await failure).toEqual([409, "Sync is disabled"]);
    keepResource(() => page.unrouteAll({ behavior: "ignoreErrors" }));
  });
});
