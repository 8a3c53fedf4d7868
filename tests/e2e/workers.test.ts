// Several processes behind one port, and new settings without a stop. D-10.11.
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onEveryBackend } from "../http/support/backends.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { bodyText, RawConnection } from "../http/support/raw-http.ts";
import { releaseResources } from "../http/support/resources.ts";
import { requestText } from "../http/support/sync-app.ts";
import { startHeldRemote } from "../http/sync-runs/support/held-remote.ts";
import { pollUntil } from "./support/poll-until.ts";
import { itemsOf, makeRunService } from "./support/run-service.ts";
import {
  BUN,
  MAIN,
  type ServiceProcess,
  serviceEnv,
  startProcess,
  startService,
} from "./support/service-process.ts";
import { childrenOf, newWorkers, readSeries, startCallers } from "./support/worker-processes.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

const TOKEN = "a token of the metrics";
const LIVE = 'route="/v1/health/live",method="GET",status="200"';
const LIVE_COUNT = `repsync_http_request_duration_seconds_count{${LIVE}}`;

/** A service whose folder has a `.env` with the token. */
async function start(env: Readonly<Record<string, string>>) {
  const folder = makeTempFolder();
  writeFileSync(join(folder, ".env"), `METRICS_TOKEN=${TOKEN}\n`);
  // As the program `repsync` starts it: Bun would read the file first.
  const command = [...BUN, "--no-env-file", MAIN] as const;
  const service = await startService({ folder, env, command });
  return { folder, service };
}

