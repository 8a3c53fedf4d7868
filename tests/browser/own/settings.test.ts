// The page of settings: profile, password, sessions, erasure. D-9.4.10, D-8.1, D-8.7.
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { dataOf, jsonBody, PASSWORD, Person } from "../../http/reputation/people.ts";
import { startReputation } from "../../http/reputation/reputation-backends.ts";
import { startProvider } from "../../http/support/start-provider.ts";
import { expectPage, onConsole, openConsole, openFor, signIn } from "../support/console-page.ts";

const ADDRESS = "/console/settings";
const HOSTILE = "<script>alert(1)</script>\u202e<img src=x onerror=alert(1)>";
const NEXT_PASSWORD = "another long password";

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).click();
}

/** Answers the open question by its button. */
async function answer(page: Page, name: string): Promise<void> {
  await page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
}

onConsole("settings", (backend) => {
  test("D-9.4.10 the profile's fields are changed, hostile text stays text, a refusal stands beside it", async () => {
    const { as, page, expectGood } = await openFor(backend, "ana", ADDRESS);
    await expectPage(page, "Settings");
    await page.getByLabel("Display name").fill(HOSTILE);
    await page.getByLabel("Profession").fill("Woodworker");
    await page.getByLabel("Bio").fill("w".repeat(10_001));
    await press(page, "Save");
    await page.locator(".field-error").waitFor();
    await page.getByLabel("Bio").and(page.locator(":focus")).waitFor();
    expect(await page.getByLabel("Display name").inputValue()).toBe(HOSTILE);
    expect((await page.getByLabel("Bio").inputValue()).length).toBe(10_001);
    await expectGood();

    await page.getByLabel("Bio").fill("w".repeat(10_000));
    await page.getByLabel("Public").uncheck();
    await press(page, "Save");
    await page.getByText("Your profile is saved").waitFor();
    await expectGood();
    expect(dataOf(await as.send("/v1/me/profile"))).toMatchObject({
      ...{ display_name: HOSTILE, profession: "Woodworker", location: "", public: false },
      bio: "w".repeat(10_000),
    });
    await page.reload();
    await page.getByLabel("Display name").waitFor();
    expect(await page.getByLabel("Display name").inputValue()).toBe(HOSTILE);
  });

  test("D-9.1 what became of a press is seen where it was made, at 360 px too", async () => {
    const { page } = await openFor(backend, "ana", ADDRESS, [/status of 503/]);
    await page.setViewportSize({ width: 360, height: 400 });
    const yOf = async (text: string) => (await page.getByText(text).boundingBox())?.y ?? -1;
    await page.getByLabel("Bio").fill("Woodworker");
    await press(page, "Save");
    await page.getByText("Your profile is saved").waitFor();
    expect(await yOf("Your profile is saved")).toBeWithin(0, 400);

    const refuse = { status: 503, json: { detail: "The store cannot be reached" } };
    await page.route("**/me/profile", (route) => route.fulfill(refuse));
    await page.getByLabel("Bio").fill("Carpenter");
    await press(page, "Save");
    await page.getByText("The store cannot be reached").waitFor();
    expect(await yOf("The store cannot be reached")).toBeWithin(0, 400);
  });

  test("D-9.4.10 what is typed while the profile is saved stays, and is saved by the next press", async () => {
    const { as, page } = await openFor(backend, "ana", ADDRESS);
    const { promise: isTyped, resolve: goOn } = Promise.withResolvers<void>();
    await page.route("**/me/profile", async (route) => {
      if (route.request().method() === "PATCH") await isTyped;
      await route.continue();
    });
    await page.getByLabel("Profession").fill("Wood");
    await page.getByLabel("Location").fill("Bonn");
    await press(page, "Save");
    await page.getByLabel("Profession").fill("Woodworker");
    goOn();
    await page.getByText("Your profile is saved").waitFor();
    await page.locator("[aria-busy]").waitFor({ state: "detached" });
    expect(await page.getByLabel("Profession").inputValue()).toBe("Woodworker");
    await press(page, "Save");
    await page.locator("[aria-busy]").waitFor({ state: "detached" });
    expect(dataOf(await as.send("/v1/me/profile"))).toMatchObject({
      ...{ profession: "Woodworker", location: "Bonn" },
    });
  });

  test("D-9.4.10, D-8.7 a wrong password is told and kept, the right one changes it and ends other sessions", async () => {
    const app = await startReputation(backend);
    const as = await Person.signUp(app, "ana");
    const other = await Person.signIn(app, "ana");
    const { page, expectGood } = await openConsole(app, as, ADDRESS);
    await page.getByLabel("Current password").fill("not the password");
    await page.getByLabel("New password").fill(NEXT_PASSWORD);
    await press(page, "Change password");
    await page.locator(".field-error").waitFor();
    expect(await page.locator(".field-error").textContent()).toBe("The current password is wrong");
    expect(await page.getByLabel("New password").inputValue()).toBe(NEXT_PASSWORD);
    await expectGood();
    await page.getByLabel("Current password").fill(PASSWORD);
    await press(page, "Change password");
    await page.getByText("Your password is changed").waitFor();
    expect((await other.send("/v1/me")).status).toBe(401);
    expect((await as.send("/v1/me")).status).toBe(200);
    const credentials = jsonBody({ username: "ana", password: NEXT_PASSWORD });
    expect((await app.send("/v1/sessions", credentials)).status).toBe(200);
  });

  test("D-9.4.10 all sessions end, and the account is erased, each after a question", async () => {
    const { app, as, page, expectGood } = await openFor(backend, "ana", ADDRESS);
    await press(page, "End all sessions");
    await expectGood();
    await answer(page, "Back");
    expect((await as.send("/v1/me")).status).toBe(200);
    await press(page, "End all sessions");
    await answer(page, "End all sessions");
    await expectPage(page, "Sign in");
    await page.getByText("All your sessions have ended").waitFor();
    expect((await as.send("/v1/me")).status).toBe(401);
    await expectGood();

    await signIn(page, "ana");
    await expectPage(page, "My reputation");
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    await expectPage(page, "Settings");
    await press(page, "Erase account");
    await page.getByText("Erase the account “ana” for good?").waitFor();
    await expectGood();
    await answer(page, "Back");
    await press(page, "Erase account");
    await answer(page, "Erase account");
    await expectPage(page, "Sign in");
    await page.getByText("Your account has been erased").waitFor();
    const credentials = jsonBody({ username: "ana", password: PASSWORD });
    expect((await app.send("/v1/sessions", credentials)).status).toBe(401);
  });

  test("D-9.4.10 people of an identity provider see that they have no profile and no password here", async () => {
    const provider = await startProvider();
    const app = await startReputation(backend, provider.env);
    const token = await provider.sign({ sub: HOSTILE });
    const { page, expectGood } = await openConsole(app, { token }, ADDRESS);
    await page.getByText("This account has no profile").waitFor();
    await page.getByText(HOSTILE).first().waitFor();
    await page.getByLabel("Current password").fill(PASSWORD);
    await page.getByLabel("New password").fill(NEXT_PASSWORD);
    await press(page, "Change password");
    await page.getByText("This account has no password here").waitFor();
    await expectGood();
    await press(page, "Erase account");
    await expectGood();
    await answer(page, "Back");
  });

  test("D-9.4.10 the last administrator is told why the account stays, in the question", async () => {
    const { as, page, expectGood } = await openFor(backend, "root", ADDRESS);
    await press(page, "Erase account");
    await answer(page, "Erase account");
    await page.getByRole("dialog").getByRole("alert").waitFor();
    await expectGood();
    await answer(page, "Back");
    expect((await as.send("/v1/me")).status).toBe(200);
  });
});
