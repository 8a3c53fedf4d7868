// The stream of a run: its form, its events, and readers that are slow or leave.

import { describe, expect, test } from "bun:test";
import { connect, createServer } from "node:net";
import { AppError } from "../../../src/domain/shared/errors.ts";
import type { BatchEvent, RunNews } from "../../../src/domain/sync/run/run.ts";
import { namingOf } from "../../../src/http/replies.ts";
import { tell } from "../../../src/http/routes/sync/run-replies.ts";
import { RunEventSchema } from "../../../src/http/schemas/run-events.ts";
import { streamOf } from "../../../src/http/streams.ts";
import { RunEvents } from "../../../src/usecases/sync/runs/started-work.ts";
import { keepResource } from "../../support/resources.ts";
import { pollUntil } from "../../support/time/poll-until.ts";
import { jsonBody } from "../reputation/people.ts";
import { fastTime } from "../support/fast-time.ts";
import { RawConnection } from "../support/raw-http.ts";
import { SYNC_KEY } from "../support/sync-app.ts";
import { startForeignServer } from "./support/foreign-server.ts";
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

function batchEvent(batch: number, batches: number): BatchEvent {
  return {
    ...{ type: "batch", table: "notes", direction: "push", batch, totalBatches: batches },
    ...{ recordsSent: 10, totalSent: batch * 10, totalRecords: batches * 10 },
    ...{ bytesCompressed: 1, bytesUncompressed: 2, upserted: 10, errorCount: 0 },
    ...{ elapsedMs: 1, rowsPerSecond: 1 },
  };
}

test("D-8.7, D-9.5.2 a store that does not answer cuts no stream, and who may not read any more is told nothing", async () => {
  const toldTo = async (kind: "store_unavailable" | "token_invalid") => {
    async function* news(): AsyncGenerator<RunNews, void, undefined> {
      yield batchEvent(1, 1);
    }
    const requireStill = () => Promise.reject(new AppError(kind, "as the test says"));
    const told = tell(news(), "run", { requireStill }).value as AsyncIterable<RunNews>;
    return await Array.fromAsync(told).catch((error: AppError) => error.kind);
  };
  expect(await toldTo("store_unavailable")).toEqual([batchEvent(1, 1)]);
  expect(await toldTo("token_invalid")).toBe("token_invalid");
});

/** The address of a server that takes connections and never answers. */
async function startSilentServer(): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    keepResource(() => void socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  keepResource(() => void server.close());
  const { port } = server.address() as { port: number };
  return `http://127.0.0.1:${port}`;
}

/** Asks for a run on a bare socket. */
async function openStream(app: RunApp, path: string, body: object | null): Promise<RawConnection> {
  const text = body === null ? "" : JSON.stringify(body);
  const connection = await RawConnection.open(app.url);
  const lines = [
    `POST ${SYNC}${path} HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${app.admin.token}`,
    `Content-Length: ${text.length}`,
  ];
  await connection.write(`${lines.join("\r\n")}\r\n\r\n${text}`);
  return connection;
}

