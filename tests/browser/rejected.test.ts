// The page `Rejected`: why records were rejected, trying them again, dropping them. D-9.4.
import { expect, test } from "bun:test";
import type { Backend } from "../http/support/backends.ts";
import { TABLES } from "../http/support/tables.ts";
import { startRunApp } from "../http/sync-runs/support/run-apps.ts";
import { onConsole, openConsole } from "./support/console-page.ts";

const ADDRESS = "/console/rejected";
const EVIL = "<script>alert(1)</script>\u202egnp.exe";
const LONG = "x".repeat(10_000);

/** Two ends, of which the remote takes short texts only, after a push of three samples. */
async function startRejected(backend?: Backend) {
  const on = backend === undefined ? {} : { backend };
  const remote = await startRunApp(on);
  const { columns } = TABLES.samples;
  const tables = {
    ...TABLES,
    samples: { ...TABLES.samples, columns: { ...columns, short: { type: "text" } } },
  } as const;
  const local = await startRunApp({ ...on, tables, env: { SYNC_REMOTE_URL: remote.url } });
  const records = ["good", "bad", EVIL].map((name) => sample(name, name === "good" ? "a" : LONG));
  await local.push("samples", { records });
  await local.trigger({ table: "samples", direction: "push" });
  return { local, remote };
}

function sample(name: string, short: string) {
  return { name, short, required: "r", a_bigint: "9007199254740993" };
}

onConsole("the page Rejected", (backend) => {
  test("D-9.4.3 a rejected record says why, is tried again, and is written once it is mended", async () => {
    const { local, remote } = await startRejected(backend);
    const { page, expectGood } = await openConsole(local, local.admin, ADDRESS);
    const row = page.getByRole("row", { name: /bad/ });
    await row.getByText(/short/).waitFor();
    await page.getByText(EVIL).waitFor();
    await expectGood();
    await row.getByRole("link").click();
    await page.getByRole("table", { name: "The record" }).waitFor();
    const value = page.getByRole("row", { name: /^a_bigint/ });
    expect(await value.getByRole("cell").allTextContents()).toEqual(["9007199254740993"]);
    await page.getByRole("button", { name: "Show all 10000 characters" }).click();
    await expectGood();
    await page.reload();
    await page.getByRole("button", { name: "Try again", exact: true }).click();
    await page.getByText("It was rejected again").waitFor();
    await local.push("samples", { records: [sample("bad", "b")] });
    await page.getByRole("button", { name: "Try again", exact: true }).click();
    await page.getByText("It was written", { exact: true }).waitFor();
    await page.getByText("This record waits no more").waitFor();
    await expectGood();
    expect((await remote.rows("samples")).map(({ name }) => name)).toEqual(["bad", "good"]);
  });

  test("D-9.4.3 Drop asks and names the record; the list is filtered by table", async () => {
    const { local } = await startRejected(backend);
    const { page, expectGood } = await openConsole(local, local.admin, ADDRESS);
    const row = page.getByRole("row", { name: /bad/ });
    // Nothing in the name turns the question around.
    await page
      .getByRole("row", { name: /script/ })
      .getByText("Drop", { exact: true })
      .click();
    await page
      .getByText("name=<script>alert(1)</script>\ufffdgnp.exe of “samples”?")
      .waitFor({ timeout: 5_000 });
    await page.getByRole("button", { name: "Back", exact: true }).click();
    await row.getByRole("button", { name: "Drop", exact: true }).click();
    const dialog = page.getByRole("dialog", {
      name: "Drop the rejected record name=bad of “samples”?",
    });
    await dialog.waitFor();
    await expectGood();
    await dialog.getByRole("button", { name: "Back", exact: true }).click();
    await row.getByRole("button", { name: "Drop", exact: true }).click();
    await dialog.getByRole("button", { name: "Drop", exact: true }).click();
    await row.waitFor({ state: "detached" });
    expect(await local.items("/rejected")).toHaveLength(1);
    await page.getByLabel("Table", { exact: true }).selectOption("notes");
    await page.getByText("Nothing of this table was rejected").waitFor();
    expect(page.url()).toContain("table=notes");
    await expectGood();
    await page.reload();
    await page.getByText("Nothing of this table was rejected").waitFor();
    await page.goBack();
    await page.getByText(EVIL).waitFor();
  });

  test("D-9.4.3 a record that is gone is said to be gone", async () => {
    const app = await startRunApp();
    const address = `${ADDRESS}/0000000000000001`;
    const { page, expectGood } = await openConsole(app, app.admin, address);
    await page.getByText("This record waits no more").waitFor();
    await expectGood();
  });
});
