// Watching runs, dry runs and comparisons, on whichever instance they are.
import { expect, test } from "bun:test";
import { pollUntil } from "../../support/time/poll-until.ts";
import { ADMIN_ENV, jsonBody, Person } from "../reputation/people.ts";
import { type Backend, onEveryBackend, onOneBackend } from "../support/backends.ts";
import { startApp } from "../support/sync-app.ts";
import { startHeldRemote } from "./support/held-remote.ts";
import {
  notes,
  type RunApp,
  readEvents,
  SYNC,
  startPair,
  startRunApp,
  versions,
} from "./support/run-apps.ts";

/** Two instances on one store, whose remote has three notes and answers pulls after `release`. */
async function startHeld(backend: Backend) {
  const remote = await startRunApp();
  await remote.push("notes", { records: notes(3) });
  const held = startHeldRemote(remote.url, "/pull/");
  const env = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: held.url };
  return { held, first: await startRunApp({ env }), second: await startRunApp({ env }) };
}

async function eventsOf(app: RunApp, id: string) {
  const reply = await app.ask(`/runs/${id}/events`);
  expect(reply.headers.get("x-run-id")).toBe(id);
  return readEvents(reply);
}

onOneBackend("watching", (backend) => {
  test("D-9.5.2 events() tells a run on every instance, from the start on, and whole once it has ended", async () => {
    const { held, first, second } = await startHeld(backend);
    const started = await first.trigger({ table: "notes", direction: "pull", wait: false });
    const id = String(started.json["run_id"]);
    const watching = [first, second].map((app) => eventsOf(app, id));
    held.release();
    const [here, there] = await Promise.all(watching);
    expect(here?.map(({ type }) => type)).toEqual(["start", "batch", "done", "finished"]);
    expect(there).toEqual(here!);
    for (const app of [first, second]) expect(await eventsOf(app, id)).toEqual(here!);
    const streamed = await first.ask("/trigger-sse", jsonBody({ table: "notes" }));
    const streamId = String(streamed.headers.get("x-run-id"));
    expect(await eventsOf(second, streamId)).toEqual(readEvents(streamed));
    expect((await second.ask(`/runs/${streamId}`)).json).toMatchObject({ trigger: "stream" });
  });

  test("D-3.11 HEAD of the events of a run that goes on is answered at once, without a body", async () => {
    const { held, first } = await startHeld(backend);
    const started = await first.trigger({ table: "notes", direction: "pull", wait: false });
    const id = String(started.json["run_id"]);
    const head = await first.ask(`/runs/${id}/events`, { method: "HEAD" });
    expect([head.status, head.headers.get("x-run-id"), head.text]).toEqual([200, id, ""]);
    expect((await first.ask(`/runs/${id}`)).json["status"]).toBe("running");
    held.release();
  });

  test("D-9.5.2 a dry run can be read, watched and cancelled on every instance until it ends", async () => {
    const { held, first, second } = await startHeld(backend);
    const body = { table: "notes", direction: "pull", dry_run: true, wait: false };
    const started = await first.trigger(body);
    expect([started.status, started.json["dry_run"]]).toEqual([202, true]);
    const id = String(started.json["run_id"]);
    expect((await second.ask(`/runs/${id}`)).json).toMatchObject({
      ...{ run_id: id, status: "running", dry_run: true },
    });
    expect(await second.items("/runs")).toEqual([]);
    await held.reached;
    const watching = eventsOf(second, id);
    const cancelled = await second.ask(`/runs/${id}/cancel`, { method: "POST" });
    expect(cancelled.status).toBe(200);
    expect(cancelled.json).toMatchObject({
      ...{ run_id: id, status: "failed", dry_run: true, error: "Cancelled by root" },
    });
    const events = await watching;
    expect(events.at(-2)).toMatchObject({ type: "error", error: "Cancelled by root" });
    for (const path of [`/runs/${id}`, `/runs/${id}/cancel`]) {
      const method = path.endsWith("cancel") ? "POST" : "GET";
      const reply = await second.ask(path, { method });
      expect([path, reply.status]).toEqual([path, method === "POST" ? 409 : 404]);
    }
    expect(await eventsOf(first, id)).toEqual(events);
    expect((await first.ask(`/runs?cursor=${id}`)).status).toBe(400);
    held.release();
    const whole = await first.trigger({ ...body, wait: true });
    const counted = await eventsOf(second, String(whole.json["run_id"]));
    expect(counted.map(({ type }) => type)).toEqual(["start", "batch", "done", "finished"]);
    expect(await first.rows("notes")).toEqual([]);
  });

  test("D-9.5.6 compareSse() tells what differs, 20 of a kind, and is a run that every instance can watch", async () => {
    const remote = await startRunApp();
    const env = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: remote.url };
    const [first, second] = [await startRunApp({ env }), await startRunApp({ env })];
    const records = notes(60, "both");
    await first.push("notes", { records: [...records, { name: "own", body: "<script>" }] });
    await remote.push("notes", { records: [...records, ...notes(25, "there")] });
    await first.push("notes", { records: [{ name: "both0007", body: "here" }] });
    const reply = await first.ask("/compare-sse", jsonBody({ table: "notes" }));
    const id = String(reply.headers.get("x-run-id"));
    const events = readEvents(reply);
    expect(events[0]).toEqual({ type: "start", table: "notes", repair: null, total_records: 61 });
    const differences = events.filter(({ type }) => type === "difference");
    const kinds = Map.groupBy(differences, ({ kind }) => kind);
    expect(kinds.get("missing_here")).toHaveLength(20);
    expect(kinds.get("missing_there")).toEqual([
      {
        ...{ type: "difference", kind: "missing_there", key: { name: "own" } },
        ...{ here: { name: "own", body: "<script>" }, there: null },
      },
    ]);
    expect(kinds.get("different")).toEqual([
      {
        ...{ type: "difference", kind: "different", key: { name: "both0007" } },
        here: { name: "both0007", body: "here" },
        there: { name: "both0007", body: "body of both0007" },
      },
    ]);
    const compared = (await first.ask("/compare", jsonBody({ table: "notes" }))).json;
    expect(events.at(-3)).toEqual({ type: "progress", rows: 86 });
    expect(events.at(-2)).toEqual({ type: "done", table: "notes", ...compared });
    expect(await eventsOf(second, id)).toEqual(events);
    expect((await second.ask(`/runs/${id}`)).json).toMatchObject({
      ...{ kind: "compare", trigger: "stream", status: "success", matched: 59, different: 1 },
    });
  });
});

