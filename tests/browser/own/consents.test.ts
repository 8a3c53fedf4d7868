// The page of consents: given, revoked, and their history. D-9.4.10, D-6.1, D-6.3.
import { expect, test } from "bun:test";
import { lookUp, Person } from "../../http/reputation/people.ts";
import { startReputation } from "../../http/reputation/reputation-backends.ts";
import { expectPage, onConsole, openConsole } from "../support/console-page.ts";

const ADDRESS = "/console/consents";

onConsole("consents", (backend) => {
  test("D-9.4.10, D-6.3 the lookup after Give is answered, the one after Revoke is refused", async () => {
    const app = await startReputation(backend);
    const as = await Person.signUp(app, "ana");
    const key = await (await Person.signUp(app, "shop")).issueKey();
    const statusOf = async () => (await lookUp(app, key, { username: "ana" })).status;
    const { page, expectGood } = await openConsole(app, as, ADDRESS);
    await expectPage(page, "Consents");
    await page.getByText("You have given no consent").waitFor();
    await expectGood();
    expect(await statusOf()).toBe(403);

    await page.getByLabel("Purpose").selectOption("reputation_lookup");
    await page.getByLabel("Expires").fill("2999-12-31T13:00");
    await page.getByRole("button", { name: "Give", exact: true }).click();
    const row = page.getByRole("row").filter({ hasText: "active" });
    await row.waitFor();
    // Local time, with UTC when pointed at: Berlin is an hour ahead of it in winter.
    const expiry = row.getByRole("time").last();
    expect(await expiry.textContent()).toBe("31 Dec 2999, 13:00:00");
    expect(await expiry.getAttribute("title")).toBe("2999-12-31 12:00:00 UTC");
    expect(await statusOf()).toBe(200);
    await expectGood();

    await row.getByRole("button", { name: "Revoke", exact: true }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Revoke the consent “Score, profile and platforms”?").waitFor();
    await expectGood();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await statusOf()).toBe(200);
    await row.getByRole("button", { name: "Revoke", exact: true }).click();
    const revoked = page.waitForResponse((reply) => reply.request().method() === "DELETE");
    await dialog.getByRole("button", { name: "Revoke", exact: true }).click();
    await revoked;
    expect(await statusOf()).toBe(403);
    await page.getByRole("cell", { name: "revoked" }).waitFor();
    await expectGood();
  });

  test("D-9.1 by keyboard, the heading has the focus once the button that asked is gone", async () => {
    const app = await startReputation(backend);
    const as = await Person.signUp(app, "ana");
    await as.consent("reputation_lookup");
    const { page } = await openConsole(app, as, ADDRESS);
    await page.getByRole("button", { name: "Revoke", exact: true }).press("Enter");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Revoke", exact: true }).press("Enter");
    await page.getByRole("cell", { name: "revoked" }).waitFor();
    await dialog.waitFor({ state: "detached" });
    await page.getByRole("heading", { level: 1 }).and(page.locator(":focus")).waitFor();
  });

  test("D-9.4.10 the history comes in pages and filters whose addresses survive reload and Back", async () => {
    const app = await startReputation(backend);
    const as = await Person.signUp(app, "ana");
    for (let i = 0; i < 25; i++) await as.consent("platforms_lookup");
    await as.consent("profile_lookup");
    const { page, expectGood } = await openConsole(app, as, ADDRESS);
    const rows = page.locator("tbody tr");
    await rows.nth(19).waitFor();
    expect(await rows.count()).toBe(20);
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await rows.nth(6).waitFor({ state: "detached" });
    expect(await rows.count()).toBe(6);
    await expectGood();
    await page.reload();
    await rows.nth(5).waitFor();
    expect(await rows.count()).toBe(6);
    await page.goBack();
    await rows.nth(19).waitFor();

    await page.getByLabel("Status").selectOption("active");
    await rows.nth(2).waitFor({ state: "detached" });
    expect(await rows.count()).toBe(2);
    await page.reload();
    await rows.nth(1).waitFor();
    expect([await rows.count(), await page.getByLabel("Status").inputValue()]).toEqual([
      2,
      "active",
    ]);
    await page.getByLabel("For").selectOption("reputation_lookup");
    await page.getByText("No consent is like this").waitFor();
    await expectGood();
    await page.goBack();
    await rows.nth(1).waitFor();
  });

  test("D-9.4.10 a place in the list that is none leads back, and a past expiry is told beside it", async () => {
    const app = await startReputation(backend);
    const as = await Person.signUp(app, "ana");
    await as.consent();
    const address = `${ADDRESS}?cursor=%3Cscript%3E&status=nonsense`;
    const { page, expectGood } = await openConsole(app, as, address);
    await page.getByRole("alert").waitFor();
    await expectGood();
    await page.getByRole("button", { name: "First", exact: true }).click();
    await page.getByRole("cell", { name: "active" }).waitFor();
    // A year of five digits is soon typed.
    await page.getByLabel("Expires").fill("20260-01-01T00:00");
    await page.getByRole("button", { name: "Give", exact: true }).click();
    await page.getByLabel("Expires").and(page.locator("[aria-invalid]:focus")).waitFor();
    await page.getByLabel("Expires").fill("2020-01-01T00:00");
    await page.getByRole("button", { name: "Give", exact: true }).click();
    await page.getByText("Must be in the future").waitFor();
    expect(await page.getByLabel("Expires").inputValue()).toBe("2020-01-01T00:00");
    await expectGood();
  });
});
