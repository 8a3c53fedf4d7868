// Signing in, up and out in the console, and what becomes of the page that was asked for. D-9.3.
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { ADMIN_ENV, PASSWORD } from "../http/reputation/people.ts";
import { startReputation } from "../http/reputation/reputation-backends.ts";
import { startApp } from "../http/support/sync-app.ts";
import { expectPage, onConsole, openConsole, openFor, signIn } from "./support/console-page.ts";

async function fillIn(page: Page, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, value] of Object.entries(values)) {
    await page.getByLabel(label, { exact: true }).fill(value);
  }
}

onConsole("signing in", (backend) => {
  test("D-9.3 somebody signs up, is signed in, signs out, and signs in again", async () => {
    const app = await startReputation(backend);
    const { page, expectGood } = await openConsole(app);
    await expectPage(page, "Sign in");
    await expectGood();
    await page.getByRole("link", { name: "Sign up" }).click();
    await expectPage(page, "Sign up");
    await expectGood();
    await fillIn(page, { Username: "Ana", Email: "ana@example.com", Password: "short" });
    await page.getByRole("button", { name: "Sign up" }).click();
    await page.getByText("Must be 1 to 40 characters of a-z").waitFor();
    await expectGood();
    // What was typed is still there.
    expect(await page.getByLabel("Email").inputValue()).toBe("ana@example.com");
    await fillIn(page, { Username: "ana", Password: PASSWORD });
    await page.getByRole("button", { name: "Sign up" }).click();
    await expectPage(page, "My reputation");
    expect(await page.getByRole("navigation").getByRole("link").allTextContents()).toEqual([
      ...["My reputation", "Consents", "Accesses", "API keys", "Usage", "Settings"],
    ]);
    await page.getByRole("button", { name: "Sign out" }).click();
    await expectPage(page, "Sign in");
    expect(await page.context().cookies()).toEqual([]);
    await signIn(page, "ana");
    await expectPage(page, "My reputation");
  });

  test("D-9.3 an account that was made, and could not be signed in, leads to signing in", async () => {
    const app = await startApp();
    const { page, expectGood } = await openConsole(
      app,
      null,
      "/console/sign-up?next=/console/usage",
      [/status of 503/],
    );
    const refuse = { status: 503, json: { detail: "The store cannot be reached" } };
    await page.route("**/v1/sessions", (route) => route.fulfill(refuse), { times: 1 });
    await fillIn(page, { Username: "ana", Email: "ana@example.com", Password: PASSWORD });
    await page.getByRole("button", { name: "Sign up" }).click();
    await page.getByText("Your account was made. Sign in").waitFor();
    await expectPage(page, "Sign in");
    await expectGood();
    await signIn(page, "ana");
    await expectPage(page, "Usage");
  });

  test("D-9.3 a wrong password is told, and what was typed stays", async () => {
    const app = await startApp({ env: ADMIN_ENV });
    const { page, expectGood } = await openConsole(app, null, "/console/sign-in");
    await signIn(page, "root", "not the password");
    await page.getByRole("alert").getByText("Username or password is wrong").waitFor();
    await expectGood();
    expect(await page.getByLabel("Username").inputValue()).toBe("root");
    await signIn(page);
    await expectPage(page, "Overview");
  });

  test("D-9.3 after signing in the page that was asked for opens, with its filter", async () => {
    const app = await startApp({ env: ADMIN_ENV });
    const address = "/console/tables/profiles?key=ana%26";
    const { page } = await openConsole(app, null, address);
    await expectPage(page, "Sign in");
    await signIn(page);
    await expectPage(page, "Tables");
    expect(page.url()).toBe(app.url + address);
    // Back does not lead to the page for signing in.
    await page.getByRole("link", { name: "Runs", exact: true }).click();
    await expectPage(page, "Runs");
    await page.goBack();
    await expectPage(page, "Tables");
    expect(page.url()).toBe(app.url + address);
  });

  const ELSEWHERE = [
    "https://evil.example/console",
    "//evil.example/console",
    "/\\evil.example/console",
    "javascript:alert(1)",
    "/swagger",
    "/console/../swagger",
    "/consoles",
    "/console/sign-in?next=/console/runs",
    "http://[",
  ];
  test("D-9.3 after signing in nothing opens elsewhere", async () => {
    const { app, page } = await openFor(backend, "root", "/console/runs");
    await expectPage(page, "Runs");
    for (const next of ELSEWHERE) {
      await page.goto(`${app.url}/console/sign-in?${new URLSearchParams({ next })}`);
      await page.waitForURL((url) => url.pathname !== "/console/sign-in");
      await expectPage(page, "Overview");
      expect([next, page.url()]).toEqual([next, `${app.url}/console/overview`]);
    }
  });

  test("D-9.3, D-9.4.1 a session that ended elsewhere leads to signing in by itself, and back", async () => {
    const { app, as, page } = await openFor(backend, "root", "/console/runs?status=failed");
    await expectPage(page, "Runs");
    const ended = await as.send("/v1/sessions/current", { method: "DELETE" });
    expect(ended.status).toBe(200);
    await expectPage(page, "Sign in");
    await signIn(page);
    await expectPage(page, "Runs");
    expect(page.url()).toBe(`${app.url}/console/runs?status=failed`);
  });

  test("D-9.3 the page says who else can sign in, and how there is an administrator", async () => {
    const provider = { JWT_JWKS_URL: "http://127.0.0.1:9/keys", JWT_AUDIENCE: "a" };
    const env = { ...provider, JWT_ISSUER: "https://id.example/", SIGNUP_ENABLED: "false" };
    const app = await startApp({ env });
    const { page, expectGood } = await openConsole(app, null, "/console/sign-in");
    await page.getByText("repsync admin create NAME").waitFor();
    await page.getByText("https://id.example/").waitFor();
    expect(await page.getByRole("link", { name: "Sign up" }).count()).toBe(0);
    await expectGood();
    await page.goto(`${app.url}/console/sign-up`);
    await page.getByText("Signing up is disabled here").waitFor();
    await expectGood();
  });
});
