// The page of API keys: made, shown once, copied, rotated and revoked. D-9.4.10, D-5.5.
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { lookUp, Person } from "../../http/reputation/people.ts";
import { startReputation } from "../../http/reputation/reputation-backends.ts";
import type { SyncApp } from "../../http/support/sync-app.ts";
import { expectPage, onConsole, openConsole, openFor } from "../support/console-page.ts";

const ADDRESS = "/console/api-keys";
/** The browser's line on a header that is for secure contexts only. */
const NOT_SECURE = /^The Cross-Origin-Opener-Policy header has been ignored/;
const HOSTILE = "<script>alert(1)</script>\u202e<b>x</b>";

function rowOf(page: Page, name: string) {
  return page.getByRole("row").filter({ has: page.getByRole("rowheader", { name, exact: true }) });
}

/** Makes a key in the page and gives its text. */
async function makeKey(page: Page, name: string): Promise<string> {
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Make key", exact: true }).click();
  await page.getByRole("heading", { name: `The key “${name}”` }).waitFor();
  // The newest is the first.
  return (await page.locator("code.secret").first().textContent()) ?? "";
}

/** The code of the refusal of a key; null when it is none. */
async function refusalOf(app: SyncApp, key: string): Promise<unknown> {
  return (await lookUp(app, key, { username: "nobody" })).json["code"];
}

