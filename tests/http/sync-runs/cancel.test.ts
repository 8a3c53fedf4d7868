// Runs and comparisons that somebody ends, on whichever instance they are.
import { expect, test } from "bun:test";
import { pollUntil } from "../../support/time/poll-until.ts";
import { jsonBody } from "../reputation/people.ts";
import { onOneBackend } from "../support/backends.ts";
import { startHeldRemote } from "./support/held-remote.ts";
import { notes, type RunApp, startRunApp } from "./support/run-apps.ts";

/** Waits for the one run that is going on, and gives its id. */
async function runUnderWay(app: RunApp): Promise<string> {
  let id = "";
  await pollUntil("the run", async () => {
    const [run] = await app.items("/runs");
    id = String(run?.["run_id"] ?? "");
    return run?.["status"] === "running";
  });
  return id;
}

const cancel = (app: RunApp, id: string) => app.ask(`/runs/${id}/cancel`, { method: "POST" });

onOneBackend("cancelling", (backend) => {
  test.each(["the same", "another"] as const)(
    "D-7.8 cancel() on %s instance ends a run before its next write",
    async (where) => {
      const remote = await startRunApp();
      await remote.push("notes", { records: notes(5) });
      const held = startHeldRemote(remote.url, "/pull/notes");
      const env = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: held.url };
      const first = await startRunApp({ env });
      const asked = where === "the same" ? first : await startRunApp({ env });
      const running = first.trigger({ table: "notes", direction: "pull" });
      await held.reached;
      const id = await runUnderWay(asked);
      const reply = await cancel(asked, id);
      expect(reply.status).toBe(200);
      expect(reply.json).toMatchObject({
        ...{ run_id: id, kind: "sync", status: "failed", error: "Cancelled by root" },
      });
      expect(await (await asked.ask(`/runs/${id}`)).json).toEqual(reply.json);
      const ended = await running;
      expect([ended.status, ended.json]).toEqual([
        500,
        { error: "Cancelled by root", type: "sync_error" },
      ]);
      held.release();
      expect(await first.rows("notes")).toEqual([]);
      const again = await cancel(asked, id);
      expect([again.status, again.json]).toEqual([
        409,
        { error: "The run has ended before, as failed" },
      ]);
      const next = await first.trigger({ table: "notes", direction: "pull" });
      expect([next.status, next.json["total_pulled"]]).toEqual([200, 5]);
    },
  );

  test("D-7.8 cancel() ends a comparison that repairs, before it writes", async () => {
    const remote = await startRunApp();
    const held = startHeldRemote(remote.url, "/push/notes");
    const env = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: held.url };
    const local = await startRunApp({ env });
    await local.push("notes", { records: notes(5) });
    const comparing = local.ask("/compare", jsonBody({ table: "notes", repair: "push" }));
    await held.reached;
    const id = await runUnderWay(local);
    expect((await cancel(local, id)).json).toMatchObject({
      ...{ run_id: id, kind: "compare", table: "notes", repair: "push", status: "failed" },
      error: "Cancelled by root",
    });
    const ended = await comparing;
    expect([ended.status, ended.json]).toEqual([
      500,
      { error: "Cancelled by root", type: "sync_error" },
    ]);
  });
});

onOneBackend("cancelling what is not there", (backend) => {
  test("D-7.8 cancel() of an unknown run is 404, and only for administrators", async () => {
    const local = await startRunApp({ env: { STORAGE_URL: await backend.makeUrl() } });
    const unknown = await cancel(local, "00000000-0000-4000-8000-000000000000");
    expect([unknown.status, Object.keys(unknown.json)]).toEqual([404, ["error"]]);
    const path = "/api/v1/sync/runs/00000000-0000-4000-8000-000000000000/cancel";
    expect((await local.send(path, { method: "POST" })).status).toBe(401);
  });
});
