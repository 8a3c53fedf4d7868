// The same service on Deno: `deno run -A src/app/main.ts`, with `node:sqlite`.
import { describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Command,
  MAIN,
  runProcess,
  serviceEnv,
  startProcess,
  startService,
} from "../e2e/support/service-process.ts";
import { gunzip, sha256, textOf } from "../http/support/bytes.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { bodyText, RawConnection } from "../http/support/raw-http.ts";
import { requestText } from "../http/support/sync-app.ts";
import { TABLE_NAMES } from "../http/support/tables.ts";

/** The program itself: `node_modules/.bin/deno` puts a process between that keeps signals to itself. */
const DENO = fileURLToPath(new URL("../../node_modules/deno/deno", import.meta.url));
const isInstalled = existsSync(DENO);
if (!isInstalled) {
  const reason = "node_modules/deno/deno is missing, which the set-up installs";
  if (process.env.CI === "true") throw new Error(`CI needs Deno: ${reason}`);
  console.error(`\n*** Deno tests are SKIPPED: ${reason} ***\n`);
}

const START: Command = [DENO, "run", "-A", "--no-lock", MAIN];

/** Starts the service on Deno, its caches in a folder of the test's own. */
function startOnDeno(folder = makeTempFolder(), env: Record<string, string> = {}) {
  return startService({ folder, command: START, env: { ...denoEnv(folder), ...env } });
}

