// How synchronization is doing, at a glance.

import { expect, test } from "bun:test";
import { withoutCredentials } from "../../../src/usecases/operations/read-overview.ts";
import { nextMillisecond } from "../../support/time/next-millisecond.ts";
import { pollUntil } from "../../support/time/poll-until.ts";
import { ADMIN_ENV, lookUp, Person } from "../reputation/people.ts";
import { onOneBackend } from "../support/backends.ts";
import { fastTime } from "../support/fast-time.ts";
import { passOn, serveLocally } from "../support/serve-locally.ts";
import { type JsonFields, startApp } from "../support/sync-app.ts";
import { notes, type RunApp, SYNC, startPair, startRunApp } from "./support/run-apps.ts";

async function tableOf(app: RunApp, name: string) {
  const { json } = await app.ask("/overview");
  return (json["tables"] as JsonFields[]).find(({ table }) => table === name);
}

/** Sums of the minutes of the history. */
async function traffic(app: RunApp) {
  const { history } = (await app.ask("/overview")).json as {
    history: { minutes: { rows: number; lookups: number }[] };
  };
  const sum = (field: "rows" | "lookups") =>
    history.minutes.reduce((total, minute) => total + minute[field], 0);
  return [sum("rows"), sum("lookups")];
}

onOneBackend("overview()", (backend) => {
  test("D-9.5.5 overview() tells tables, drift, lag and last runs", async () => {
    const remote = await startRunApp();
    await remote.push("notes", { records: notes(3) });
    const env = { SYNC_REMOTE_URL: remote.url, SYNC_SCHEDULE: "0 4 * * *" };
    const local = await startRunApp({ backend, env });
    const record = { name: "v", at: "2026-01-01T00:00:00Z" };
    await local.push("versions", { records: [record] });
    await local.trigger({ table: "versions", direction: "push" });
    const { json: run } = await local.trigger({ table: "notes", direction: "pull" });
    await local.ask("/compare", { method: "POST", body: '{"table":"notes"}' });
    await local.push("notes", { records: notes(2, "own") });
    const { json } = await local.ask("/overview");
    expect(json).toMatchObject({
      health: { status: "ok", db: "ok" },
      sync_enabled: true,
      remote: { url: remote.url, reachable: true, error: null },
      schedule: { cron: "0 4 * * *", next_at: expect.stringMatching(/T\d\d:00:00Z$/) },
    });
    expect(await tableOf(local, "notes")).toEqual({
      ...{ table: "notes", rows_here: 5, rows_there: 3, drift: 2 },
      behind_seconds: expect.any(Number),
      marker_lag_seconds: { push: null, pull: null },
      last_run: {
        ...{ run_id: run["run_id"], status: "success", direction: "pull", trigger: "api" },
        ...{ started_at: run["started_at"], finished_at: run["finished_at"] },
      },
    });
    const versions = await tableOf(local, "versions");
    // The age of its newest row is no lag: both ends are equal.
    expect(versions).toMatchObject({
      rows_here: 1,
      behind_seconds: 0,
      marker_lag_seconds: { pull: null },
    });
    const { push } = Object(versions?.["marker_lag_seconds"]) as { push: number };
    expect(push).toBeGreaterThan(86_400);
    expect(await tableOf(local, "days")).toMatchObject({
      ...{ rows_here: 0, behind_seconds: null, last_run: null },
    });
  });

  test("D-14.9.3 a table is up to date that was equal when it was last run or compared, and unchanged since", async () => {
    const remote = await startRunApp();
    const local = await startRunApp({ backend, env: { SYNC_REMOTE_URL: remote.url } });
    const behind = async () => (await tableOf(local, "versions"))?.["behind_seconds"];
    const versions = (name: string, atMs: number) => ({
      records: [{ name, at: new Date(atMs).toISOString() }],
    });
    const compare = () => local.ask("/compare", { method: "POST", body: '{"table":"versions"}' });
    await local.push("versions", versions("old", Date.parse("2020-01-01T00:00:00Z")));
    expect(await behind()).toBeNull();
    await local.trigger({ table: "versions", direction: "push" });
    expect(await behind()).toBe(0);

    // A change here, which no number of rows shows.
    await local.push("versions", versions("old", Date.now()));
    expect(await behind()).toBeGreaterThan(0);
    await local.trigger({ table: "versions", direction: "both" });

    await remote.push("versions", versions("there", Date.parse("2021-01-01T00:00:00Z")));
    await compare();
    expect(await behind()).toBeGreaterThan(0);
    await local.trigger({ table: "versions", direction: "both" });
    await compare();
    expect(await behind()).toBe(0);

    // A run of all tables moves it, and fails for another one.
    await local.push("notes", { records: [{ name: "a", body: "here" }] });
    await remote.push("notes", { records: [{ name: "a", body: "there" }] });
    await local.push("versions", versions("old", Date.now()));
    // What has the time of the run's beginning may have come after it.
    await nextMillisecond();
    expect((await local.trigger({ direction: "both" })).json).toMatchObject({ type: "sync_error" });
    expect(await behind()).toBe(0);
    expect((await tableOf(local, "notes"))?.["behind_seconds"]).toBeNull();
  });

  test("D-9.5.5 overview() sums what instances moved and looked up", async () => {
    const remote = await startRunApp();
    await remote.push("notes", { records: notes(3) });
    const env = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: remote.url };
    const first = await startRunApp({ env });
    const second = await startRunApp({ env });
    await first.trigger({ table: "notes", direction: "pull" });
    await first.trigger({ table: "notes", direction: "pull", dry_run: true });
    await second.push("notes", { records: notes(3) });
    await second.push("notes", { records: notes(2, "more") });
    const ana = await Person.signUp(second, "ana");
    const key = await ana.issueKey();
    expect((await lookUp(second, key, { username: "ana" })).status).toBe(403);
    expect((await lookUp(second, "rep_live_none", { username: "ana" })).status).toBe(401);
    for (const app of [first, second]) {
      await pollUntil("the history", async () => String(await traffic(app)) === "5,1");
    }
    await first.trigger({ table: "notes", direction: "push" });
    await first.stop();
    expect(await traffic(second)).toEqual([7, 1]);
  });
});

