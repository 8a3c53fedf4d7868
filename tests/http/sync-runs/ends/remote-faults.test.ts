// Remotes that are out of reach, lie or are something else: each run ends with what was wrong, and markers stay safe.
import { describe, expect, test } from "bun:test";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { SQLITE_FILE } from "../../support/backends.ts";
import { fastTime } from "../../support/fast-time.ts";
import { SYNC_KEY } from "../../support/sync-app.ts";
import {
  type ForeignReply,
  type ForeignRequest,
  type ForeignRow,
  startForeignServer,
} from "../support/foreign-server.ts";
import { type RunApp, startRunApp } from "../support/run-apps.ts";

const TABLES = {
  items: {
    timestamp_column: "at",
    upsert_key: ["name"],
    columns: { name: { type: "text" }, body: { type: "text" }, at: { type: "datetime" } },
  },
} as const satisfies Record<string, TableEntry>;
const FOREIGN = { items: { key: ["name"], columns: ["name", "body", "at"], timestamp: "at" } };

type Tamper = (request: ForeignRequest, reply: ForeignReply) => ForeignReply | Response;
type Page = Record<string, unknown> & { records: ForeignRow[] };

function rowOf(n: number): ForeignRow {
  return { name: `row ${n}`, body: "b", at: `2026-01-01T00:00:${String(n).padStart(2, "0")}Z` };
}

/** A deployment whose remote has 30 rows in pages of 10, and is tampered with from the `from`th pull on. */
async function startWith(tamper: Tamper, env: Record<string, string> = {}) {
  const server = startForeignServer({
    ...{ key: SYNC_KEY, tables: FOREIGN, random: () => 0.5, maxRows: 10, tamper },
  });
  for (let n = 0; n < 30; n++) server.put("items", rowOf(n));
  const local = await startRunApp({
    env: { SYNC_REMOTE_URL: server.url, SYNC_MAX_BATCH_SIZE: "10", ...env },
    ...{ tables: TABLES, time: fastTime() },
  });
  return { server, local };
}

/** Changes the pages of a pull from the second page on: the first one is good. */
function laterPages(change: (page: Page, reply: ForeignReply) => ForeignReply | Response): Tamper {
  return ({ path, query }, reply) =>
    path.startsWith("/pull") && query.get("since") !== null
      ? change(reply.body as Page, reply)
      : reply;
}

function withPage(change: (page: Page) => object): Tamper {
  return laterPages((page, reply) => ({ ...reply, body: { ...page, ...change(page) } }));
}

const LOGIN_PAGE = "<!doctype html><title>Sign in</title>";
const html = (status: number) => () =>
  new Response(LOGIN_PAGE, { status, headers: { "Content-Type": "text/html" } });

/** Name, what the remote does, and what the failure says. */
const LIES: readonly (readonly [string, Tamper, RegExp])[] = [
  [
    "sends a wrong checksum",
    laterPages((_, reply) => ({ ...reply, headers: { "X-Content-SHA256": "0".repeat(64) } })),
    /does not match its X-Content-SHA256/,
  ],
  ["sends no checksum", laterPages((page) => Response.json(page)), /no X-Content-SHA256/],
  ["sends another table", withPage(() => ({ table: "other" })), /table/],
  ["sends unsorted rows", withPage(({ records }) => ({ records: records.toReversed() })), /order/i],
  [
    "sends rows older than it was asked for",
    withPage(({ records }) => ({ records: [rowOf(0), ...records.slice(1)] })),
    /older|before|since/i,
  ],
  [
    "has more for ever",
    withPage(({ offset, limit }) => {
      return { total: 1_000_000, has_more: true, next_offset: Number(offset) + Number(limit) };
    }),
    /./,
  ],
  [
    "sends another page than it says",
    withPage(({ records }) => ({ records: records.slice(1) })),
    /count/,
  ],
  ["answers 404 with HTML", laterPages(html(404)), /404/],
  ["answers 200 with HTML", laterPages(html(200)), /X-Content-SHA256|JSON/],
  [
    "answers 500 for ever",
    laterPages(() => Response.json({ error: "boom" }, { status: 500 })),
    /500: boom/,
  ],
  ["answers 429 for ever", laterPages(() => new Response(null, { status: 429 })), /429/],
  [
    "redirects",
    laterPages(() => Response.redirect("http://127.0.0.1:9/login", 302)),
    /redirects are not followed/,
  ],
];