function denoEnv(folder: string) {
  return { DENO_DIR: join(folder, "deno"), DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
}

describe.skipIf(!isInstalled)("the service on Deno", () => {
  test("S-4.1, S-4.2, S-4.3, D-6.8 pushes, pulls with gzip and checksum, and tells its status and health", async () => {
    const service = await startOnDeno();
    expect((await service.send("/v1/health")).json).toMatchObject({
      success: true,
      status: "ok",
      php: expect.stringMatching(/^deno \d+\.\d+\.\d+$/),
    });
    const record = { name: "v", required: "r", a_numeric: "1.10", a_bigint: "9007199254740993" };
    const body = JSON.stringify({ records: [{ ...record, a_text: "ž".repeat(2000) }] });
    expect((await service.pushGzip("samples", body)).text).toBe(
      '{"table":"samples","received":1,"upserted":1,"integrity":"verified"}',
    );
    const exact =
      '{"records":[{"name":"w","required":"r","an_integer":9007199254740993,"a_json":[1.10,"a\\u0000"]}]}';
    await service.push("samples", exact);
    const raw = await service.raw(requestText("GET /api/v1/sync/pull/samples"));
    const page = gunzip(raw.body);
    expect(raw.headers.get("content-type")).toBe("application/json");
    expect(raw.headers.get("content-encoding")).toBe("gzip");
    expect(raw.headers.get("content-length")).toBe(String(raw.body.length));
    expect(raw.headers.get("x-original-size")).toBe(String(page.length));
    expect(raw.headers.get("x-content-sha256")).toBe(sha256(page));
    expect(textOf(page)).toContain('"a_bigint":"9007199254740993","a_numeric":"1.10"');
    expect(textOf(page)).toContain('"an_integer":9007199254740993');
    expect(textOf(page)).toContain('"a_json":[1.10,"a\\u0000"]');
    const status = await service.send("/api/v1/sync/status");
    expect(status.json["tables"]).toEqual(TABLE_NAMES);
    expect(status.json["table_counts"]).toMatchObject({ samples: 2, notes: 0 });
    expect(await service.stop()).toEqual({ code: 0, signal: null });
    expect(service.stderr()).toBe("");
  });

  test("S-5, S-7, D-3.11 refuses what is refused on Bun, in the same words", async () => {
    const service = await startOnDeno(makeTempFolder(), { SYNC_MAX_BODY_BYTES: "100000" });
    const push = "/api/v1/sync/push/notes";
    const replies = [
      await service.send("/api/v1/sync/pull/notes"),
      await service.pull("no_such_table"),
      await service.pull("%zz"),
      await service.pull("%2e%2e"),
      await service.send("/nothing"),
      await service.send("/v1/nothing"),
      await service.send(push),
      await service.send("/api/v1/sync/status", { method: "HEAD" }),
      await service.push("notes", "not JSON"),
      await service.push("notes", "[]"),
      await service.push("notes", { records: [{ name: "x".repeat(100_000) }] }),
      await service.pushGzip("notes", "not JSON"),
      await service.pushGzip("notes", "{}", { "X-Content-SHA256": "wrong" }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([
      401, 400, 400, 404, 404, 404, 405, 200, 200, 400, 413, 422, 422,
    ]);
    const connection = await RawConnection.open(service.url);
    await connection.write(requestText(`POST ${push}`, ["Content-Length: 200000"]));
    const reply = await connection.readReply();
    expect([reply.status, Object.keys(JSON.parse(bodyText(reply)))]).toEqual([413, ["error"]]);
    expect((await service.send("/swagger")).text).toContain("SwaggerUIBundle");
    expect((await service.send("/swagger/swagger-ui.css")).wire.length).toBeGreaterThan(100_000);
  });

  test("D-11.8.5 a reply before the whole body has come ends the connection", async () => {
    const service = await startOnDeno();
    const connection = await RawConnection.open(service.url);
    const head = "POST /api/v1/sync/push/notes HTTP/1.1\r\nHost: localhost";
    await connection.write(`${head}\r\nContent-Length: 3\r\n\r\nabc`);
    const whole = await connection.readReply();
    expect([whole.status, whole.headers.has("connection")]).toEqual([401, false]);
    await connection.write(`${head}\r\nContent-Length: 1000\r\n\r\nabc`);
    const reply = await connection.readReply();
    expect([reply.status, reply.headers.get("connection")]).toEqual([401, "close"]);
    // Deno waits for what was announced.
    await connection.write("a".repeat(997));
    await connection.readToEnd();
  });

  test("D-1.2, D-1.3 reads .env, keeps rows over a restart, and leaves them to Bun", async () => {
    const folder = makeTempFolder();
    const { SYNC_API_KEY, ...env } = serviceEnv(folder);
    writeFileSync(join(folder, ".env"), `SYNC_API_KEY="${SYNC_API_KEY}"\nPORT=1\n`);
    const started = startProcess(START, { folder, env: { ...env, ...denoEnv(folder) } });
    const url = await started.waitFor("address", ({ stdout }) => /http:\S+/.exec(stdout())?.[0]);
    const headers = { "X-Sync-Key": String(SYNC_API_KEY) };
    const init = { method: "POST", headers, body: '{"records":[{"name":"from deno"}]}' };
    expect((await fetch(`${url}/api/v1/sync/push/notes`, init)).status).toBe(200);
    started.kill("SIGINT");
    expect(await started.ended).toEqual({ code: 0, signal: null });
    expect(existsSync(join(folder, "repsync.db-wal"))).toBeFalse();
    const onBun = await startService({ folder });
    expect(await onBun.records("notes")).toEqual([{ name: "from deno", body: null }]);
  });

  test("D-1.3.1, D-1.3.20 says what is wrong and exits as on Bun", async () => {
    const folder = makeTempFolder();
    const env = { ...serviceEnv(folder), ...denoEnv(folder) };
    const wrong = await runProcess(START, { folder, env: { ...env, PORT: "x", SYNC_TYPO: "1" } });
    expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
    expect(wrong.stderr).toContain("- PORT must be");
    expect(wrong.stderr).toContain("- SYNC_TYPO is not a setting");
    const first = await startService();
    const { port } = new URL(first.url);
    const second = await runProcess(START, { folder, env: { ...env, PORT: port } });
    expect([second.code, second.stdout]).toEqual([1, ""]);
    expect(second.stderr).toStartWith(`repsync cannot start: Cannot listen on 127.0.0.1:${port}: `);
  });
});