describe("triggerSse()", () => {
  test("S-4.5.3, S-6, S-6.2, D-4.4 a push tells start, batches, done and finished", async () => {
    const { local, remote } = await startPair({ env: { SYNC_MAX_BATCH_SIZE: "4" } });
    await local.push("notes", { records: notes(10) });
    const reply = await local.ask("/trigger-sse", jsonBody({ table: "notes" }));
    expect(reply.status).toBe(200);
    expect(reply.headers.get("content-type")).toBe("text/event-stream");
    expect(reply.headers.get("cache-control")).toBe("no-cache");
    expect(reply.headers.get("x-accel-buffering")).toBe("no");
    expect(reply.text).toMatch(/^(data: \{[^\n]+\}\n\n)+$/);
    const events = reply.text
      .split("\n\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>);
    const subject = { table: "notes", direction: "push" };
    expect(events[0]).toEqual({ type: "start", ...subject, total_records: 10 });
    const batches = events.filter(({ type }) => type === "batch");
    const last = batches.at(-1);
    expect(last).toEqual({
      type: "batch",
      ...subject,
      batch: 3,
      total_batches: 3,
      records_sent: expect.any(Number),
      total_sent: 10,
      total_records: 10,
      bytes_compressed: expect.any(Number),
      bytes_uncompressed: expect.any(Number),
      upserted: expect.any(Number),
      error_count: 0,
      elapsed_ms: expect.any(Number),
      rows_per_second: expect.any(Number),
    });
    const sum = (name: string) => batches.reduce((total, event) => total + Number(event[name]), 0);
    expect([sum("records_sent"), sum("upserted")]).toEqual([10, 10]);
    const done = events.at(-2) ?? {};
    expect(done).toEqual({
      type: "done",
      ...subject,
      status: "success",
      total_pushed: 10,
      bytes_compressed: sum("bytes_compressed"),
      bytes_uncompressed: sum("bytes_uncompressed"),
      duration_ms: expect.any(Number),
    });
    expect(events.at(-1)).toEqual({ type: "finished" });
    expect(events.length).toBe(batches.length + 3);
    expect(await remote.rows("notes")).toEqual(await local.rows("notes"));
    expect(await local.items("/runs")).toMatchObject([{ trigger: "stream", status: "success" }]);
  });

  test("S-6, D-4.4 a pull tells total_pulled, and full works on the stream too", async () => {
    const { local, remote } = await startPair();
    await remote.push("notes", { records: notes(3) });
    const body = { table: "notes", direction: "pull", full: true };
    const events = await local.stream(body);
    expect(events.map(({ type }) => type)).toEqual(["start", "batch", "done", "finished"]);
    expect(events[2]).toMatchObject({ direction: "pull", status: "success", total_pulled: 3 });
    expect(events[2]).not.toHaveProperty("total_pushed");
    expect(await local.items("/runs")).toMatchObject([{ full_sync: true }]);
  });

  test("S-6.1, S-6.2 a failure is an error event of at most 200 characters, then finished", async () => {
    const { local, remote } = await startPair({ time: fastTime() });
    await remote.stop();
    const events = await local.stream({ table: "notes", direction: "pull" });
    expect(events.map(({ type }) => type)).toEqual(["error", "finished"]);
    expect(events[0]).toMatchObject({ table: "notes", direction: "pull" });
    expect(String(events[0]?.["error"])).toContain(`${remote.url}/api/v1/sync/status`);
    expect(String(events[0]?.["error"]).length).toBeLessThanOrEqual(200);
    const [run] = await local.items("/runs");
    expect(run).toMatchObject({ status: "failed", error: events[0]?.["error"] });
  });

  test("D-4.9 a client that leaves does not end the run", async () => {
    const remote = await startRunApp();
    // It answers only when the client has gone.
    const held = startHeldRemote(remote.url, "/push/");
    const local = await startRunApp({ env: { SYNC_REMOTE_URL: held.url } });
    await local.push("notes", { records: notes(5) });
    await local.push("events", { records: [{ code: 1, body: "x" }] });
    const stream = await openStream(local, "/trigger-sse", { table: "notes" });
    await held.reached;
    stream.close();
    const waiting = await openStream(local, "/trigger", { table: "events", direction: "push" });
    await pollUntil("the second run", async () => (await local.items("/runs")).length === 2);
    waiting.close();
    expect(await local.items("/runs")).toMatchObject([
      { status: "running" },
      { status: "running" },
    ]);
    held.release();
    await pollUntil("both runs to end", async () =>
      (await local.items("/runs")).every(({ status }) => status === "success"),
    );
    expect((await remote.rows("events")).length).toBe(1);
    expect((await remote.rows("notes")).length).toBe(5);
  });

  test("D-4.4 a silent stream gets comments, and no event but those of the run", async () => {
    const env = { SYNC_REMOTE_URL: await startSilentServer() };
    const local = await startRunApp({ env, time: fastTime(10) });
    const stream = await openStream(local, "/trigger-sse", { table: "notes", direction: "pull" });
    const text = await stream.readUntil(": keep-alive\n\n");
    expect(text).toContain("Content-Type: text/event-stream\r\n");
    expect(text).not.toContain("data:");
    // Stopping is what ends it: see tests/e2e/start/runs-shutdown.test.ts.
    stream.close();
  });
});

describe("a remote that fails for a while", () => {
  test("D-7.11 each retry is a comment line that says when and why, and the events stay as they are", async () => {
    let failures = 0;
    const server = startForeignServer({
      ...{ key: SYNC_KEY, random: () => 0.5 },
      tables: { notes: { key: ["name"], columns: ["name", "body"], timestamp: null } },
      tamper({ path }, reply) {
        if (path !== "/pull/notes" || failures === 3) return reply;
        const headers = { "Retry-After": String(++failures * 2) };
        return Response.json({ error: "Busy\ndata: {}" }, { status: 503, headers });
      },
    });
    server.put("notes", { name: "a", body: "x" });
    const env = { SYNC_REMOTE_URL: server.url };
    const local = await startRunApp({ env, time: fastTime(20) });
    const body = { table: "notes", direction: "pull" };
    const reply = await local.ask("/trigger-sse", jsonBody(body));
    const why = `GET ${server.url}/api/v1/sync/pull/notes was answered 503: Busy\\u{a}data: {}`;
    const lines = reply.text.split("\n\n").filter((line) => line.startsWith(": retry"));
    expect(lines).toEqual([
      `: retry 2 of 8 in 2 s: ${why}`,
      `: retry 3 of 8 in 4 s: ${why}`,
      `: retry 4 of 8 in 6 s: ${why}`,
    ]);
    expect(readEvents(reply).map(({ type }) => type)).toEqual([
      ...["start", "batch", "done", "finished"],
    ]);
    expect(reply.text).toMatch(/^((data: \{[^\n]+\}|: [^\n]+)\n\n)+$/);
  });
});

describe("a run that takes long", () => {
  test("S-4.4.4, S-4.5.3 is not cut as a silent connection is", async () => {
    const remote = await startRunApp();
    await remote.push("versions", { records: versions(1) });
    // The first run is held at another table than the second: neither waits for a lease of the other.
    const held = startHeldRemote(remote.url, "/pull/");
    const env = { SYNC_REMOTE_URL: held.url };
    const local = await startRunApp({ env, idleTimeoutSeconds: 1 });
    const body = { table: "versions", direction: "pull" };
    // Without a body the server would cut it; with one that has come whole it would not.
    const trigger = await openStream(local, "/trigger", null);
    const stream = await openStream(local, "/trigger-sse", body);
    const compare = await openStream(local, "/compare", { table: "settings" });
    await held.reached;
    // A body that never comes is what a silent connection looks like.
    const silent = await RawConnection.open(local.url);
    const key = `X-Sync-Key: ${SYNC_KEY}`;
    await silent.write(
      `POST ${SYNC}/push/notes HTTP/1.1\r\nHost: localhost\r\n${key}\r\nContent-Length: 9\r\n\r\n`,
    );
    await silent.readToEnd();
    held.release();
    expect((await trigger.readReply()).status).toBe(200);
    expect(await stream.readUntil('data: {"type":"finished"}\n\n')).toContain("200 OK");
    expect((await compare.readReply()).status).toBe(200);
  });
});

describe("streamOf()", () => {
  const named = namingOf(RunEventSchema);
  const never = { sleep: () => new Promise<void>(() => {}) };

  test("D-4.4 an event is asked for only when the one before was taken, and the source is ended", async () => {
    let asked = 0;
    let isEnded = false;
    async function* events() {
      try {
        for (;;) yield { type: "batch", batch: ++asked };
      } finally {
        isEnded = true;
      }
    }
    const reader = streamOf(events(), named, never).getReader();
    if (reader === undefined) throw new Error("No body");
    expect(asked).toBe(0);
    const first = await reader.read();
    expect(new TextDecoder().decode(first.value)).toBe('data: {"type":"batch","batch":1}\n\n');
    expect(asked).toBe(1);
    await reader.read();
    expect(asked).toBe(2);
    await reader.cancel();
    expect(isEnded).toBe(true);
  });

  test("D-4.4 a reader that does not read holds up nothing, and gets batches put together", async () => {
    const feed = new RunEvents<RunNews>();
    const server = Bun.serve({
      ...{ port: 0, hostname: "127.0.0.1", idleTimeout: 0 },
      fetch: () => new Response(streamOf(feed.news(), named, never)),
    });
    keepResource(() => server.stop(true));
    const socket = connect({ host: "127.0.0.1", port: server.port ?? 0 });
    keepResource(() => void socket.destroy());
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const batches = 200_000;
    for (let batch = 1; batch <= batches; batch++) {
      feed.publish(batchEvent(batch, batches));
      if (batch % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    feed.publish({ type: "finished" });
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    socket.resume();
    await pollUntil("the last event", async () => text.includes('{"type":"finished"}'));
    const counts = [...text.matchAll(/"records_sent":(\d+)/g)].map(([, count]) => Number(count));
    expect(counts.length).toBeLessThan(batches / 2);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(batches * 10);
  });

  test("D-4.4 a comment comes after each 5 seconds without an event", async () => {
    const sleeps: number[] = [];
    let emit = () => {};
    async function* events() {
      await new Promise<void>((resolve) => {
        emit = resolve;
      });
      yield { type: "finished" };
    }
    const timer = {
      async sleep(durationMs: number) {
        sleeps.push(durationMs);
        if (sleeps.length > 2) await never.sleep();
      },
    };
    const reader = streamOf(events(), named, timer).getReader();
    const read = async () => new TextDecoder().decode((await reader?.read())?.value);
    expect([await read(), await read()]).toEqual([": keep-alive\n\n", ": keep-alive\n\n"]);
    const last = read();
    emit();
    expect(await last).toBe('data: {"type":"finished"}\n\n');
    expect(sleeps).toEqual([5_000, 5_000, 5_000]);
    expect((await reader?.read())?.done).toBe(true);
  });
});
