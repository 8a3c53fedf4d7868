// The document is true of every operation of runs and of the metrics, in every status it names.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { ColumnEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { Leases } from "../../../src/repositories/leases.ts";
import { withStore } from "../../support/stores/with-store.ts";
import { ADMIN_ENV, jsonBody, Person } from "../reputation/people.ts";
import { openApiDocument } from "../support/check-reply.ts";
import { fastTime } from "../support/fast-time.ts";
import { makeTempFolder } from "../support/make-temp-folder.ts";
import { type Reply, type RequestOptions, SYNC_KEY, startApp } from "../support/sync-app.ts";
import { TABLES } from "../support/tables.ts";
import { type RunApp, SYNC, startPair, startRunApp } from "./support/run-apps.ts";

interface Operation {
  readonly path: string;
  readonly options: RequestOptions;
}

const NOTES = jsonBody({ table: "notes" });
const FILE = { method: "POST", body: "name\na\n", headers: { "Content-Type": "text/csv" } };
const OPERATIONS: Readonly<Record<string, Operation>> = {
  triggerSync: { path: "/trigger", options: NOTES },
  triggerSyncStream: { path: "/trigger-sse", options: NOTES },
  compareTable: { path: "/compare", options: NOTES },
  compareTableStream: { path: "/compare-sse", options: NOTES },
  watchSyncRun: { path: "/runs/some-run-1/events", options: {} },
  listSyncRuns: { path: "/runs", options: {} },
  readSyncRun: { path: "/runs/some-run-1", options: {} },
  readOverview: { path: "/overview", options: {} },
  listRows: { path: "/rows/notes", options: {} },
  exportTable: { path: "/export/notes", options: {} },
  inferTable: { path: "/infer?name=shops", options: FILE },
  importTable: { path: "/import/notes", options: FILE },
  listRejectedRecords: { path: "/rejected", options: {} },
  readRejectedRecord: { path: "/rejected/1", options: {} },
  retryRejectedRecord: { path: "/rejected/1/retry", options: { method: "POST" } },
  dropRejectedRecord: { path: "/rejected/1", options: { method: "DELETE" } },
};

type Example = () => Promise<Reply>;

/** As another program would. */
function dropElsewhere(file: string, table: string): void {
  const database = new Database(file);
  database.run(`DROP TABLE ${table}`);
  database.close();
}

/** What every operation of an administrator answers to whoever may not, or when the store is gone. */
function sharedExamples(name: string, { path, options }: Operation): Record<string, Example> {
  return {
    [`${name} 401`]: async () =>
      (await startApp({ env: ADMIN_ENV })).send(`${SYNC}${path}`, options),
    [`${name} 403`]: async () => {
      const app = await startApp({ env: ADMIN_ENV });
      return (await Person.signUp(app, "ana")).send(`${SYNC}${path}`, options);
    },
    [`${name} 405`]: async () => (await startRunApp()).ask(path, { method: "PATCH" }),
    [`${name} 503`]: async () => {
      const file = join(makeTempFolder(), "repsync.db");
      const app = await startRunApp({ env: { STORAGE_URL: `sqlite:${file}` } });
      dropElsewhere(file, "repsync_sessions");
      return app.ask(path, options);
    },
  };
}

/** Requests with bodies that are wrong or too large, to operations that have one. */
function bodyExamples(name: string, path: string): Record<string, Example> {
  const post = (body: string) => ({ method: "POST", body });
  return {
    [`${name} 400`]: async () => (await startRunApp()).ask(path, post("[]")),
    [`${name} 413`]: async () => (await startRunApp()).ask(path, post("x".repeat(70_000))),
  };
}

/** A deployment whose remote is gone. */
async function startAlone(): Promise<RunApp> {
  const { local, remote } = await startPair({ time: fastTime() });
  await remote.stop();
  return local;
}

const key = { headers: { "X-Sync-Key": SYNC_KEY } };
const DIGEST = `${SYNC}/digest/notes`;