test("D-9.5.5 the remote is asked at most every 15 s, whoever asks", async () => {
  const remote = await startRunApp();
  let asked = 0;
  const url = serveLocally((request) => {
    asked++;
    return passOn(request, remote.url);
  });
  const time = fastTime(10);
  const local = await startRunApp({ env: { SYNC_REMOTE_URL: `${url}/` }, time });
  const startedAtMs = time.clock.monotonicMs();
  const replies = await Promise.all(Array.from({ length: 20 }, () => local.ask("/overview")));
  const elapsedMs = time.clock.monotonicMs() - startedAtMs;
  expect(asked).toBeLessThanOrEqual(1 + Math.floor(elapsedMs / 15_000));
  for (const { status, json } of replies) {
    expect(status).toBe(200);
    expect(json["remote"]).toMatchObject({ url });
  }
  const before = asked;
  await pollUntil("another question", async () => {
    await local.ask("/overview");
    return asked > before;
  });
});

test("D-9.5.5 overview() tells a remote that cannot be reached, or does not answer", async () => {
  const { local, remote } = await startPair();
  await remote.stop();
  const gone = await local.ask("/overview");
  expect([gone.status, gone.json["remote"]]).toEqual([
    200,
    { url: remote.url, reachable: false, error: expect.any(String) },
  ]);
  expect(await tableOf(local, "notes")).toMatchObject({ rows_there: null, drift: null });
  const silent = serveLocally(() => new Promise<Response>(() => {}));
  const env = { SYNC_REMOTE_URL: silent };
  const waiting = await startRunApp({ env, time: fastTime(10) });
  expect((await waiting.ask("/overview")).json["remote"]).toEqual({
    ...{ url: silent, reachable: false },
    error: "The remote did not answer within 3 s",
  });
});

test("D-9.5.5 overview() answers with sync disabled, and without a remote", async () => {
  const app = await startRunApp({ env: { SYNC_ENABLED: "false", SYNC_SCHEDULE: "* * * * *" } });
  const { status, json } = await app.ask("/overview");
  expect(status).toBe(200);
  expect(json).toMatchObject({
    sync_enabled: false,
    remote: { url: null, reachable: false, error: null },
    schedule: { cron: "* * * * *", next_at: null },
    history: { minutes: [], hours: [] },
  });
  expect(await tableOf(app, "notes")).toMatchObject({ rows_here: 0, rows_there: null });
});

test("D-9.5.5 the address of the remote is shown without credentials", () => {
  expect(withoutCredentials("https://user:secret@there.example:8443/base/?key=secret#x")).toBe(
    "https://there.example:8443/base",
  );
  expect(withoutCredentials("secret")).toBeNull();
});

test("D-9.5.5 overview() is for administrators", async () => {
  const app = await startApp({ env: ADMIN_ENV });
  const ana = await Person.signUp(app, "ana");
  expect((await app.send(`${SYNC}/overview`)).status).toBe(401);
  expect((await ana.send(`${SYNC}/overview`)).status).toBe(403);
});
