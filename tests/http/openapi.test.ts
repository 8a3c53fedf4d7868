// The published document: valid, complete, and true of every operation and status. All other tests of this folder
// compare each reply they see with it (support/check-reply.ts).
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import SwaggerParser from "@apidevtools/swagger-parser";
import { type OpenApiDocument, openApiDocument } from "./support/check-reply.ts";
import { makeTempFolder } from "./support/make-temp-folder.ts";
import { type Reply, type SyncApp, startApp } from "./support/sync-app.ts";
import { TABLE_NAMES } from "./support/tables.ts";

const PULL = "/api/v1/sync/pull/notes";
const PUSH = "/api/v1/sync/push/notes";
const STATUS = "/api/v1/sync/status";

const disabled = { SYNC_ENABLED: "false" };
const keyless = { SYNC_API_KEY: "" };

/** A deployment on a file, after `harm` was done to it. */
async function startHarmed(harm: (file: string) => void): Promise<SyncApp> {
  const file = join(makeTempFolder(), "repsync.db");
  const app = await startApp({ env: { STORAGE_URL: `sqlite:${file}` } });
  harm(file);
  return app;
}

function runElsewhere(file: string, sql: string): void {
  const database = new Database(file);
  database.run(sql);
  database.close();
}

/** One way to every status of every operation. */
const EXAMPLES: Readonly<Record<string, () => Promise<Reply>>> = {
  "pullPage 200": async () => (await startApp()).pull("notes"),
  "pullPage 400": async () => (await startApp()).pull("no_such_table"),
  "pullPage 401": async () => (await startApp()).send(PULL),
  "pullPage 403": async () => (await startApp({ env: disabled })).pull("notes"),
  "pullPage 405": async () => (await startApp()).send(PULL, { method: "PUT" }),
  "pullPage 500": async () => (await startApp({ env: keyless })).pull("notes"),
  "pullPage 503": async () =>
    (await startHarmed((file) => runElsewhere(file, "DROP TABLE notes"))).pull("notes"),
  "pushRecords 200": async () => (await startApp()).push("notes", { records: [{ name: "a" }, 5] }),
  "pushRecords 400": async () => (await startApp()).push("notes", []),
  "pushRecords 401": async () => (await startApp()).send(PUSH, { method: "POST" }),
  "pushRecords 403": async () => (await startApp({ env: disabled })).push("notes", {}),
  "pushRecords 405": async () => (await startApp()).send(PUSH),
  "pushRecords 413": async () =>
    (await startApp({ env: { SYNC_MAX_BODY_BYTES: "1" } })).push("notes", {}),
  "pushRecords 422": async () => (await startApp()).pushGzip("notes", "no JSON"),
  "pushRecords 500": async () =>
    (await startHarmed(rmSync)).push("notes", { records: [{ name: "a" }] }),
  "readSyncStatus 200": async () => (await startApp()).send(STATUS),
  "readSyncStatus 405": async () => (await startApp()).send(STATUS, { method: "POST" }),
  "pushRecords 503": async () => {
    const app = await startApp();
    await app.drain();
    return await app.push("notes", { records: [] });
  },
  "readSyncStatus 503": async () =>
    (await startHarmed((file) => runElsewhere(file, "DROP TABLE repsync_memory"))).send(STATUS),
  "checkHealth 200": async () => (await startApp()).send("/v1/health"),
  "checkHealth 405": async () => (await startApp()).send("/v1/health", { method: "POST" }),
  "checkHealth 503": async () => (await startHarmed(rmSync)).send("/v1/health"),
};

const OPERATIONS = ["pullPage", "pushRecords", "readSyncStatus", "checkHealth"];

async function readDocument(): Promise<OpenApiDocument> {
  return openApiDocument((await startApp()).url);
}

