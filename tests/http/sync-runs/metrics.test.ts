// What /metrics shows, and to whom.
import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { NodeSecretComparison } from "../../../src/adapters/node-crypto/node-crypto.ts";
import { Exchange } from "../../../src/http/exchange.ts";
import { metricsReader } from "../../../src/http/guards/secrets.ts";
import { lookUp, Person } from "../reputation/people.ts";
import { MONGODB, onBackends, SQLITE_FILE } from "../support/backends.ts";
import { makeTempFolder } from "../support/make-temp-folder.ts";
import { requestText, SYNC_KEY, type SyncApp, startApp } from "../support/sync-app.ts";
import { TABLES } from "../support/tables.ts";
import { startForeignServer } from "./support/foreign-server.ts";
import { notes, type RunApp, startRunApp } from "./support/run-apps.ts";

/** Samples by name and labels, the labels in the order of their names. */
async function readSamples(app: SyncApp | RunApp): Promise<Map<string, number>> {
  const reply = await app.send("/metrics");
  expect([reply.status, reply.headers.get("content-type")]).toEqual([
    ...[200, "text/plain; version=0.0.4; charset=utf-8"],
  ]);
  const samples = [...reply.text.matchAll(/^([a-z_]+)(?:\{(.*)\})? (\S+)$/gm)];
  return new Map(
    samples.map(([, name, labels = "", value]) => {
      const sorted = [...labels.matchAll(/\w+="[^"]*"/g)].map(([label]) => label).sort();
      return [`${name}{${sorted.join(",")}}`, Number(value)];
    }),
  );
}

const pick = (samples: Map<string, number>, pattern: RegExp) =>
  Object.fromEntries([...samples].filter(([name]) => pattern.test(name)));

onBackends([SQLITE_FILE, MONGODB], "metrics()", (backend) => {
  test("D-6.8, D-6.8.1, D-7.5 metrics() counts runs, rows and bytes, and shows markers and rejected records", async () => {
    const short = { ...TABLES.versions.columns, body: { type: "text", max_length: 3 } } as const;
    const tables = { ...TABLES, versions: { ...TABLES.versions, columns: short } };
    const remote = await startRunApp({ backend, tables });
    const local = await startRunApp({ backend, env: { SYNC_REMOTE_URL: remote.url } });
    const at = "2026-01-01T00:00:00Z";
    await local.push("versions", {
      records: [
        { name: "a", at, body: "ok" },
        { name: "b", at, body: "too long" },
      ],
    });
    await remote.push("notes", { records: notes(3) });
    await local.trigger({ table: "versions", direction: "push" });
    await local.stream({ table: "notes", direction: "pull" });
    await local.trigger({ table: "notes", direction: "pull", dry_run: true });
    const samples = await readSamples(local);
    expect(pick(samples, /^repsync_sync_runs_/)).toEqual({
      'repsync_sync_runs_total{direction="push",status="partial",trigger="api"}': 1,
      'repsync_sync_runs_total{direction="pull",status="success",trigger="stream"}': 1,
      "repsync_sync_runs_active{}": 0,
    });
    expect(pick(samples, /^repsync_sync_(rows|refusals)_total/)).toEqual({
      'repsync_sync_rows_total{direction="push",table="versions"}': 1,
      'repsync_sync_rows_total{direction="pull",table="notes"}': 3,
      'repsync_sync_refusals_total{direction="push",table="versions"}': 1,
      'repsync_sync_refusals_total{direction="pull",table="notes"}': 0,
    });
    const [{ tables: byTable } = {}] = await local.items("/runs");
    const pulled = (byTable as Record<string, Record<string, number>>)["notes"];
    expect(pick(samples, /^repsync_sync_bytes_total.*notes/)).toEqual({
      'repsync_sync_bytes_total{direction="pull",form="compressed",table="notes"}':
        pulled?.["bytes_compressed"] ?? -1,
      'repsync_sync_bytes_total{direction="pull",form="uncompressed",table="notes"}':
        pulled?.["bytes_uncompressed"] ?? -1,
    });
    expect(
      samples.get('repsync_sync_run_duration_seconds_count{direction="push",status="partial"}'),
    ).toBe(1);
    const lags = pick(samples, /^repsync_sync_marker_lag_seconds/);
    const lagSeconds = (Date.now() - Date.parse(at)) / 1000;
    expect(Object.keys(lags)).toEqual([
      'repsync_sync_marker_lag_seconds{direction="push",table="versions"}',
    ]);
    expect(Math.abs(Object.values(lags)[0]! - lagSeconds)).toBeLessThan(30);
    const waiting = pick(samples, /^repsync_sync_rejected_records.*(versions|notes)/);
    expect(waiting).toEqual({
      'repsync_sync_rejected_records{direction="push",table="versions"}': 1,
      'repsync_sync_rejected_records{direction="pull",table="versions"}': 0,
      'repsync_sync_rejected_records{direction="push",table="notes"}': 0,
      'repsync_sync_rejected_records{direction="pull",table="notes"}': 0,
    });
    expect(pick(samples, /^repsync_sync_drift_rows/)).toEqual({
      'repsync_sync_drift_rows{table="versions"}': 1,
      'repsync_sync_drift_rows{table="notes"}': 0,
    });
    expect(samples.get("repsync_store_up{}")).toBe(1);
  });

  test("D-6.8 metrics() goes on counting after a transfer that failed half way", async () => {
    let pushes = 0;
    const table = { key: ["name"], columns: ["name", "body"], timestamp: null };
    const server = startForeignServer({
      ...{ key: SYNC_KEY, tables: { first: table, second: table }, random: () => 0 },
      tamper({ path }, reply) {
        if (path !== "/push/first" || ++pushes === 1) return reply;
        return { status: 400, body: { error: "not today" }, headers: {} };
      },
    });
    const entry = { upsert_key: ["name"], columns: TABLES.notes.columns };
    const local = await startRunApp({
      backend,
      tables: { first: entry, second: entry },
      env: { SYNC_REMOTE_URL: server.url, SYNC_MAX_BATCH_SIZE: "100" },
    });
    await local.push("first", { records: notes(100) });
    await local.push("first", { records: notes(50, "m") });
    await local.push("second", { records: notes(1) });
    expect((await local.trigger({ direction: "push" })).status).toBe(500);
    const samples = await readSamples(local);
    expect(pick(samples, /^repsync_sync_(runs|rows_total.*(first|second))/)).toEqual({
      'repsync_sync_runs_total{direction="push",status="failed",trigger="api"}': 1,
      "repsync_sync_runs_active{}": 0,
      'repsync_sync_rows_total{direction="push",table="first"}': 100,
      'repsync_sync_rows_total{direction="push",table="second"}': 1,
    });
  });

  test("D-6.8, D-5.8, D-6.8.1 metrics() counts lookups by outcome, refused and limited ones too", async () => {
    const app = await startRunApp({ backend });
    const ana = await Person.signUp(app, "ana");
    const key = await ana.issueKey();
    await lookUp(app, key, { username: "ana" });
    await ana.consent();
    for (let i = 0; i < 29; i++) await lookUp(app, key, { username: "ana" });
    await lookUp(app, key, { username: "ana" });
    await lookUp(app, "wrong", { username: "ana" });
    const samples = await readSamples(app);
    expect(pick(samples, /^repsync_lookups_total/)).toEqual({
      'repsync_lookups_total{code="",outcome="allowed"}': 29,
      'repsync_lookups_total{code="consent_required",outcome="denied"}': 1,
      'repsync_lookups_total{code="rate_limited",outcome="limited"}': 1,
      'repsync_lookups_total{code="api_key_invalid",outcome="refused"}': 1,
    });
    // Reading them counts nothing.
    const again = pick(await readSamples(app), /^repsync_lookup/);
    expect(again).toEqual(pick(samples, /^repsync_lookup/));
    const cached = (name: string) => samples.get(`repsync_lookup_cache_${name}{}`);
    // The person, and the caller by key.
    const entries = 2;
    expect([cached("entries"), cached("evictions_total")]).toEqual([entries, 0]);
    // Each 30 times; the first times, and the one after the consent, they had to be read.
    expect(cached("hits_total")).toBeGreaterThanOrEqual(28 * entries);
    expect(cached("misses_total")).toBeGreaterThanOrEqual(1 + entries);
    const route = 'route="/v1/public/profiles/:username/reputation"';
    const count = (status: number) =>
      samples.get(
        `repsync_http_request_duration_seconds_count{method="GET",${route},status="${status}"}`,
      );
    expect([200, 403, 429, 401].map(count)).toEqual([29, 1, 1, 1]);
  });
});

describe("metrics()", () => {
  test("D-6.8, D-6.8.1 metrics() counts requests by route, method and status, with their duration", async () => {
    const app = await startApp();
    await app.pull("notes");
    await app.pull("notes", "?limit=1");
    await app.send("/no/such/path");
    await app.send("/api/v1/sync/status", { method: "DELETE" });
    await app.raw("MKCOL /v1/health HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n");
    const samples = await readSamples(app);
    const counts = pick(samples, /^repsync_http_request_duration_seconds_count/);
    const name = "repsync_http_request_duration_seconds_count";
    expect(counts).toMatchObject({
      [`${name}{method="GET",route="/api/v1/sync/pull/:table_name",status="200"}`]: 2,
      [`${name}{method="GET",route="none",status="404"}`]: 1,
      [`${name}{method="DELETE",route="/api/v1/sync/status",status="405"}`]: 1,
      [`${name}{method="other",route="/v1/health",status="405"}`]: 1,
    });
    const pull = 'method="GET",route="/api/v1/sync/pull/:table_name",status="200"';
    const buckets = pick(samples, /_bucket\{.*pull\/:table_name/);
    const values = Object.values(buckets);
    expect(values).toEqual(values.toSorted((a, b) => a - b));
    expect(buckets[`repsync_http_request_duration_seconds_bucket{le="+Inf",${pull}}`]).toBe(2);
    expect(samples.get(`repsync_http_request_duration_seconds_sum{${pull}}`)).toBeGreaterThan(0);
    for (const gauge of ["process_resident_memory_bytes", "process_cpu_seconds_total"]) {
      expect(samples.get(`${gauge}{}`)).toBeGreaterThan(0);
    }
    expect(pick(samples, /^repsync_build_info/)).toEqual({
      [`repsync_build_info{runtime="bun ${Bun.version}",version="0.2.0"}`]: 1,
    });
  });

  test("D-6.8, D-6.8.1 metrics() is served while the store is gone, and says so", async () => {
    const file = join(makeTempFolder(), "repsync.db");
    const app = await startApp({ env: { STORAGE_URL: `sqlite:${file}` } });
    rmSync(file);
    const samples = await readSamples(app);
    expect(samples.get("repsync_store_up{}")).toBe(0);
    expect(pick(samples, /^repsync_sync_(rejected|marker)/)).toEqual({});
  });

  test("D-1.3.11 with METRICS_TOKEN its bearer alone is served", async () => {
    const app = await startApp({ env: { METRICS_TOKEN: "token-of-metrics" } });
    const statusOf = async (Authorization?: string) => {
      const headers = Authorization === undefined ? {} : { Authorization };
      return (await app.send("/metrics", { headers })).status;
    };
    expect(await statusOf("Bearer token-of-metrics")).toBe(200);
    expect(await statusOf("bearer  token-of-metrics")).toBe(200);
    const wrong = ["", "Bearer", "Bearer ", "Bearer token", "Bearer token-of-metricss"];
    for (const value of [undefined, ...wrong, "token-of-metrics", "Basic token-of-metrics"]) {
      expect([value, await statusOf(value)]).toEqual([value, 401]);
    }
    const reply = await app.send("/metrics");
    expect(reply.headers.get("www-authenticate")).toBe("Bearer");
    expect(Object.keys(reply.json)).toEqual(["error"]);
    const head = await app.send("/metrics", { method: "HEAD" });
    expect(head.status).toBe(401);
  });

  test("D-1.3.11 without METRICS_TOKEN a caller on another address is 403", async () => {
    const address = Object.values(networkInterfaces())
      .flat()
      .find((entry) => entry?.family === "IPv4" && !entry.internal)?.address;
    const app = await startApp();
    expect((await app.send("/metrics")).status).toBe(200);
    // Told by a proxy on this machine.
    const forwarded = { "X-Forwarded-For": address ?? "203.0.113.7" };
    const reply = await app.send("/metrics", { headers: forwarded });
    expect([reply.status, Object.keys(reply.json)]).toEqual([403, ["error"]]);
  });

  test("D-11.8.1 without METRICS_TOKEN a page whose name leads here reads nothing", async () => {
    const app = await startApp();
    const statusFor = async (host: string) =>
      (await app.raw(requestText("GET /metrics").replace("localhost", host))).status;
    expect(await statusFor("localhost")).toBe(200);
    expect(await statusFor(new URL(app.url).host)).toBe(200);
    expect(await statusFor(`evil.example:${new URL(app.url).port}`)).toBe(403);
    const named = await startApp({ env: { METRICS_TOKEN: "token-of-metrics" } });
    const asked = requestText("GET /metrics", ["Authorization: Bearer token-of-metrics"]);
    expect((await named.raw(asked.replace("localhost", "metrics.example"))).status).toBe(200);
  });

  test.each([
    ["127.0.0.1", {}, true],
    ["127.8.8.8", {}, true],
    ["::1", {}, true],
    ["::ffff:127.0.0.1", {}, true],
    ["203.0.113.7", {}, false],
    ["10.0.0.1", {}, false],
    ["::ffff:10.0.0.1", {}, false],
    ["fe80::1", {}, false],
    [null, {}, false],
    ["127.0.0.1", { "X-Forwarded-For": "127.0.0.1" }, true],
    ["127.0.0.1", { "X-Forwarded-For": "203.0.113.7" }, false],
    ["127.0.0.1", { "X-Forwarded-For": "127.0.0.1, 203.0.113.7" }, false],
    ["127.0.0.1", { "X-Forwarded-For": "203.0.113.7, 127.0.0.1" }, false],
    ["127.0.0.1", { "X-Forwarded-For": "" }, false],
    ["127.0.0.1", { "X-Forwarded-For": "localhost" }, false],
    ["203.0.113.7", { "X-Forwarded-For": "127.0.0.1" }, false],
    ["127.0.0.1", { Forwarded: "for=203.0.113.7" }, false],
    ["127.0.0.1", { "X-Real-IP": "203.0.113.7" }, false],
    ["127.0.0.1", { Via: "1.1 proxy" }, false],
    ["127.0.0.1", { "X-Forwarded-Proto": "https" }, false],
    ["127.0.0.1", { "X-Forwarded-For": "127.0.0.1", "X-Real-IP": "203.0.113.7" }, false],
    ["127.0.0.1", { "X-Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1" }, true],
    ["127.0.0.1", { "X-Forwarded-For": "127.0.0.1", Forwarded: "for=203.0.113.7" }, false],
    ["127.0.0.1", { "X-Forwarded-For": "127.0.0.1", Via: "1.1 proxy" }, false],
    ["127.0.0.1", { Host: "LOCALHOST" }, true],
    ["127.0.0.1", { Host: "127.0.0.1:3000" }, true],
    ["::1", { Host: "[::1]:3000" }, true],
    ["127.0.0.1", { Host: "" }, false],
    ["127.0.0.1", { Host: "evil.example" }, false],
    ["127.0.0.1", { Host: "localhost.evil.example:3000" }, false],
    ["127.0.0.1", { Host: "127.0.0.1.evil.example" }, false],
    ["127.0.0.1", { Host: "evil.example@127.0.0.1" }, false],
    ["127.0.0.1", { Host: "10.0.0.1" }, false],
    ["127.0.0.1", { Host: "127.0.0.1", "X-Forwarded-For": "203.0.113.7" }, false],
    ["127.0.0.1", { Host: "evil.example", "X-Forwarded-For": "127.0.0.1" }, false],
  ] as const)(
    "D-1.3.11, D-11.8.1 a socket from %p with %j is of this machine: %p",
    (address, headers, isAllowed) => {
      const connection = { remoteAddress: address, keepOpen: () => {} };
      const ask = () =>
        metricsReader({ metricsToken: null, comparison: new NodeSecretComparison() }).admit(
          new Exchange(
            new Request("http://localhost:3000/metrics", {
              headers: { Host: "localhost:3000", ...headers },
            }),
            {
              connection,
              browsers: { sessionCookie: "", corsOrigins: [], trustedProxyHops: 0 },
              ids: { next: () => "request-1" },
            },
          ),
          {},
        );
      if (isAllowed) expect(ask).not.toThrow();
      else expect(ask).toThrow("Metrics are for callers on this machine");
    },
  );
});
