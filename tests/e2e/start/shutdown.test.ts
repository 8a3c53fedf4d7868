import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { startBunServer } from "../../../src/adapters/bun/http-server.ts";
import { connectSql, MONGODB, onEveryBackend, POSTGRESQL } from "../../http/support/backends.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { bodyText, RawConnection } from "../../http/support/raw-http.ts";
import { requestText } from "../../http/support/sync-app.ts";
import { keepResource } from "../../support/resources.ts";
import { pollUntil } from "../../support/time/poll-until.ts";
import { type ServiceProcess, startService } from "../support/service-process.ts";

/** True once nobody listens at the address. */
async function isRefused(url: string): Promise<boolean> {
  return RawConnection.open(url).then(
    (connection) => {
      connection.close();
      return false;
    },
    () => true,
  );
}

describe("SIGTERM and SIGINT", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "D-1.2 %s ends an idle service with exit code 0, idle connections included",
    async (signal) => {
      const service = await startService();
      await RawConnection.open(service.url);
      const used = await RawConnection.open(service.url);
      await used.write(requestText("GET /v1/health"));
      await used.readReply();
      const startedAtMs = performance.now();
      service.kill(signal);
      service.kill(signal);
      expect(await service.ended).toEqual({ code: 0, signal: null });
      expect(performance.now() - startedAtMs).toBeLessThan(3_000);
      expect(service.stderr()).toBe("");
      await used.readToEnd();
    },
  );

  test("D-1.2 the store is closed: SQLite has no log left beside the file", async () => {
    const folder = makeTempFolder();
    const file = join(folder, "repsync.db");
    const service = await startService({ folder });
    await service.push("notes", { records: [{ name: "a" }] });
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(0);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(readdirSync(folder).toSorted()).toEqual(["repsync.db", "tables.json"]);
    const database = new Database(file, { readonly: true });
    keepResource(() => database.close());
    expect(database.query("SELECT name FROM notes").all()).toEqual([{ name: "a" }]);
  });
});

onEveryBackend("SIGTERM during a push", (backend) => {
  test("D-1.2, D-3.8, D-1.2.2, D-10.5 the push in hand is finished, and no other request is taken", async () => {
    const env = { STORAGE_URL: await backend.makeUrl() };
    const service = await startService({ env });
    const connection = await RawConnection.open(service.url);
    const body = JSON.stringify({ records: [{ name: "in hand" }] });
    const head = requestText("POST /api/v1/sync/push/notes", [`Content-Length: ${body.length}`]);
    await connection.write(head + body.slice(0, 10));
    // A reply on another connection shows that the service is past the head.
    await service.pull("notes");
    service.kill("SIGTERM");
    const statusOf = async (path: string) => (await service.send(path)).status;
    const isStopping = async () => (await statusOf("/v1/health/ready")) === 503;
    await pollUntil("the service to tell that it stops", isStopping);
    expect(await statusOf("/v1/health/live")).toBe(200);
    for (const path of ["/v1/health", "/v1/me", "/api/v1/sync/status", "/console"]) {
      expect([path, await statusOf(path)]).toEqual([path, 503]);
    }
    const more = { records: [{ name: "too late" }] };
    expect((await service.push("notes", more)).status).toBe(503);
    await connection.write(body.slice(10));
    const reply = await connection.readReply();
    expect([reply.status, JSON.parse(bodyText(reply)).upserted]).toEqual([200, 1]);
    expect(await service.ended).toEqual({ code: 0, signal: null });
    expect(await isRefused(service.url)).toBe(true);
    const again = await startService({ env });
    expect((await again.records("notes")).map(({ name }) => name)).toEqual(["in hand"]);
  });
});

test("D-10.5 with STOP_DELAY_SECONDS everything is served for so long, but balancers are told", async () => {
  const service = await startService({ env: { STOP_DELAY_SECONDS: "1" } });
  const ready = await service.send("/v1/health/ready");
  expect([ready.status, ready.json]).toEqual([200, { status: "ok" }]);
  service.kill("SIGTERM");
  await pollUntil("the service to tell that it stops", async () => {
    const { status, json } = await service.send("/v1/health/ready");
    if (status === 503) expect(json).toEqual({ status: "stopping" });
    return status === 503;
  });
  expect((await service.push("notes", { records: [{ name: "late" }] })).status).toBe(200);
  expect((await service.send("/v1/health/live")).json).toEqual({ status: "ok" });
  expect(await service.ended).toEqual({ code: 0, signal: null });
});

