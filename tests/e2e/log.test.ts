// The log lines of the real service: JSON, enough to find a request by, no secret; and never in the service's way.
import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { connectSql, POSTGRESQL } from "../http/support/backends.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { makeClient, SYNC_KEY } from "../http/support/sync-app.ts";
import { type ServiceProcess, startService } from "./support/service-process.ts";

type LogLine = Readonly<Record<string, unknown>>;

function linesOf({ stderr }: ServiceProcess): LogLine[] {
  return stderr()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as LogLine);
}

const WITH_ID = { "X-Request-Id": "request-under-test" };

/** Requests of every kind, with secrets wherever a caller may put them. */
async function sendSecrets(service: ServiceProcess): Promise<string[]> {
  const body = '{"records":[{"name":"secret-row","body":"secret-body"},{"body":"secret-bad"}]}';
  const wrong = makeClient(service.url, "secret-wrong-key");
  const replies = [
    await service.push("notes", body),
    await service.pushGzip("notes", body),
    await service.pushGzip("notes", '{"secret-json":'),
    await service.pushGzip("notes", body, { "X-Content-SHA256": "wrong" }),
    await service.pull("notes", "?since=secret-since"),
    await service.pull("no_such_table"),
    await wrong.pull("notes"),
    await wrong.push("notes", body),
    await service.send("/secret-path?secret-query"),
    await service.send("/api/v1/sync/pull/%zz", { headers: { Authorization: "secret-auth" } }),
    await service.send("/api/v1/sync/status", { method: "DELETE", headers: { Cookie: "secret" } }),
    await service.send("/v1/health"),
  ];
  return replies.slice(6).map(({ text }) => text);
}

describe("log lines", () => {
  test("D-1.3, S-7 no log line and no reply shows a key, a row or the inside", async () => {
    const service = await startService({ env: { LOG_LEVEL: "debug" } });
    const texts = await sendSecrets(service);
    await service.stop();
    const log = service.stderr();
    expect(log).not.toContain(SYNC_KEY);
    expect(log).not.toContain("secret");
    for (const text of texts) {
      expect(text).not.toContain(SYNC_KEY);
      expect(text).not.toMatch(/secret-(?!path)|node_modules|\/src\/|\.ts\b/);
    }
    const levels = linesOf(service).map(({ level }) => Number(level));
    // What a caller does wrong is no error of the service.
    expect(Math.max(...levels)).toBeLessThan(50);
  });

  test("D-5.3, D-3.7 every request has a line with its id, and a push its sync_timestamp", async () => {
    const service = await startService({ env: { LOG_LEVEL: "info" } });
    const body = { sync_timestamp: "2026-03-01T10:00:00Z", records: [{ name: "a" }, {}] };
    await service.push("notes", body, WITH_ID);
    await service.send("/api/v1/sync/pull/no_such_table", { headers: WITH_ID });
    await service.send("/no/such/path", { headers: WITH_ID });
    await service.stop();
    const lines = linesOf(service);
    const pushed = lines.find(({ msg }) => msg === "Push committed");
    expect(pushed).toMatchObject({
      level: 30,
      table: "notes",
      received: 2,
      upserted: 1,
      error_count: 1,
      integrity: "no_checksum",
      sync_timestamp: "2026-03-01T10:00:00Z",
    });
    const answered = lines.filter(({ msg }) => msg === "Request answered");
    const shared = { level: 30, request_id: "request-under-test", duration_ms: expect.any(Number) };
    expect(answered).toMatchObject([
      { ...shared, method: "POST", route: "/api/v1/sync/push/:table_name", status: 200 },
      { ...shared, method: "GET", route: "/api/v1/sync/pull/:table_name", status: 401 },
      { ...shared, method: "GET", route: null, status: 404 },
    ]);
    for (const { time } of lines) expect(String(time)).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  test("D-3.7, D-11.3 a sync_timestamp that is none neither fills the log nor commands a terminal", async () => {
    const service = await startService({ env: { LOG_LEVEL: "info" } });
    const stamps = ["x".repeat(1_000_000), "\u009b2K\u202e\u{e0041}"];
    for (const sync_timestamp of stamps) {
      const { status } = await service.push("notes", { sync_timestamp, records: [{ name: "a" }] });
      expect(status).toBe(200);
    }
    await service.stop();
    const pushed = linesOf(service).filter(({ msg }) => msg === "Push committed");
    expect(pushed.map(({ sync_timestamp }) => sync_timestamp)).toEqual([
      ...["x".repeat(100), "\u009b2K\u202e\u{e0041}"],
    ]);
    expect(service.stderr()).toContain('"sync_timestamp":"\\u009b2K\\u202e\\udb40\\udc41"');
    expect(service.stderr().length).toBeLessThan(2_500);
  });

  test("S-4.2.11, D-5.3 a failure of the store is in the log with its cause", async () => {
    const folder = makeTempFolder();
    const service = await startService({ folder });
    rmSync(join(folder, "repsync.db"));
    expect((await service.push("notes", { records: [{ name: "a" }] }, WITH_ID)).status).toBe(500);
    expect((await service.send("/v1/health", { headers: WITH_ID })).status).toBe(503);
    expect((await service.send("/metrics")).status).toBe(200);
    await service.stop();
    const [push, health, metrics] = linesOf(service);
    expect(push).toMatchObject({ level: 50, msg: "Push failed", table: "notes" });
    expect(JSON.stringify(push)).toContain("The database file is gone");
    expect(health).toMatchObject({ level: 50, msg: "Store does not answer" });
    expect(metrics).toMatchObject({ level: 50, msg: "Store cannot be read for the metrics" });
  });

  test.skipIf(!POSTGRESQL.isAvailable)(
    "S-4.2.11, D-5.3 what PostgreSQL says stands once in the line of its failure",
    async () => {
      const url = await POSTGRESQL.makeUrl();
      const service = await startService({ env: { STORAGE_URL: url } });
      const sql = connectSql(url);
      await sql.unsafe("drop table notes");
      expect((await service.push("notes", { records: [{ name: "a" }] })).status).toBe(500);
      await service.stop();
      const [push = {}] = linesOf(service);
      const said = 'relation "public.notes" does not exist';
      const { message, stack } = push["err"] as Record<string, string>;
      expect(message).toBe(`PostgreSQL refuses a statement (42P01): ${said}`);
      expect(stack?.split(said).length).toBe(2);
    },
  );

  test("S-5.2, D-5.3 a reply of 500 has an error line with the request's id", async () => {
    const service = await startService({ env: { SYNC_API_KEY: "" } });
    await service.send("/api/v1/sync/pull/notes", { headers: WITH_ID });
    await service.stop();
    expect(linesOf(service)).toMatchObject([
      { level: 50, msg: "Request failed", request_id: "request-under-test" },
    ]);
  });
});

describe("whoever reads the log", () => {
  test.each(["may stop reading", "may go away"])(
    "D-1.3.19 %s: the service goes on, and ends when it is told to",
    async (what) => {
      const service = await startService({ env: { LOG_LEVEL: "info" }, isStderrUnread: true });
      if (what === "may go away") service.closeStderr();
      // More log than a pipe holds, 64 KiB.
      const body = { sync_timestamp: "x".repeat(50), records: [{ name: "a" }] };
      for (let i = 0; i < 400; i++) expect((await service.push("notes", body)).status).toBe(200);
      expect(await service.stop()).toEqual({ code: 0, signal: null });
    },
  );
});