const EXAMPLES: Readonly<Record<string, Example>> = {
  ...Object.assign({}, ...Object.entries(OPERATIONS).map(([name, o]) => sharedExamples(name, o))),
  ...bodyExamples("triggerSync", "/trigger"),
  ...bodyExamples("triggerSyncStream", "/trigger-sse"),
  ...bodyExamples("compareTable", "/compare"),
  ...bodyExamples("compareTableStream", "/compare-sse"),
  "triggerSync 200": async () => (await startPair()).local.trigger(),
  "triggerSync 202": async () => (await startPair()).local.trigger({ table: "notes", wait: false }),
  "triggerSync 500": async () => (await startAlone()).trigger({ table: "notes" }),
  "triggerSyncStream 200": async () => (await startPair()).local.ask("/trigger-sse", NOTES),
  "triggerSyncStream 500": async () => {
    const app = await startRunApp();
    await app.stopRuns();
    return app.ask("/trigger-sse", NOTES);
  },
  "compareTable 200": async () => (await startPair()).local.ask("/compare", NOTES),
  "compareTable 500": async () => (await startAlone()).ask("/compare", NOTES),
  "compareTableStream 200": async () => (await startPair()).local.ask("/compare-sse", NOTES),
  "compareTableStream 500": async () => {
    const app = await startRunApp();
    await app.stopRuns();
    return app.ask("/compare-sse", NOTES);
  },
  "watchSyncRun 200": async () => {
    const { local } = await startPair();
    const run = await local.trigger({ table: "notes" });
    return local.ask(`/runs/${run.json["run_id"]}/events`);
  },
  "watchSyncRun 404": async () => (await startRunApp()).ask("/runs/some-run-1/events"),
  "listSyncRuns 200": async () => (await startRunApp()).ask("/runs"),
  "listSyncRuns 400": async () => (await startRunApp()).ask("/runs?limit=x"),
  "readSyncRun 200": async () => {
    const { local } = await startPair();
    const run = await local.trigger({ table: "notes" });
    return local.ask(`/runs/${run.json["run_id"]}`);
  },
  "readSyncRun 404": async () => (await startRunApp()).ask("/runs/some-run-1"),
  "readOverview 200": async () => (await startPair()).local.ask("/overview"),
  "listRows 200": async () => (await startRunApp()).ask("/rows/notes"),
  "exportTable 200": async () => (await startRunApp()).ask("/export/notes"),
  "exportTable 400": async () => (await startRunApp()).ask("/export/no_such_table"),
  "inferTable 200": async () => (await startRunApp()).ask("/infer?name=shops", FILE),
  "inferTable 400": async () => (await startRunApp()).ask("/infer?name=a-b", FILE),
  "importTable 200": async () => (await startRunApp()).ask("/import/notes", FILE),
  "importTable 400": async () => (await startRunApp()).ask("/import/no_such_table", FILE),
  "importTable 409": async () => {
    const notes = { ...TABLES.notes, upsert_key: ["name"], direction: "pull" as const };
    return (await startRunApp({ tables: { notes } })).ask("/import/notes", FILE);
  },
  "importTable 500": async () => {
    const app = await startRunApp();
    await app.stopRuns();
    return app.ask("/import/notes", FILE);
  },
  "listRows 400": async () => (await startRunApp()).ask("/rows/no_such_table"),
  "listRejectedRecords 200": async () => (await startRunApp()).ask("/rejected"),
  "listRejectedRecords 400": async () => (await startRunApp()).ask("/rejected?cursor=x"),
  "dropRejectedRecord 200": async () =>
    (await rejectOne()).ask("/rejected/0000000000000001", { method: "DELETE" }),
  "dropRejectedRecord 404": async () =>
    (await startRunApp()).ask("/rejected/1", { method: "DELETE" }),
  "readRejectedRecord 200": async () => (await rejectOne()).ask("/rejected/0000000000000001"),
  "readRejectedRecord 404": async () => (await startRunApp()).ask("/rejected/1"),
  "retryRejectedRecord 200": async () =>
    (await rejectOne()).ask("/rejected/0000000000000001/retry", { method: "POST" }),
  "retryRejectedRecord 400": async () => {
    const file = join(makeTempFolder(), "repsync.db");
    await rejectOne(`sqlite:${file}`);
    const alone = await startRunApp({ env: { STORAGE_URL: `sqlite:${file}` } });
    return alone.ask("/rejected/0000000000000001/retry", { method: "POST" });
  },
  "retryRejectedRecord 404": async () =>
    (await startRunApp()).ask("/rejected/1/retry", { method: "POST" }),
  "retryRejectedRecord 409": async () => {
    const file = join(makeTempFolder(), "repsync.db");
    const app = await rejectOne(`sqlite:${file}`);
    const lease = { name: "sync push words", holder: "run", ttlMs: 900_000 };
    await withStore(`sqlite:${file}`, ({ documents }) => new Leases(documents).acquire(lease));
    return app.ask("/rejected/0000000000000001/retry", { method: "POST" });
  },
  "retryRejectedRecord 500": async () => {
    const app = await rejectOne();
    await app.stopRuns();
    return app.ask("/rejected/0000000000000001/retry", { method: "POST" });
  },
  "readDigest 200": async () => (await startApp()).send(DIGEST, key),
  "readDigest 400": async () => (await startApp()).send(`${DIGEST}?after=x`, key),
  "readDigest 401": async () => (await startApp()).send(DIGEST),
  "readDigest 403": async () => (await startApp({ env: { SYNC_ENABLED: "0" } })).send(DIGEST, key),
  "readDigest 405": async () => (await startApp()).send(DIGEST, { ...key, method: "POST" }),
  "readDigest 500": async () => (await startApp({ env: { SYNC_API_KEY: "" } })).send(DIGEST, key),
  "readDigest 503": async () => {
    const file = join(makeTempFolder(), "repsync.db");
    const app = await startApp({ env: { STORAGE_URL: `sqlite:${file}` } });
    dropElsewhere(file, "notes");
    return app.send(DIGEST, key);
  },
  "readMetrics 200": async () => (await startApp()).send("/metrics"),
  "readMetrics 401": async () => (await startApp({ env: { METRICS_TOKEN: "t" } })).send("/metrics"),
  "readMetrics 403": async () =>
    (await startApp()).send("/metrics", { headers: { "X-Forwarded-For": "203.0.113.7" } }),
  "readMetrics 503": async () => {
    const app = await startApp();
    await app.drain();
    return await app.send("/metrics");
  },
  "readMetrics 405": async () => (await startApp()).send("/metrics", { method: "POST" }),
};

