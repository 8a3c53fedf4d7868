// Two tabs of one browser, and what the first page costs it. D-9.1, D-9.3.
import { expect, test } from "bun:test";
import { Person } from "../http/reputation/people.ts";
import { startReputation } from "../http/reputation/reputation-backends.ts";
import { startApp } from "../http/support/sync-app.ts";
import { expectPage, onConsole, openConsole, signIn } from "./support/console-page.ts";
import { watchPage } from "./support/watch-page.ts";

onConsole("tabs", (backend) => {
  test("D-9.3, D-9.4.11 what one tab does the other sees, and signing out ends both", async () => {
    const app = await startReputation(backend);
    const ana = await Person.signUp(app, "ana");
    const address = "/console/consents";
    const first = await openConsole(app, ana, address);
    const second = await first.page.context().newPage();
    watchPage(second, app.url);
    await second.goto(`${app.url}${address}`);
    for (const page of [first.page, second]) await expectPage(page, "Consents");

    await first.page.getByRole("button", { name: "Give", exact: true }).click();
    await first.page.getByRole("button", { name: "Revoke" }).waitFor();
    await second.reload();
    await second.getByRole("button", { name: "Revoke" }).waitFor();

    await second.getByRole("button", { name: "Sign out" }).click();
    await expectPage(second, "Sign in");
    await expectPage(first.page, "Sign in");
    await first.page.getByRole("status").getByText("Your session has ended").waitFor();

    // Somebody else signs in: the page that was open belongs to them now.
    await Person.signUp(app, "bea");
    await signIn(first.page, "bea");
    await expectPage(first.page, "Consents");
    expect(await first.page.getByRole("button", { name: "Revoke" }).count()).toBe(0);
    await second.reload();
    await second.getByText("bea", { exact: true }).first().waitFor();
  });

  test("D-9.3 a tab belongs to whoever has signed in in another one", async () => {
    const app = await startReputation(backend);
    const ana = await Person.signUp(app, "ana");
    await Person.signUp(app, "bea");
    const first = await openConsole(app, ana, "/console/settings");
    const { page } = first;
    await page.getByLabel("Bio").fill("Of ana");
    const second = await page.context().newPage();
    watchPage(second, app.url);
    await second.goto(`${app.url}/console/settings`);
    await second.getByRole("button", { name: "Sign out" }).click();
    await signIn(second, "bea");
    await expectPage(second, "My reputation");

    await page.getByText("bea@example.com").waitFor({ timeout: 5_000 });
    expect(await page.getByText("ana").count()).toBe(0);
    expect(await page.getByLabel("Bio").inputValue()).toBe("");
    await page.getByRole("button", { name: "Erase account" }).click();
    await page.getByText("Erase the account “bea” for good?").waitFor();
  });

  test("D-9.1 the first page takes the browser little time, which is reported", async () => {
    const app = await startApp();
    const { page } = await openConsole(app, null, "/console/sign-in");
    await expectPage(page, "Sign in");
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    await page.reload();
    await expectPage(page, "Sign in");
    const { metrics } = await session.send("Performance.getMetrics");
    const seconds = metrics.find(({ name }) => name === "ScriptDuration")?.value ?? 0;
    expect(seconds).toBeGreaterThan(0);
    console.log(`The console's first page: ${Math.round(seconds * 1000)} ms of script`);
  });
});
