// The frame of the console: navigation, addresses, Back, who sees what. D-9.1, D-9.3.
import { expect, test } from "bun:test";
import { expectPage, onConsole, openFor } from "./support/console-page.ts";

const OPERATORS = ["Overview", "Tables", "Runs", "Rejected", "Compare", "Accounts", "Audit"];
const EVERYBODY = ["My reputation", "Consents", "Accesses", "API keys", "Usage", "Settings"];

onConsole("the console", (backend) => {
  test("D-9.1 an administrator reaches every page by its link, and each is good", async () => {
    const { page, expectGood } = await openFor(backend, "root");
    await expectPage(page, "Overview");
    const links = page.getByRole("navigation").getByRole("link");
    expect(await links.allTextContents()).toEqual([...OPERATORS, ...EVERYBODY]);
    for (const name of [...OPERATORS, ...EVERYBODY]) {
      await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
      await expectPage(page, name);
      expect(await page.getByRole("heading", { level: 1 }).count()).toBe(1);
      await expectGood();
    }
  });

  test("D-9.3 a person who opens a page for administrators reads that it is", async () => {
    const { app, page, expectGood } = await openFor(backend, "ana");
    await expectPage(page, "My reputation");
    for (const name of OPERATORS) {
      await page.goto(`${app.url}/console/${name.toLowerCase()}`);
      await expectPage(page, name);
      await page.getByText("This page is for administrators").waitFor();
      expect(await page.getByRole("navigation").getByRole("link").allTextContents()).toEqual(
        EVERYBODY,
      );
      if (name === "Overview") await expectGood();
    }
  });

  test("D-9.1 an unknown page says so, and leads on", async () => {
    const { page, expectGood } = await openFor(backend, "root", "/console/nowhere");
    await expectPage(page, "Page not found");
    await expectGood();
    await page.getByRole("link", { name: "Go to the first page" }).click();
    await expectPage(page, "Overview");
  });

  test("D-9.1 Back, Forward and reload lead where they led, with the focus on the heading", async () => {
    const { page } = await openFor(backend, "root");
    await expectPage(page, "Overview");
    for (const name of ["Runs", "Usage"]) {
      // By keyboard, as a link is followed.
      await page.getByRole("link", { name, exact: true }).press("Enter");
      await expectPage(page, name);
      expect(await page.evaluate("document.activeElement.textContent")).toBe(name);
    }
    await page.goBack();
    await expectPage(page, "Runs");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Runs");
    await page.goForward();
    await expectPage(page, "Usage");
    await page.reload();
    await expectPage(page, "Usage");
    expect(await page.title()).toBe("Usage · repsync");
    await page.goBack();
    await page.goBack();
    await expectPage(page, "Overview");
  });

  test("D-9.1 the first key leads past the navigation", async () => {
    const { page } = await openFor(backend, "root");
    await expectPage(page, "Overview");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("content");
    await expectPage(page, "Overview");
  });
});
