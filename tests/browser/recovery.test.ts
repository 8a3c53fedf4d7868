// The service stopped and started again under open pages. D-9.4.
import { expect, test } from "bun:test";
import { startHeldRemote } from "../http/sync-runs/support/held-remote.ts";
import { notes, startRunApp } from "../http/sync-runs/support/run-apps.ts";
import { onConsole, openConsole } from "./support/console-page.ts";

/** What a browser writes when nobody listens, or a reply is cut. */
const expectedErrors = [/^Failed to load resource: net::ERR_/];

onConsole("pages of synchronization", (backend) => {
  test("D-9.4.1 a list and a run under way go on by themselves after the service was away", async () => {
    const remote = await startRunApp({ backend });
    const held = startHeldRemote(remote.url, "/push/");
    const env = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: held.url };
    const first = await startRunApp({ env });
    await first.push("notes", { records: notes(3) });
    const started = await first.trigger({ table: "notes", direction: "push", wait: false });
    await held.reached;
    const as = first.admin;
    const address = `/console/runs/${started.json["run_id"]}`;
    const run = await openConsole(first, as, address, expectedErrors);
    const list = await openConsole(first, as, "/console/runs", expectedErrors);
    await run.page.getByRole("progressbar", { name: "Push of notes" }).waitFor();
    await list.page.getByRole("progressbar", { name: "Push of notes" }).waitFor();
    await first.stop();
    await run.page.getByText("The service cannot be reached").waitFor();
    await list.page.getByText("The service cannot be reached").first().waitFor();
    await list.expectGood();
    const second = await startRunApp({ env: { ...env, PORT: new URL(first.url).port } });
    expect(second.url).toBe(first.url);
    await run.page.getByText("failed", { exact: true }).waitFor();
    await run.page.getByText("The service cannot be reached").waitFor({ state: "detached" });
    await list.page.getByText("failed", { exact: true }).waitFor();
    await list.page.getByText("The service cannot be reached").waitFor({ state: "detached" });
    await run.expectGood();
    await list.expectGood();
    held.release();
  });
});
