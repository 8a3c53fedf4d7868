// Two runs of one table and direction at the same time, over instances that share a store.
import { describe, expect, test } from "bun:test";
import { pollUntil } from "../../support/time/poll-until.ts";
import { onEveryBackend, SQLITE_FILE } from "../support/backends.ts";
import { fastTime } from "../support/fast-time.ts";
import { startHeldRemote } from "./support/held-remote.ts";
import { startRunApp } from "./support/run-apps.ts";

/** A remote with one note, which answers pulls only after `release`. */
async function startRemote() {
  const remote = await startRunApp();
  await remote.push("notes", { records: [{ name: "a", body: "b" }] });
  return startHeldRemote(remote.url, "/pull/");
}

onEveryBackend("two instances", (backend) => {
  test("D-4.8 a second run waits for the one in its way, and then runs", async () => {
    const remote = await startRemote();
    const storage = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: remote.url };
    const first = await startRunApp({ env: storage });
    const second = await startRunApp({ env: storage });
    const body = { table: "notes", direction: "pull" };
    const running = first.trigger(body);
    await pollUntil("the first run", async () => (await first.items("/runs")).length === 1);
    const waiting = second.trigger(body);
    await pollUntil("the second run", async () => (await second.items("/runs")).length === 2);
    remote.release();
    for (const reply of await Promise.all([running, waiting])) {
      expect([reply.status, reply.json["total_pulled"]]).toEqual([200, 1]);
    }
    // Both are in the one list, whichever instance is asked.
    expect(await second.items("/runs")).toEqual(await first.items("/runs"));
  });
});

describe("a run in the way", () => {
  test("D-4.8 makes the second fail after 10 s, which names it; other tables and directions go on", async () => {
    const remote = await startRemote();
    const storage = { STORAGE_URL: await SQLITE_FILE.makeUrl(), SYNC_REMOTE_URL: remote.url };
    const time = fastTime(8);
    const first = await startRunApp({ env: storage, time });
    const second = await startRunApp({ env: storage, time });
    const running = first.trigger({ table: "notes", direction: "pull" });
    await pollUntil("the first run", async () => (await first.items("/runs")).length === 1);
    const [{ run_id: runId } = {}] = await first.items("/runs");
    const free = await second.trigger({ table: "notes", direction: "push" });
    expect(free.status).toBe(200);
    const dry = second.trigger({ table: "notes", direction: "pull", dry_run: true });
    const startedAtMs = time.clock.monotonicMs();
    const refused = await second.trigger({ table: "notes", direction: "pull" });
    expect(time.clock.monotonicMs() - startedAtMs).toBeGreaterThanOrEqual(10_000);
    expect([refused.status, refused.json["type"]]).toEqual([500, "sync_error"]);
    expect(String(refused.json["error"])).toContain(String(runId));
    const events = await second.stream({ table: "notes", direction: "pull" });
    expect(events.map(({ type }) => type)).toEqual(["error", "finished"]);
    expect(String(events[0]?.["error"])).toContain(String(runId));
    remote.release();
    expect((await running).status).toBe(200);
    expect((await dry).status).toBe(200);
  });
});
