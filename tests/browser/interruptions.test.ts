// The service stopped and started again under an open page, and a session that ended elsewhere. D-9.4.11.
import { expect, test } from "bun:test";
import { PASSWORD, Person } from "../http/reputation/people.ts";
import { startReputation } from "../http/reputation/reputation-backends.ts";
import { expectPage, onConsole, openConsole, openFor, signIn } from "./support/console-page.ts";

/** The browser's line on a service that is not there. */
const GONE = /^Failed to load resource: net::ERR_/;

onConsole("an open page", (backend) => {
  test("D-9.4.11 a service that comes again is found by itself, and by one press of what was typed", async () => {
    const storageUrl = await backend.makeUrl();
    const store = { ...backend, makeUrl: async () => storageUrl };
    const first = await startReputation(store);
    const as = await Person.signUp(first, "ana");
    const address = "/console/consents";
    const { page, expectGood } = await openConsole(first, as, address, [GONE]);
    await page.getByText("You have given no consent").waitFor();

    await first.stop();
    await page.getByLabel("Expires").fill("2999-01-01T00:00");
    await page.getByRole("button", { name: "Give", exact: true }).click();
    await page.getByText("The service cannot be reached").waitFor();
    expect(await page.getByLabel("Expires").inputValue()).toBe("2999-01-01T00:00");
    await expectGood();
    const { port } = new URL(first.url);
    const second = await startReputation(store, { PORT: port });
    await page.getByRole("button", { name: "Give", exact: true }).click();
    await page.getByRole("cell", { name: "active" }).waitFor();

    await second.stop();
    await page.getByRole("link", { name: "My reputation", exact: true }).click();
    await page.getByText("The service cannot be reached").waitFor();
    await expectGood();
    await startReputation(store, { PORT: port });
    await page.getByText("No verified platform yet").waitFor();
    expect(await page.getByText("The service cannot be reached").count()).toBe(0);
  });

  test("D-9.4.11 a page whose file did not come is asked for again by itself", async () => {
    const { page, expectGood } = await openFor(backend, "root", "/console/usage", [GONE]);
    await expectPage(page, "Usage");
    await page.context().setOffline(true);
    await page.getByRole("link", { name: "Tables", exact: true }).click();
    await page.getByText("This page of the console could not be loaded").waitFor();
    await expectGood();
    await page.context().setOffline(false);
    await page.getByRole("link", { name: "Import a file" }).waitFor({ timeout: 15_000 });
    expect(await page.getByText("could not be loaded").count()).toBe(0);
  });

  test("D-9.4.11 a service that did not say who is signed in is asked again by itself", async () => {
    const { page, expectGood } = await openFor(backend, "ana", "/console/consents", [
      /status of 503/,
    ]);
    // Who is signed in has been said by then.
    await page.getByText("You have given no consent").waitFor();
    await page.clock.install();
    const reply = { status: 503, json: { detail: "The store cannot be reached" } };
    await page.route("**/v1/me", (route) => route.fulfill(reply), { times: 1 });
    await page.reload();
    await page.getByText("The store cannot be reached").waitFor();
    await expectGood();
    await page.clock.fastForward(6_000);
    await page.getByText("You have given no consent").waitFor();
  });

  test("D-9.4.11 a reply that is cut, and a proxy that finds no service, count as a service that is away", async () => {
    const { page } = await openFor(backend, "ana", "/console/usage", [/status of 50/]);
    const replies = [
      { status: 200, body: '{"success": true, "data": {"items": [' },
      { status: 502, body: "<h1>Bad Gateway</h1>" },
      { status: 504, body: "null" },
    ];
    for (const reply of replies) {
      await page.getByRole("link", { name: "Usage", exact: true }).click();
      await expectPage(page, "Usage");
      await page.route("**/me/consents*", (route) => route.fulfill(reply), { times: 1 });
      await page.getByRole("link", { name: "Consents", exact: true }).click();
      await page.getByText("The service cannot be reached").waitFor({ timeout: 4_000 });
    }
    await page.getByText("You have given no consent").waitFor();
    expect(await page.getByText("The service cannot be reached").count()).toBe(0);
  });

  test("D-9.4.11 a service that does not answer is told after 30 seconds, and asked again by one press", async () => {
    const { page, expectGood } = await openFor(backend, "root", "/console/usage");
    await expectPage(page, "Usage");
    await page.clock.install();
    const asked: string[] = [];
    /** Opens a way to the service that gives no answer; the other way again once it is left. */
    const hold = async (path: string, press: () => Promise<void>) => {
      await page.route(path, (route) => void asked.push(route.request().url()));
      const request = page.waitForRequest(path);
      await press();
      await request;
      await page.clock.fastForward(29_000);
      expect(await page.getByText("has not answered").count()).toBe(0);
      await page.clock.fastForward(2_000);
      await page.getByText("The service has not answered for 30 seconds").waitFor();
      await page.unroute(path);
    };
    const press = (name: string) => page.getByRole("button", { name, exact: true }).click();

    await hold("**/me/consents*", () =>
      page.getByRole("link", { name: "Consents", exact: true }).click(),
    );
    await expectGood();
    await press("Try again");
    await page.getByText("You have given no consent").waitFor();

    await page.getByLabel("Expires").fill("2999-01-01T00:00");
    await hold("**/me/consents", () => press("Give"));
    expect(await page.getByLabel("Expires").inputValue()).toBe("2999-01-01T00:00");
    await press("Give");
    await page.getByRole("cell", { name: "active" }).waitFor();

    await page.getByRole("link", { name: "Audit", exact: true }).click();
    await hold("**/audit/verify", () => press("Verify"));
    await press("Verify");
    await page.getByText("whole", { exact: true }).waitFor();
    expect(asked).toHaveLength(3);

    await page.route("**/chunk-*.js", () => {});
    const file = page.waitForRequest("**/chunk-*.js");
    await page.getByRole("link", { name: "Tables", exact: true }).click();
    await file;
    await page.clock.fastForward(31_000);
    await page.getByText("This page of the console could not be loaded").waitFor();
    await page.getByRole("button", { name: "Try again", exact: true }).waitFor();
  });

  test("D-9.4.11 what fails once its question is closed, or its page is left, is told", async () => {
    const { page } = await openFor(backend, "ana", "/console/settings", [/status of 503/]);
    const refuse = { status: 503, json: { detail: "The store cannot be reached" } };
    const answers: (() => void)[] = [];
    for (const path of ["**/v1/sessions", "**/v1/me/password"]) {
      await page.route(path, async (route) => {
        await new Promise<void>((resolve) => answers.push(resolve));
        await route.fulfill(refuse);
      });
    }
    const told = page.getByRole("status").getByText("Not done: The store cannot be reached");
    const end = page.getByRole("button", { name: "End all sessions", exact: true });
    await end.click();
    const asked = page.waitForRequest("**/v1/sessions");
    await page.getByRole("dialog").getByRole("button", { name: "End all sessions" }).click();
    await asked;
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    answers.pop()?.();
    await told.waitFor({ timeout: 5_000 });

    await page.getByLabel("Current password").fill(PASSWORD);
    await page.getByLabel("New password").fill("another password");
    const sent = page.waitForRequest("**/v1/me/password");
    await page.getByRole("button", { name: "Change password" }).click();
    await sent;
    await page.getByRole("link", { name: "Usage", exact: true }).click();
    await expectPage(page, "Usage");
    await told.waitFor({ state: "detached" });
    answers.pop()?.();
    await told.waitFor({ timeout: 5_000 });
  });

  test("D-9.4.11 a press after the session ended elsewhere leads to signing in, and back", async () => {
    const app = await startReputation(backend);
    const as = await Person.signUp(app, "ana");
    await as.consent();
    const address = "/console/consents?status=active";
    const { page, expectGood } = await openConsole(app, as, address);
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await as.send("/v1/sessions", { method: "DELETE" });
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Revoke", exact: true }).click();
    await expectPage(page, "Sign in");
    await page.getByRole("status").getByText("Your session has ended").waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Sign in");
    await expectGood();
    await signIn(page, "ana");
    await expectPage(page, "Consents");
    expect(await page.getByLabel("Status").inputValue()).toBe("active");
    await page.getByRole("cell", { name: "active" }).waitFor();
  });
});