describe("/swagger/json", () => {
  test("D-6.8 /swagger/json is a valid OpenAPI document", async () => {
    const { send } = await startApp();
    const reply = await send("/swagger/json");
    expect(reply.headers.get("content-type")).toStartWith("application/json");
    const document = reply.json as unknown as Parameters<typeof SwaggerParser.validate>[0];
    expect(await SwaggerParser.validate(document)).toMatchObject({ openapi: "3.1.2" });
  });

  test("D-6.8 /swagger/json names its schemas once, and has no choice between a value and null", async () => {
    const { text, json } = await (await startApp()).send("/swagger/json");
    const { schemas } = json["components"] as { schemas: Record<string, object> };
    const used = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, n]) => n));
    expect([...used].sort()).toEqual(Object.keys(schemas).sort());
    expect(schemas["Reputation"]).toMatchObject({ type: "object", additionalProperties: false });
    expect(schemas["Consent"]).toMatchObject({
      properties: { expires_at: { type: ["string", "null"], format: "date-time" } },
    });
    expect(schemas["Access"]).toMatchObject({
      properties: { code: { enum: expect.arrayContaining(["consent_required", null]) } },
    });
    expect(text).not.toContain('{"type":"null"}');
  });

  test("D-6.8 /swagger/json names every parameter of pull() and push()", async () => {
    const { send } = await startApp();
    const paths = (await send("/swagger/json")).json["paths"] as Record<
      string,
      Record<string, { parameters: { in: string; name: string; required: boolean }[] }>
    >;
    const parametersOf = (path: string, method: string) =>
      paths[path]?.[method]?.parameters.map((p) => `${p.in} ${p.name}${p.required ? "!" : ""}`);
    expect(parametersOf("/api/v1/sync/pull/{table_name}", "get")).toEqual([
      "path table_name!",
      "query since",
      "query offset",
      "query limit",
      "header X-Sync-Columns",
    ]);
    expect(parametersOf("/api/v1/sync/push/{table_name}", "post")).toEqual([
      "path table_name!",
      "header Content-Encoding",
      "header X-Content-SHA256",
      "header X-Sync-Conflict",
      "header X-Sync-Run",
      "header X-Sync-Columns",
      "header X-Sync-Dry-Run",
    ]);
  });

  test("S-6.3, D-9.5, D-9.5.2, D-9.5.6 runs, comparisons, imports and the verification of the audit log are the only operations that answer with events", async () => {
    const { paths } = await readDocument();
    const channels = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, operation]) => JSON.stringify(operation).includes("text/event-stream"))
        .map(([method]) => `${method} ${path}`),
    );
    expect(channels.sort()).toEqual([
      "get /api/v1/sync/runs/{run_id}/events",
      "post /api/v1/sync/compare-sse",
      "post /api/v1/sync/import/{table_name}",
      "post /api/v1/sync/trigger-sse",
      "post /v1/admin/audit/verify",
    ]);
  });

  test("D-6.8, S-4.3 /swagger/json names the tables, and none when sync is disabled", async () => {
    const named = (await (await startApp()).send("/swagger/json")).text;
    expect(named).toContain(`"enum":${JSON.stringify(TABLE_NAMES)}`);
    const hidden = (await (await startApp({ env: disabled })).send("/swagger/json")).text;
    for (const name of ["listings", "platform_accounts"]) expect(hidden).not.toContain(name);
  });

  test("D-6.8 /swagger/json documents no status that the tests below do not see", async () => {
    const { paths } = await readDocument();
    const documented = Object.values(paths)
      .flatMap((item) => Object.values(item))
      .filter(({ operationId }) => OPERATIONS.includes(operationId))
      .flatMap(({ operationId, responses }) =>
        Object.keys(responses).map((status) => `${operationId} ${status}`),
      );
    expect(documented.sort()).toEqual(Object.keys(EXAMPLES).sort());
  });

  test.each(Object.keys(EXAMPLES))("D-6.8, S-7 a reply matches the document: %s", async (name) => {
    const reply = await EXAMPLES[name]?.();
    expect(String(reply?.status)).toBe(name.split(" ")[1] ?? "");
  });
});

describe("/swagger", () => {
  test("D-6.8 a browser that asks for the page's icon gets no failure", async () => {
    const reply = await (await startApp()).send("/favicon.ico");
    expect([reply.status, reply.text]).toEqual([204, ""]);
  });

  test("D-6.8 /swagger loads everything from this service", async () => {
    const { url, send } = await startApp();
    const page = await send("/swagger");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toStartWith("text/html");
    const references = [...page.text.matchAll(/(?:src|href)="([^"]+)"|"url":"([^"]+)"/g)]
      .map(([, attribute, option]) => attribute ?? option ?? "")
      .sort();
    expect(references).toEqual([
      "/swagger/json",
      "/swagger/swagger-ui-bundle.js",
      "/swagger/swagger-ui.css",
    ]);
    expect(page.text).not.toMatch(/https?:|\/\/[a-z]|@import|url\(/i);
    for (const reference of references) {
      const reply = await fetch(new URL(reference, `${url}/swagger/`));
      expect([reference, reply.status]).toEqual([reference, 200]);
      expect((await reply.bytes()).length).toBeGreaterThan(1000);
    }
  });

  test("D-6.8 the assets of /swagger name no other host to load from", async () => {
    const { send } = await startApp();
    const css = await send("/swagger/swagger-ui.css");
    expect(css.headers.get("content-type")).toBe("text/css; charset=utf-8");
    const loaded = [...css.text.matchAll(/url\(\s*["']?([^"')]+)/g)].map(([, target]) => target);
    expect(loaded.filter((target) => !target?.startsWith("data:"))).toEqual([]);
    expect(css.text).not.toContain("@import");
    const script = await send("/swagger/swagger-ui-bundle.js");
    expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(script.text).not.toMatch(/importScripts|cdn\.jsdelivr|unpkg\.com|fonts\.g/);
  });

  test("D-6.8 /swagger is served again and again, also at once", async () => {
    const { send } = await startApp();
    const replies = await Promise.all(Array.from({ length: 5 }, () => send("/swagger")));
    for (const { text } of replies) expect(text).toContain("SwaggerUIBundle");
    expect(new Set(replies.map(({ headers }) => headers.get("x-request-id"))).size).toBe(5);
  });
});