test("D-9.5.6 a comparison can be cancelled while it is watched, and repairs as without a stream", async () => {
  const { held, first } = await startHeldPush();
  const comparing = first.ask("/compare-sse", jsonBody({ table: "notes", repair: "push" }));
  await held.reached;
  let id = "";
  await pollUntil("the comparison", async () => {
    id = String((await first.items("/runs"))[0]?.["run_id"] ?? "");
    return id !== "";
  });
  expect((await first.ask(`/runs/${id}/cancel`, { method: "POST" })).status).toBe(200);
  const cancelled = readEvents(await comparing);
  expect(cancelled.slice(-2)).toEqual([
    { type: "error", table: "notes", error: "Cancelled by root" },
    { type: "finished" },
  ]);
  const { local } = await startPair();
  await local.push("notes", { records: notes(3) });
  const body = { table: "notes", repair: "push" };
  const repaired = readEvents(await local.ask("/compare-sse", jsonBody(body)));
  expect(repaired.at(-2)).toMatchObject({ type: "done", missing_there: 3, repaired: 3 });
});

/** A deployment with three notes whose remote answers pushes after `release`. */
async function startHeldPush() {
  const remote = await startRunApp();
  const held = startHeldRemote(remote.url, "/push/");
  const first = await startRunApp({ env: { SYNC_REMOTE_URL: held.url } });
  await first.push("notes", { records: notes(3) });
  return { held, first };
}

