// The frame of the console: navigation, addresses, Back, who sees what. D-9.1, D-9.3.
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Person } from "../http/reputation/people.ts";
import {
  onEveryReputationBackend,
  startReputation,
} from "../http/reputation/reputation-backends.ts";
import { releaseResources } from "../http/support/resources.ts";
import { chromiumAvailable } from "../support/browser.ts";
import { expectPage, openConsole } from "./console-page.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

const OPERATORS = ["Overview", "Tables", "Runs", "Rejected", "Compare", "Accounts", "Audit"];
const EVERYBODY = ["My reputation", "Consents", "Accesses", "API keys", "Usage", "Settings"];

describe.skipIf(!chromiumAvailable)("the console", () => {
  onEveryReputationBackend("every page", (backend) => {
    test("D-9.1 an administrator reaches every page by its link, and each is good", async () => {
      const app = await startReputation(backend);
      const as = await Person.signIn(app, "root");
      const { page, expectGood } = await openConsole(app, { as });
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
  });
});