async function metricsStatus(service: ServiceProcess, token: string): Promise<number> {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${service.url}/metrics`, { headers })).status;
}

/** Begins a push on a connection of its own; the result sends its end and gives the reply. */
async function beginPush(service: ServiceProcess) {
  const connection = await RawConnection.open(service.url);
  const body = JSON.stringify({ records: [{ name: "in hand" }] });
  const head = requestText("POST /api/v1/sync/push/notes", [`Content-Length: ${body.length}`]);
  await connection.write(head + body.slice(0, 10));
  return async () => {
    await connection.write(body.slice(10));
    const reply = await connection.readReply();
    return [reply.status, JSON.parse(bodyText(reply)).upserted];
  };
}

onEveryBackend("two workers", (backend) => {
  test("D-10.11 SIGHUP replaces them with settings read anew, and what they accepted is answered", async () => {
    const { folder, service } = await start({ STORAGE_URL: await backend.makeUrl(), WORKERS: "2" });
    const before = childrenOf(service.pid);
    expect(before.length).toBe(2);
    expect(service.stdout().match(/is listening on/g)?.length).toBe(1);
    const endPushes = await Promise.all(Array.from({ length: 4 }, () => beginPush(service)));
    // Closing a port breaks what waits to be accepted, so at most one connection of each caller.
    const endCalls = startCallers(`${service.url}/v1/health/live`, 4, 2_000);
    writeFileSync(join(folder, ".env"), "METRICS_TOKEN=another token\n");
    service.kill("SIGHUP");
    await pollUntil("new workers", async () => {
      const now = childrenOf(service.pid);
      return now.filter((pid) => !before.includes(pid)).length === 2;
    });
    // What is left of a connection's request keeps its worker.
    for (const end of endPushes) expect(await end()).toEqual([200, 1]);
    await newWorkers(service.pid, 2, before);
    const { statuses, broken } = await endCalls();
    expect([...statuses.keys()]).toEqual([200]);
    const answered = statuses.get(200) ?? 0;
    expect(answered).toBeGreaterThanOrEqual(2_000);
    expect(broken.length).toBeLessThanOrEqual(answered / 200);
    expect(await metricsStatus(service, TOKEN)).toBe(401);
    const series = await readSeries(service.url, "another token");
    // A reply may be counted that its caller has not got.
    expect(series.get(LIVE_COUNT)).toBeGreaterThanOrEqual(answered);
    expect(series.get(LIVE_COUNT)).toBeLessThanOrEqual(answered + broken.length);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });

  test("D-10.11 a dead one is replaced, its counts stay, and each process tells its own figures", async () => {
    const { service } = await start({ STORAGE_URL: await backend.makeUrl(), WORKERS: "2" });
    const before = childrenOf(service.pid);
    for (let i = 0; i < 20; i++) await service.send("/v1/health/live");
    expect((await readSeries(service.url, TOKEN)).get(LIVE_COUNT)).toBe(20);
    for (const pid of before) process.kill(pid, "SIGKILL");
    await newWorkers(service.pid, 2, before);
    await pollUntil("an answer", async () => {
      const reply = await fetch(`${service.url}/v1/health/ready`).catch(() => null);
      return reply?.status === 200;
    });
    const endCalls = startCallers(`${service.url}/v1/health/live`, 4);
    let series = new Map<string, number>();
    await pollUntil("both workers", async () => {
      series = await readSeries(service.url, TOKEN);
      return ["1", "2"].every((n) => series.has(`process_resident_memory_bytes{worker="${n}"}`));
    });
    const { statuses } = await endCalls();
    series = await readSeries(service.url, TOKEN);
    expect(series.get(LIVE_COUNT)).toBe(20 + (statuses.get(200) ?? 0));
    for (const worker of ["1", "2"]) {
      expect(series.get(`process_resident_memory_bytes{worker="${worker}"}`)).toBeGreaterThan(1e7);
    }
    expect(series.get("repsync_store_up")).toBe(1);
    expect([...series.keys()].filter((name) => name.startsWith("repsync_build_info"))).toHaveLength(
      1,
    );
    expect(service.stderr()).toContain("and is replaced: signal SIGKILL");
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });
});

onEveryBackend("one worker", (backend) => {
  test("D-10.11 SIGHUP reads its settings anew, breaks no connection and loses no count", async () => {
    const { folder, service } = await start({ STORAGE_URL: await backend.makeUrl() });
    const endPush = await beginPush(service);
    const endCalls = startCallers(`${service.url}/v1/health/live`, 8);
    writeFileSync(join(folder, ".env"), "METRICS_TOKEN=another token\n");
    service.kill("SIGHUP");
    await pollUntil(
      "settings",
      async () => (await metricsStatus(service, "another token")) === 200,
    );
    expect(await endPush()).toEqual([200, 1]);
    const { statuses, broken } = await endCalls();
    expect([[...statuses.keys()], broken]).toEqual([[200], []]);
    const series = await readSeries(service.url, "another token");
    expect(series.get(LIVE_COUNT)).toBe(statuses.get(200) ?? 0);
    expect(await service.stop()).toEqual({ code: 0, signal: null });
  });
});

describe.each(["1", "2"])("WORKERS=%s", (WORKERS) => {
  test.each([
    ["SYNC_LAG_SECONDS=x", "SYNC_LAG_SECONDS must be"],
    ["no setting", ".env: line 1 is no setting"],
    ["API_KEY_PEPPER=short", "API_KEY_PEPPER must"],
  ])(
    "D-10.11 with %s in .env a SIGHUP leaves everything as it was, and says why",
    async (line, problem) => {
      const { folder, service } = await start({ WORKERS });
      const before = childrenOf(service.pid);
      writeFileSync(join(folder, ".env"), `${line}\nMETRICS_TOKEN=another token\n`);
      service.kill("SIGHUP");
      const text = await service.waitFor("problem", ({ stderr }) =>
        stderr().includes(problem) ? stderr() : null,
      );
      expect(text.trim().split("\n")).toHaveLength(1);
      expect(text).toContain("The settings stay as they were: ");
      expect(childrenOf(service.pid)).toEqual(before);
      expect(await metricsStatus(service, TOKEN)).toBe(200);
      writeFileSync(join(folder, ".env"), "METRICS_TOKEN=a third token\n");
      service.kill("SIGHUP");
      await pollUntil(
        "settings",
        async () => (await metricsStatus(service, "a third token")) === 200,
      );
    },
  );

  test("D-10.11 a run goes on to its end in a worker that is replaced", async () => {
    const remote = await makeRunService();
    await remote.start();
    const held = startHeldRemote(remote.url, "/push/");
    const local = await makeRunService({ SYNC_REMOTE_URL: held.url, WORKERS, LOG_LEVEL: "info" });
    await local.start();
    await local.push(itemsOf("local", 1, 300));
    const body = { table: "items", direction: "push" };
    const streaming = Array.fromAsync(local.stream(body));
    await held.reached;
    const { pid, kill, waitFor } = local.process();
    const before = childrenOf(pid);
    kill("SIGHUP");
    await waitFor("new settings", ({ stderr }) => stderr().includes("were read anew") || null);
    held.release();
    const events = (await streaming).join("").trimEnd().split("\n\n");
    const last = events.slice(-2).map((event) => JSON.parse(event.replace("data: ", "")));
    expect(last).toMatchObject([{ type: "done", total_pushed: 300 }, { type: "finished" }]);
    if (WORKERS !== "1") await newWorkers(pid, 2, before);
    expect(await remote.rows()).toEqual(await local.rows());
  });

  test("D-10.11 a terminal that closes stops the service", async () => {
    const folder = makeTempFolder();
    const env = { ...serviceEnv(folder), WORKERS };
    const terminal = startProcess(
      ["script", "-qc", `exec ${[...BUN, MAIN].join(" ")} 2>err`, "/dev/null"],
      { folder, env },
    );
    const url = await terminal.waitFor(
      "address",
      ({ stdout }) => /listening on (http:\S+)/.exec(stdout())?.[1],
    );
    terminal.kill("SIGKILL");
    await pollUntil(
      "the end",
      async () =>
        await fetch(`${url}/v1/health/live`).then(
          () => false,
          () => true,
        ),
    );
    expect(readFileSync(join(folder, "err"), "utf8")).toBe("");
  });
});

test("D-10.11 the end of the first process is the end of its workers", async () => {
  const { service } = await start({ WORKERS: "2" });
  service.kill("SIGKILL");
  await service.ended;
  await pollUntil(
    "the end",
    async () =>
      await fetch(`${service.url}/v1/health/live`).then(
        () => false,
        () => true,
      ),
  );
});

test("D-10.11, D-1.3.1 workers share no port with another service", async () => {
  const first = await start({ WORKERS: "2" });
  const folder = makeTempFolder();
  const env = { ...serviceEnv(folder), WORKERS: "2", PORT: new URL(first.service.url).port };
  const second = startProcess([...BUN, MAIN], { folder, env });
  expect(await second.ended).toEqual({ code: 1, signal: null });
  expect(second.stderr()).toContain("the port is in use");
});
