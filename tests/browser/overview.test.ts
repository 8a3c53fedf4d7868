// The page `Overview`: what an administrator sees first. D-9.4.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { notes, startPair, startRunApp } from "../http/sync-runs/support/run-apps.ts";
import { pollUntil } from "../support/time/poll-until.ts";
import { onConsole, openConsole } from "./support/console-page.ts";

const ADDRESS = "/console/overview";

onConsole("the page Overview", (backend) => {
  test("D-9.4.5 it shows both ends of each table, drift, the last run and what was moved", async () => {
    const env = { SYNC_SCHEDULE: "0 3 1 1 *" };
    const { local, remote } = await startPair({ backend, env });
    await local.push("notes", { records: notes(5) });
    await local.trigger({ table: "notes", direction: "push" });
    await remote.push("notes", { records: notes(2, "there") });
    // What was moved is written down a little later, and the page asks rarely.
    await pollUntil("the rows to be counted", async () => {
      const { history } = (await local.ask("/overview")).json as { history: { minutes: [] } };
      return history.minutes.length > 0;
    });
    const { page, expectGood } = await openConsole(local, local.admin, ADDRESS);
    const row = page.getByRole("row", { name: /^notes/ });
    await row.getByRole("link", { name: "-2, compare notes" }).waitFor();
    await row.getByRole("cell", { name: /^\d[\d.]* (?:ms|s|min)/ }).waitFor();
    await page.getByText("reachable", { exact: true }).waitFor();
    await page.getByText(/Next run at/).waitFor();
    await page.getByText(/^Rows moved: [\d,]+ in all$/).waitFor();
    await page.getByText("Show as a table").first().click();
    await page.getByRole("table", { name: /Rows moved/ }).waitFor();
    await expectGood();
    await page.getByLabel("Span", { exact: true }).selectOption("hours");
    expect(page.url()).toContain("span=hours");
    await page.reload();
    await page.getByText(/^Rows moved: [\d,]+ in all$/).waitFor();
    await expectGood();
    await row.getByRole("link").last().click();
    await page.waitForURL(/\/console\/runs\/[^/?]+$/);
  });

  test("D-14.9.3 a table with equal ends is up to date, however old its rows are, and others are not", async () => {
    const { local } = await startPair();
    const records = [{ name: "v", at: "2020-01-01T00:00:00Z" }];
    await local.push("versions", { records });
    await local.trigger({ table: "versions", direction: "push" });
    const { page } = await openConsole(local, local.admin, ADDRESS);
    const cell = (table: RegExp, text: string) =>
      page.getByRole("row", { name: table }).getByRole("cell", { name: text, exact: true });
    await cell(/^versions/, "up to date").waitFor();
    expect(await cell(/^days/, "up to date").count()).toBe(0);
  });

  test("D-9.4.5 without a remote and a schedule, and with sync disabled, it says what to set", async () => {
    const app = await startRunApp({ env: { SYNC_ENABLED: "false" } });
    const { page, expectGood } = await openConsole(app, app.admin, ADDRESS);
    for (const setting of ["SYNC_ENABLED=true", "SYNC_REMOTE_URL", "SYNC_SCHEDULE"]) {
      await page.getByText(setting, { exact: true }).waitFor();
    }
    await expectGood();
  });

  test("D-14.6 a registry file that cannot be taken up is told, with its problem", async () => {
    const app = await startRunApp();
    writeFileSync(app.tablesFile, '{"tables": ');
    await app.lookAtRegistry();
    const { page, expectGood } = await openConsole(app, app.admin, ADDRESS);
    const note = page.getByRole("alert");
    await note.getByText(/cannot be taken up/).waitFor();
    await note.getByText(/is not JSON: line 1, column 12/).waitFor();
    await expectGood();
  });

  test("D-9.4.5 a remote out of reach is told, with what to check", async () => {
    const app = await startRunApp({ env: { SYNC_REMOTE_URL: "http://127.0.0.1:9" } });
    const { page, expectGood } = await openConsole(app, app.admin, ADDRESS);
    await page.getByText("out of reach", { exact: true }).waitFor();
    await expectGood();
  });
});