/** A deployment with one rejected record. */
async function rejectOne(storageUrl = "sqlite::memory:"): Promise<RunApp> {
  const words = (column: ColumnEntry) => ({ words: { upsert_key: ["w"], columns: { w: column } } });
  const remote = await startRunApp({ tables: words({ type: "text", max_length: 2 }) });
  const env = { SYNC_REMOTE_URL: remote.url, STORAGE_URL: storageUrl };
  const local = await startRunApp({ tables: words({ type: "text" }), env });
  await local.push("words", { records: [{ w: "too long" }] });
  await local.trigger({ table: "words", direction: "push" });
  return local;
}

describe("/swagger/json", () => {
  test("D-6.8 /swagger/json documents no status of runs that the tests below do not see", async () => {
    const { paths } = await openApiDocument((await startApp({ env: ADMIN_ENV })).url);
    const names = [...Object.keys(OPERATIONS), "readDigest", "readMetrics"];
    const documented = Object.values(paths)
      .flatMap((item) => Object.values(item))
      .filter(({ operationId }) => names.includes(operationId))
      .flatMap(({ operationId, responses }) =>
        Object.keys(responses).map((status) => `${operationId} ${status}`),
      );
    expect(documented.sort()).toEqual(Object.keys(EXAMPLES).sort());
  });

  test("D-6.8, D-4.1, S-5 /swagger/json names the credentials of each operation", async () => {
    const { paths } = await openApiDocument((await startApp({ env: ADMIN_ENV })).url);
    const securityOf = (path: string, method: string) =>
      (paths[path]?.[method] as { security?: unknown } | undefined)?.security;
    const administrator = [{ bearer: [] }, { session: [] }];
    for (const path of ["trigger", "trigger-sse", "compare", "compare-sse"]) {
      expect(securityOf(`${SYNC}/${path}`, "post")).toEqual(administrator);
    }
    for (const path of [
      "runs",
      "runs/{run_id}",
      "runs/{run_id}/events",
      "rows/{table_name}",
      "overview",
      "rejected",
    ]) {
      expect(securityOf(`${SYNC}/${path}`, "get")).toEqual(administrator);
    }
    expect(securityOf(`${SYNC}/rejected/{id}`, "delete")).toEqual(administrator);
    expect(securityOf(`${SYNC}/digest/{table_name}`, "get")).toEqual([{ syncKey: [] }]);
    expect(securityOf("/metrics", "get")).toEqual([{ metricsToken: [] }, {}]);
  });

  test.each(Object.keys(EXAMPLES))("D-6.8, S-7 a reply matches the document: %s", async (name) => {
    const reply = await EXAMPLES[name]?.();
    expect(String(reply?.status)).toBe(name.split(" ")[1] ?? "");
  });
});
