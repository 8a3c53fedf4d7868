// The pages Accounts and Audit. D-9.4.7, D-8.8.
import { expect, test } from "bun:test";
import { readKeptHeads } from "../../src/domain/reputation/audit/kept-heads.ts";
import { dataOf, jsonBody, lookUp, Person } from "../http/reputation/people.ts";
import { startReputation } from "../http/reputation/reputation-backends.ts";
import { expectPage, onConsole, openConsole, openFor } from "./support/console-page.ts";

onConsole("administration in the console", (backend) => {
  test("D-9.4.7 an administrator finds an account, changes its plan, suspends, restores and erases it", async () => {
    const app = await startReputation(backend);
    const root = await Person.signIn(app, "root");
    const shop = await Person.signUp(app, "shop");
    const key = await shop.issueKey();
    for (const name of ["ana", "anabel"]) await Person.signUp(app, name);
    const refusal = async () => (await lookUp(app, key, { username: "x" })).json["code"];
    const { page, expectGood } = await openConsole(app, root, "/console/accounts");
    await expectPage(page, "Accounts");
    const row = (name: string) => page.getByRole("row").filter({ hasText: `${name}@example.com` });
    const button = (name: string) => row("shop").getByRole("button", { name });
    const dialog = page.getByRole("dialog");
    const confirm = (name: string) => dialog.getByRole("button", { name, exact: true }).click();
    await row("shop").waitFor();
    await expectGood();

    await page.getByLabel("Name or e-mail address").fill("SHOP@");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.waitForURL(/query=SHOP/);
    await row("ana").waitFor({ state: "detached" });
    await page.reload();
    expect(await page.getByLabel("Name or e-mail address").inputValue()).toBe("SHOP@");

    await button("Change plan").click();
    await dialog.getByLabel("Plan").selectOption("business");
    await expectGood();
    await confirm("Change plan");
    await row("shop").getByRole("cell", { name: "business", exact: true }).waitFor();

    await button("Change plan").click();
    await dialog.getByLabel("Plan").selectOption("enterprise");
    await dialog.getByLabel("Calls per month").fill("5000");
    await confirm("Change plan");
    await row("shop").getByRole("cell", { name: "enterprise", exact: true }).waitFor();
    await button("Change plan").click();
    expect(await dialog.getByLabel("Calls per month").inputValue()).toBe("5000");
    expect(await dialog.getByLabel("Calls per minute").inputValue()).toBe("6000");
    await expectGood();
    await confirm("Change plan");
    await dialog.waitFor({ state: "detached" });
    const { usage } = dataOf(await root.send("/v1/admin/accounts/shop"));
    expect(usage).toMatchObject({ plan: "enterprise", month: { limit: 5_000 } });

    await button("Suspend").click();
    await dialog.getByRole("button", { name: "Back" }).click();
    expect(await refusal()).toBe("profile_not_found");
    await button("Suspend").click();
    await confirm("Suspend");
    await row("shop").getByText("suspended").waitFor();
    expect(await refusal()).toBe("account_suspended");
    await button("Restore").click();
    await confirm("Restore");
    await row("shop").getByText("active").waitFor();
    expect(await refusal()).toBe("profile_not_found");

    await row("shop").getByRole("link", { name: "shop" }).click();
    await expectPage(page, "Accounts");
    await page.getByText("2 of").first().waitFor();
    await expectGood();
    await page.getByLabel("New password").fill("another password");
    await page.getByRole("button", { name: "Set password" }).click();
    await page.getByText("is signed out everywhere").waitFor();
    expect((await shop.send("/v1/me")).status).toBe(401);
    await page.getByRole("button", { name: "Erase" }).click();
    await confirm("Erase");
    await page.waitForURL(/\/console\/accounts$/);
    await page.getByRole("status").getByText("shop is erased").waitFor({ timeout: 5_000 });
    expect(await refusal()).toBe("api_key_invalid");
    await row("root").waitFor({ state: "detached" });
    await page.getByLabel("Erased name", { exact: true }).fill("shop");
    await page.getByRole("button", { name: "Release" }).click();
    await page.getByText("shop is free").waitFor();
    await page.getByLabel("Erased name", { exact: true }).fill("shop");
    await page.getByRole("button", { name: "Release" }).click();
    await page.getByText("No erased account holds this name").waitFor();
    expect(await page.getByLabel("Erased name", { exact: true }).inputValue()).toBe("shop");
  });

  test("D-9.4.7 nobody suspends or erases themselves among the accounts", async () => {
    const { page } = await openFor(backend, "root", "/console/accounts");
    const row = page.getByRole("row").filter({ hasText: "administrator" });
    await row.getByRole("button", { name: "Change plan" }).waitFor();
    expect(await row.getByRole("button").allTextContents()).toEqual(["Change plan"]);
  });

  test("D-9.4.7 the audit log is verified, and its records are found by account", async () => {
    const app = await startReputation(backend);
    const root = await Person.signIn(app, "root");
    const ana = await Person.signUp(app, "ana");
    await ana.consent();
    const shop = await Person.signUp(app, "shop");
    const key = await shop.issueKey();
    for (const username of ["ana", "nobody"]) await lookUp(app, key, { username });
    const plan = jsonBody({ plan: "business" }, "PUT");
    expect(dataOf(await root.send("/v1/admin/accounts/shop/plan", plan))["plan"]).toBe("business");

    const { page, expectGood } = await openConsole(app, root, "/console/audit");
    await expectPage(page, "Audit");
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText("3 records in 2 chains").waitFor();
    await page.getByText("Heads", { exact: true }).click();
    await page.getByRole("table", { name: "Heads of the chains" }).waitFor();
    const saving = page.waitForEvent("download");
    await page.getByRole("link", { name: "Save as file" }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe("audit-heads.json");
    const kept = readKeptHeads(await Bun.file(await saved.path()).text());
    expect(kept.map(({ statement }) => statement.seq).sort()).toEqual([1, 2]);
    const records = page.getByRole("table", { name: "Records of the audit log" });
    expect(await records.getByRole("row").count()).toBe(4);
    await expectGood();

    await page.getByLabel("Account").fill("ana");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.waitForURL(/account=ana/);
    await records.getByRole("cell", { name: "ana", exact: true }).waitFor();
    expect(await records.getByRole("row").count()).toBe(2);
    await page.getByLabel("Until").fill("2020-01-01T00:00");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.getByText("No record is found here").waitFor();
    await expectGood();
    await page.getByLabel("Until").fill("12020-01-01T00:00");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    const refusal = page.getByRole("alert").getByText("until: Must be an ISO 8601 date and time");
    await refusal.waitFor();
    await page.goBack();
    await refusal.waitFor({ state: "detached" });
    await page.goBack();
    await records.getByRole("cell", { name: "ana", exact: true }).waitFor();
  });

  test("D-9.4.7 a verification under way is cancelled, and the button keeps the focus", async () => {
    const { page } = await openFor(backend, "root", "/console/audit");
    // It tells nothing.
    await page.route("**/audit/verify", () => {});
    await page.getByRole("button", { name: "Verify", exact: true }).press("Enter");
    await page.getByRole("progressbar", { name: "Verifying" }).waitFor();
    await page.getByRole("button", { name: "Cancel", exact: true }).click({ timeout: 5_000 });
    const verify = page.getByRole("button", { name: "Verify", exact: true });
    await verify.and(page.locator(":focus")).waitFor();
    await page.unroute("**/audit/verify");
    await verify.press("Enter");
    await page.getByText("0 records in 0 chains").waitFor();
  });

  test("D-9.4.7 hostile names are text", async () => {
    const name = encodeURIComponent("<script>alert(1)</script>\u202eeman");
    const { page, expectGood } = await openFor(backend, "root", `/console/accounts/${name}`);
    await expectPage(page, "Accounts");
    await page.getByText("There is no such account").waitFor();
    await expectGood();
  });
});