async function expectSafe(local: RunApp): Promise<void> {
  const rows = await local.rows("items");
  const marker = (await local.markers())["sync_last_pull_items"];
  // Every row up to the marker is here.
  const expected = Array.from({ length: 30 }, (_, n) => String(rowOf(n)["at"]));
  const missing = expected.filter(
    (at) =>
      marker !== undefined &&
      Date.parse(at) < Date.parse(`${marker}Z`) &&
      !rows.some((row) => row["at"] === at),
  );
  expect(missing).toEqual([]);
  expect(rows.every(({ body }) => body === "b")).toBe(true);
}

describe("a remote that", () => {
  test.each(LIES)(
    "S-4.4.5, S-6.1, D-4.5, D-4.7 %s ends the run: sync_error",
    async (_, tamper, text) => {
      let isLying = true;
      const { local, server } = await startWith((request, reply) =>
        isLying ? tamper(request, reply) : reply,
      );
      const reply = await local.trigger({ table: "items", direction: "pull" });
      expect([reply.status, reply.json["type"]]).toEqual([500, "sync_error"]);
      expect(Object.keys(reply.json)).toEqual(["error", "type"]);
      const error = String(reply.json["error"]);
      expect(error).toMatch(text);
      expect(error).not.toContain("doctype");
      expect(error.length).toBeLessThanOrEqual(200);
      await expectSafe(local);
      const events = await local.stream({ table: "items", direction: "pull" });
      expect(events.at(-2)).toMatchObject({ type: "error", table: "items", direction: "pull" });
      expect(String(events.at(-2)?.["error"])).toMatch(text);
      expect(events.at(-1)).toEqual({ type: "finished" });
      const [run] = await local.items("/runs");
      expect(run).toMatchObject({ status: "failed", error: events.at(-2)?.["error"] });
      await expectSafe(local);
      // What it did not do before is made up for as soon as it is honest.
      isLying = false;
      const after = await local.trigger({ table: "items", direction: "pull" });
      expect([after.status, after.json["status"]]).toEqual([200, "success"]);
      expect((await local.rows("items")).length).toBe(server.rows("items").length);
    },
  );

  test("D-4.6, D-4.7 fails now and then costs attempts only", async () => {
    let calls = 0;
    const { local } = await startWith((request, reply) => {
      if (request.path === "/status" || ++calls % 4 === 0) return reply;
      if (calls % 4 === 1)
        return new Response(null, { status: 429, headers: { "Retry-After": "1" } });
      if (calls % 4 === 2) return Response.json({ error: "boom" }, { status: 503 });
      return { ...reply, headers: { "X-Content-SHA256": "0".repeat(64) } };
    });
    const reply = await local.trigger({ table: "items", direction: "pull" });
    expect([reply.status, reply.json["total_pulled"]]).toEqual([200, 30]);
    expect((await local.rows("items")).length).toBe(30);
  });

  test.each<[string, Tamper, RegExp]>([
    ["is another version", html(404), /404/],
    [
      "tells no time",
      (_, reply) => ({ ...reply, body: { ...(reply.body as object), server_time: "noon" } }),
      /server_time/,
    ],
    [
      "has sync disabled",
      (_, reply) => ({ ...reply, body: { ...(reply.body as object), sync_enabled: false } }),
      /sync disabled/,
    ],
  ])("S-4.4.5 %s ends the run before anything moves", async (_, tamper, text) => {
    const { local, server } = await startWith(tamper);
    for (const direction of ["push", "pull"]) {
      const reply = await local.trigger({ table: "items", direction });
      expect([reply.status, reply.json["type"]]).toEqual([500, "sync_error"]);
      expect(String(reply.json["error"])).toMatch(text);
    }
    expect(new Set(server.seen)).toEqual(new Set(["GET /status"]));
    expect(await local.markers()).toEqual({});
  });

  test("D-4.5 begins with its newest row is no success", async () => {
    const newestFirst = Array.from({ length: 30 }, (_, n) => rowOf(29 - n));
    const { local } = await startWith(({ path, query }, reply) => {
      if (!path.startsWith("/pull")) return reply;
      const { limit } = reply.body as { limit: number };
      const since = query.get("since") ?? "";
      const offset = Number(query.get("offset"));
      const matching = newestFirst.filter(({ at }) => String(at) >= since);
      const records = matching.slice(offset, offset + limit);
      const total = matching.length;
      const has_more = offset + limit < total;
      const next_offset = has_more ? offset + limit : null;
      const page = { ...(reply.body as Page), count: records.length, total, records };
      return { ...reply, body: { ...page, has_more, next_offset } };
    });
    const { status, json } = await local.trigger({ table: "items", direction: "pull" });
    expect([status, json["error"]]).toEqual([
      500,
      "The remote sent rows that are not in the order of their timestamps; check that both ends have the same table, then run with full",
    ]);
  });

  test("S-4.4.5, S-6.1 has a long address is told with what was wrong, whole", async () => {
    const server = startForeignServer({
      ...{ key: SYNC_KEY, tables: FOREIGN, random: () => 0.5 },
      tamper: () => Response.json({ sync_enabled: "of course" }),
    });
    const local = await startRunApp({
      env: { SYNC_REMOTE_URL: `${server.url}/${"deployments/".repeat(12)}` },
      ...{ tables: TABLES, time: fastTime() },
    });
    const events = await local.stream({ table: "items", direction: "pull" });
    const error = String(events.at(-2)?.["error"]);
    expect(error).toMatch(/^GET …\S*\/sync\/status got an unusable reply: /);
    expect(error).toContain(
      '"sync_enabled" is not true or false: another text (3 attempts); check',
    );
    expect(error.length).toBeLessThanOrEqual(200);
  });

  test("S-4.4.5 refuses the key ends the run with its answer, which shows no key", async () => {
    const { local } = await startWith((_, reply) => reply, { SYNC_REMOTE_KEY: "another-key" });
    const reply = await local.trigger({ table: "items", direction: "pull" });
    expect(reply.status).toBe(500);
    expect(String(reply.json["error"])).toContain("was answered 401: bad key");
    expect(reply.text).not.toContain("another-key");
  });

  test.each<[string, object, RegExp]>([
    ["forgets records", { received: 10, upserted: 9, integrity: "verified" }, /reports 9 written/],
    ["verifies nothing", { received: 10, upserted: 10, integrity: "no_checksum" }, /checksum/],
    ["counts others", { received: 3, upserted: 3, integrity: "verified" }, /received/],
  ])("D-4.6 %s of a push ends the run, and the marker stays", async (_, result, text) => {
    const { local } = await startWith(({ path }, reply) =>
      path.startsWith("/push") ? { ...reply, body: { table: "items", ...result } } : reply,
    );
    await local.push("items", { records: Array.from({ length: 10 }, (_, n) => rowOf(n)) });
    const reply = await local.trigger({ table: "items", direction: "push" });
    expect([reply.status, reply.json["type"]]).toEqual([500, "sync_error"]);
    expect(String(reply.json["error"])).toMatch(text);
    expect(await local.markers()).toEqual({});
  });

  test("D-4.6 takes small bodies only gets smaller batches", async () => {
    let largest = 0;
    const { local, server } = await startWith(({ path }, reply) => {
      const { received } = reply.body as { received?: number };
      if (!path.startsWith("/push") || received === undefined) return reply;
      if (received > 3) return Response.json({ error: "too large" }, { status: 413 });
      largest = Math.max(largest, received);
      return reply;
    });
    await local.push("items", {
      records: Array.from({ length: 20 }, (_, n) => ({ ...rowOf(n), name: `mine ${n}` })),
    });
    const reply = await local.trigger({ table: "items", direction: "push" });
    expect([reply.status, reply.json["total_pushed"]]).toEqual([200, 20]);
    expect(largest).toBeLessThanOrEqual(3);
    expect(server.rows("items").length).toBe(50);
  });

  test("D-11.10.1 is another one than in the run before is asked for all rows", async () => {
    const storage = { STORAGE_URL: await SQLITE_FILE.makeUrl() };
    const first = await startWith((_, reply) => reply, storage);
    const body = { table: "items", direction: "pull" };
    expect((await first.local.trigger(body)).json).toMatchObject({ total_pulled: 30 });
    await first.local.stop();
    const { local } = await startWith((_, reply) => reply, storage);
    const { json } = await local.trigger(body);
    expect(json).toMatchObject({ status: "success", total_pulled: 30, changed: 0 });
    expect(JSON.stringify(json["tables"])).toContain("The remote is another one than");
  });
});