test("D-9.5.6 integers beyond 2^53 are strings in what differs", async () => {
  const { local, remote } = await startPair();
  const push = (app: RunApp, integer: string) =>
    app.push("samples", `{"records":[{"name":"a","required":"r","an_integer":${integer}}]}`);
  await push(local, "9007199254740993");
  await push(remote, "7");
  const events = readEvents(await local.ask("/compare-sse", jsonBody({ table: "samples" })));
  const difference = events.find(({ type }) => type === "difference");
  expect(difference).toMatchObject({
    ...{ here: { an_integer: "9007199254740993" }, there: { an_integer: 7 } },
  });
});

test("D-9.5.6 compareSse() tells a failure, and refuses what compare() refuses", async () => {
  const alone = await startRunApp();
  const misconfigured = await alone.ask("/compare-sse", jsonBody({ table: "notes" }));
  expect(readEvents(misconfigured)).toEqual([
    {
      ...{ type: "error", table: "notes" },
      error: "The remote's address is missing; set SYNC_REMOTE_URL",
    },
    { type: "finished" },
  ]);
  const refused: [object, string][] = [
    [{}, "table is required for a comparison; name one table"],
    [{ table: "notes", repair: "both" }, "repair must be one of push, pull, newest"],
    [{ table: "notes", delete: true }, "delete needs"],
    [{ table: "no_such_table" }, "Unknown table"],
  ];
  for (const [body, error] of refused) {
    const reply = await alone.ask("/compare-sse", jsonBody(body));
    expect([body, reply.status]).toEqual([body, 400]);
    expect(String(reply.json["error"])).toStartWith(error);
  }
  await alone.stopRuns();
  const stopping = await alone.ask("/compare-sse", jsonBody({ table: "notes" }));
  expect([stopping.status, stopping.json["type"]]).toEqual([500, "sync_error"]);
});

test("D-9.5.2 events() is for administrators, and 404 for what is no run", async () => {
  const app = await startApp({ env: ADMIN_ENV });
  const ana = await Person.signUp(app, "ana");
  const path = `${SYNC}/runs/00000000-0000-4000-8000-000000000000/events`;
  expect((await app.send(path)).status).toBe(401);
  expect((await ana.send(path)).status).toBe(403);
  expect((await app.send(`${SYNC}/compare-sse`, jsonBody({}))).status).toBe(401);
  expect((await ana.post(`${SYNC}/compare-sse`, {})).status).toBe(403);
  const run = await startRunApp({ env: { SYNC_ENABLED: "false" } });
  for (const id of [
    "00000000-0000-4000-8000-000000000000",
    "%00",
    "..%2f",
    "x".repeat(2_000),
    "'",
  ]) {
    const reply = await run.ask(`/runs/${id}/events`);
    expect([id, reply.status, Object.keys(reply.json)]).toEqual([id, 404, ["error"]]);
  }
});

onEveryBackend("a stream whose reader's session ends", (backend) => {
  test("D-8.7, D-9.5.2 tells nothing more, on any instance, and the run goes on", async () => {
    const remote = await startRunApp();
    await remote.push("versions", { records: versions(3) });
    const held = startHeldRemote(remote.url, "/pull/", 1);
    const env = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: held.url };
    const [first, second] = [await startRunApp({ env }), await startRunApp({ env })];
    const started = await first.trigger({ table: "versions", direction: "pull", wait: false });
    const events = `${SYNC}/runs/${started.json["run_id"]}/events`;
    const other = await Person.signIn(first, "root");
    const open = async ({ url }: RunApp) => {
      const headers = { Authorization: `Bearer ${first.admin.token}` };
      const reply = await fetch(`${url}${events}`, { headers });
      const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
      return { begins: (await reader.read()).value, rest: reader.read().catch(() => "cut off") };
    };
    const streams = await Promise.all([open(first), open(second)]);
    expect((await first.admin.send("/v1/sessions/current", { method: "DELETE" })).status).toBe(200);
    held.release();
    for (const { begins, rest } of streams) {
      expect([begins, await rest]).toEqual([expect.stringContaining('"start"'), "cut off"]);
    }
    const whole = readEvents(await other.send(events));
    expect(whole.map(({ type }) => type)).toEqual(["start", "batch", "done", "finished"]);
  });
});