onConsole("API keys", (backend) => {
  test("D-9.4.10 a key is made, shown once, used, rotated with an overlap, and revoked after a question", async () => {
    const { app, page, expectGood } = await openFor(backend, "shop", ADDRESS);
    await expectPage(page, "API keys");
    await page.getByText("You have no API key").waitFor();
    await expectGood();

    const key = await makeKey(page, "checkout");
    expect(key).toMatch(/^rep_live_[0-9A-Za-z]{36}$/);
    await page.getByText("It is shown this once").waitFor();
    await rowOf(page, "checkout")
      .getByText(`rep_live_…${key.slice(-4)}`)
      .waitFor();
    await expectGood();
    expect(await refusalOf(app, key)).toBe("profile_not_found");
    await page.reload();
    await rowOf(page, "checkout").getByRole("time").first().waitFor();
    expect(await page.content()).not.toContain(key);

    await rowOf(page, "checkout").getByRole("button", { name: "Rotate", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("The old key").selectOption("3600");
    await expectGood();
    await dialog.getByRole("button", { name: "Rotate", exact: true }).click();
    await page.getByRole("heading", { name: "The key “checkout”" }).waitFor();
    const next = (await page.locator("code.secret").textContent()) ?? "";
    expect(next).not.toBe(key);
    expect([await refusalOf(app, key), await refusalOf(app, next)]).toEqual([
      "profile_not_found",
      "profile_not_found",
    ]);
    await page.getByRole("button", { name: "Done" }).click();

    const fresh = rowOf(page, "checkout").filter({ hasText: next.slice(-4) });
    await fresh.getByRole("button", { name: "Revoke", exact: true }).click();
    await dialog.getByRole("button", { name: "Back", exact: true }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Revoke");
    expect(await refusalOf(app, next)).toBe("profile_not_found");
    await fresh.getByRole("button", { name: "Revoke", exact: true }).click();
    await dialog.getByRole("button", { name: "Revoke", exact: true }).click();
    await fresh.getByText("revoked", { exact: true }).waitFor();
    expect(await refusalOf(app, next)).toBe("api_key_revoked");
    await expectGood();
  });

  test("D-9.4.10 a refused expiry stands beside what was typed, and nothing typed is lost", async () => {
    const { page, expectGood } = await openFor(backend, "shop", ADDRESS);
    await page.getByLabel("Name").fill("old");
    await page.getByLabel("Expires").fill("2020-01-01T00:00");
    await page.getByRole("button", { name: "Make key" }).click();
    await page.getByText("Must be in the future").waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("old");
    expect(await page.getByLabel("Expires").inputValue()).toBe("2020-01-01T00:00");
    expect(await page.getByLabel("Expires").getAttribute("aria-invalid")).toBe("true");
    await expectGood();
    await page.getByLabel("Expires").fill("2999-01-01T00:00");
    await page.getByRole("button", { name: "Make key" }).press("Enter");
    await page.getByRole("heading", { name: "The key “old”" }).waitFor();
  });

  test("D-9.4.10 nobody leaves the page before a new key is copied without a question", async () => {
    const { page, expectGood } = await openFor(backend, "shop", "/console/usage");
    const open = (name: string) => page.getByRole("link", { name, exact: true }).first().click();
    const dialog = page.getByRole("dialog");
    const answer = async (name: string) => {
      await dialog.getByText("Leave before the key “a” is copied?").waitFor();
      await dialog.getByRole("button", { name, exact: true }).click();
      await dialog.waitFor({ state: "detached" });
    };
    await expectPage(page, "Usage");
    await open("API keys");
    const key = await makeKey(page, "a");
    // Links, Back, signing out, and closing the tab.
    await open("Consents");
    await dialog.waitFor();
    await expectGood();
    await answer("Back");
    await page.goBack();
    await answer("Back");
    await page.getByRole("button", { name: "Sign out" }).click();
    await answer("Back");
    const asked = page.waitForEvent("dialog");
    await page.evaluate("setTimeout(() => location.reload())");
    const question = await asked;
    expect(question.type()).toBe("beforeunload");
    await question.dismiss();
    // What is no other page goes on as before.
    await open("API keys");
    expect(await page.getByText(key, { exact: true }).count()).toBe(1);
    await page.goBack();
    expect(new URL(page.url()).pathname).toBe(ADDRESS);

    await page.goBack();
    await answer("Leave");
    await expectPage(page, "Usage");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Usage");

    await open("API keys");
    await makeKey(page, "b");
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByText("Copied the key").waitFor();
    const third = await makeKey(page, "c");
    expect(await page.locator("code.secret").allTextContents()).toHaveLength(2);
    await page.getByText(third, { exact: true }).click({ clickCount: 3 });
    await page.keyboard.press("Control+C");
    await open("Consents");
    await expectPage(page, "Consents");
  });

  test("D-9.4.10 a key that is made once its page was left is told, and shown to nobody", async () => {
    const { page } = await openFor(backend, "shop", ADDRESS);
    const { promise: isLeft, resolve: leave } = Promise.withResolvers<void>();
    await page.route("**/me/api-keys", async (route) => {
      if (route.request().method() === "POST") await isLeft;
      await route.continue();
    });
    await page.getByLabel("Name").fill("checkout");
    await page.getByRole("button", { name: "Make key", exact: true }).click();
    await page.getByRole("link", { name: "Consents", exact: true }).click();
    await expectPage(page, "Consents");
    leave();
    await page.getByRole("status").getByText("The key “checkout” was made").waitFor();
    await page.getByRole("link", { name: "API keys", exact: true }).click();
    await rowOf(page, "checkout").waitFor();
    expect(await page.locator("code.secret").count()).toBe(0);
  });

  test("D-11.7 with 100 active keys the page says why there is no other one", async () => {
    const app = await startReputation(backend);
    const as = await Person.signUp(app, "shop");
    for (let n = 0; n < 100; n++) await as.issueKey();
    const { page, expectGood } = await openConsole(app, as, ADDRESS);
    await page.getByLabel("Name").fill("one more");
    await page.getByRole("button", { name: "Make key" }).click();
    await page.getByText("There are 100 active API keys").waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("one more");
    await expectGood();
  });

  test("D-9.4.10 Copy copies the key, and hostile names are text", async () => {
    const app = await startReputation(backend);
    const as = await Person.signUp(app, "shop");
    // For the browser a name is no secure context, as 127.0.0.1 is.
    const named = { ...app, url: app.url.replace("127.0.0.1", "console.test") };
    const { page, expectGood } = await openConsole(named, as, ADDRESS, [NOT_SECURE]);
    const key = await makeKey(page, HOSTILE);
    expect(await page.evaluate("[isSecureContext, typeof navigator.clipboard]")).toEqual([
      false,
      "undefined",
    ]);
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByText("Copied the key").waitFor();
    await page.getByLabel("Name").press("Control+V");
    expect(await page.getByLabel("Name").inputValue()).toBe(key);
    await rowOf(page, HOSTILE).waitFor();
    const long = "W".repeat(100);
    await makeKey(page, long);
    await expectGood();
    await rowOf(page, long).getByRole("button", { name: "Revoke", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Revoke", exact: true }).click();
    await page.getByText("Revoked the key “W").waitFor();
    await expectGood();
  });
});