test("D-1.2 a second Ctrl-C ends the service at once, whatever the first one waits for", async () => {
  const service = await startService({ env: { STOP_DELAY_SECONDS: "60" } });
  service.kill("SIGINT");
  const isTold = async () => (await service.send("/v1/health/ready")).status === 503;
  await pollUntil("the service to tell that it stops", isTold);
  let isOver = false;
  void service.ended.then(() => {
    isOver = true;
  });
  await pollUntil("its end by another signal", async () => {
    service.kill("SIGINT");
    return isOver;
  });
  expect(await service.ended).toEqual({ code: 1, signal: null });
  expect(service.stderr()).toBe("Ended by SIGINT\n");
});

describe.skipIf(!MONGODB.isAvailable)("SIGTERM with MongoDB", () => {
  test("D-1.2 the store is closed: the server is told that the sessions have ended", async () => {
    const url = await MONGODB.makeUrl();
    const client = new MongoClient(url);
    keepResource(() => client.close());
    const endedSessions = async () => {
      const { metrics } = await client.db().admin().serverStatus();
      return Number(metrics.commands.endSessions.total);
    };
    const service = await startService({ env: { STORAGE_URL: url } });
    await service.push("notes", { records: [{ name: "a" }] });
    const before = await endedSessions();
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(await endedSessions()).toBe(before + 1);
  });
});

describe("the server of Bun", () => {
  test("D-1.2, D-1.2.2 stop() cuts what is not finished after the time of grace", async () => {
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const handler = () => {
      arrive();
      return new Promise<Response>(() => {});
    };
    const server = await startBunServer(handler, { host: "127.0.0.1", port: 0 });
    const connection = await RawConnection.open(server.url);
    await connection.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await arrived;
    await server.stop(50);
    expect(await connection.readToEnd()).toEqual(new Uint8Array());
  });

  test("D-1.3.1 two servers never share a port", async () => {
    const handler = async () => new Response("one");
    const server = await startBunServer(handler, { host: "127.0.0.1", port: 0 });
    keepResource(() => server.stop(0));
    const port = Number(new URL(server.url).port);
    const second = startBunServer(handler, { host: "127.0.0.1", port });
    await expect(second).rejects.toThrow("in use");
  });
});

const LOCK_ALL = `begin; do $$ declare name text; begin
  for name in select tablename from pg_tables where schemaname = 'repsync' loop
    execute format('lock table repsync.%I', name);
  end loop;
end $$`;

async function stopBesideLocks(): Promise<ServiceProcess> {
  const url = await POSTGRESQL.makeUrl();
  const service = await startService({ env: { STORAGE_URL: url, LOG_LEVEL: "warn" } });
  await connectSql(url).unsafe(LOCK_ALL);
  await service.stop();
  return service;
}

async function stopBesideFailPoint(): Promise<ServiceProcess> {
  const url = await MONGODB.makeUrl();
  const appName = "repsync_stuck";
  const env = { STORAGE_URL: `${url}&appName=${appName}`, LOG_LEVEL: "warn" };
  const service = await startService({ env });
  const client = new MongoClient(url);
  keepResource(() => client.close());
  const failPoint = (mode: string, more: object = {}) =>
    client.db("admin").command({ configureFailPoint: "failCommand", mode, ...more });
  const failCommands = ["update", "delete", "endSessions"];
  const data = { appName, failCommands, blockConnection: true, blockTimeMS: 14_000 };
  await failPoint("alwaysOn", { data });
  await service.stop().finally(() => failPoint("off"));
  return service;
}

// Beside each other, as each takes the time that a stop may take.
const STUCK = [
  ...(POSTGRESQL.isAvailable ? [stopBesideLocks] : []),
  ...(MONGODB.isAvailable ? [stopBesideFailPoint] : []),
];

test.skipIf(STUCK.length === 0)(
  "D-1.2, D-10.5 SIGTERM while PostgreSQL or MongoDB does not answer: the service ends all the same, and says so",
  async () => {
    const services = await Promise.all(STUCK.map((stop) => stop()));
    for (const { ended, stderr } of services) {
      expect(await ended).toEqual({ code: 0, signal: null });
      expect(stderr()).toContain("The store does not answer, so it was not closed");
    }
  },
);
