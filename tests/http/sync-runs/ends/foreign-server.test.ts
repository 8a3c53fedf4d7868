// Runs against another implementation of the document: both ends are equal after them.
import { expect, setDefaultTimeout, test } from "bun:test";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { SEED } from "../../../support/seed.ts";
import { SeededRandom } from "../../../support/seeded-random.ts";
import { onOneBackend } from "../../support/backends.ts";
import { type JsonFields, SYNC_KEY } from "../../support/sync-app.ts";
import { type ForeignRow, startForeignServer } from "../support/foreign-server.ts";
import { startRunApp } from "../support/run-apps.ts";

setDefaultTimeout(120_000);

const TABLES = {
  items: {
    timestamp_column: "updated_at",
    upsert_key: ["shop", "sku"],
    columns: {
      shop: { type: "text" },
      sku: { type: "text" },
      title: { type: "text" },
      updated_at: { type: "datetime" },
    },
  },
  labels: {
    upsert_key: ["name"],
    columns: { name: { type: "text" }, body: { type: "text" } },
  },
} as const satisfies Record<string, TableEntry>;

const FOREIGN_TABLES = {
  items: {
    key: ["shop", "sku"],
    columns: ["shop", "sku", "title", "updated_at"],
    timestamp: "updated_at",
  },
  labels: { key: ["name"], columns: ["name", "body"], timestamp: null },
};

function startRandom(): () => number {
  const random = new SeededRandom(SEED);
  return () => random.next();
}

/** Rows as both ends mean them: an instant in microseconds, whatever it is written like. */
function meant(rows: readonly (ForeignRow | JsonFields)[]): string[] {
  return rows.map((row) => JSON.stringify(Object.entries(row).sort().map(meantValue))).sort();
}

function meantValue([name, value]: [string, unknown]): unknown[] {
  if (name !== "updated_at" || value === null) return [name, value];
  const [, seconds, fraction = ""] = /^(.{19})(?:\.(\d+))?Z?$/.exec(String(value)) ?? [];
  return [name, `${seconds}.${fraction.padEnd(6, "0")}`];
}

function itemOf(sku: string, title: string): ForeignRow {
  return { shop: "s", sku, title, updated_at: "2026-01-02T03:04:05.000006" };
}

onOneBackend("a foreign server", (backend) => {
  test("D-11.10.4 a column that is hidden here is told, and the push goes on once remote_only names it", async () => {
    const server = startForeignServer({
      key: SYNC_KEY,
      tables: { labels: { key: ["name"], columns: ["name", "secret"], timestamp: null } },
      random: startRandom(),
    });
    server.put("labels", { name: "there", secret: "theirs" });
    const { body: _, ...shown } = TABLES.labels.columns;
    const labels = {
      ...TABLES.labels,
      columns: { ...shown, secret: { type: "text", serialize: false } },
    } as const;
    const env = { SYNC_REMOTE_URL: server.url };
    const push = { table: "labels", direction: "push" };
    const told = await startRunApp({ backend, tables: { labels }, env });
    const { json } = await told.trigger(push);
    expect(String(json["error"])).toContain('"secret" is hidden here and would be emptied');
    const tables = { labels: { ...labels, remote_only: ["secret"] } };
    const local = await startRunApp({ backend, tables, env });
    await local.push("labels", { records: [{ name: "here", secret: "mine" }] });
    expect((await local.trigger(push)).json).toMatchObject({ status: "success", total_pushed: 1 });
    expect(server.rows("labels")).toMatchObject([
      { name: "there", secret: "theirs" },
      { name: "here" },
    ]);
  });

  test(`S-4.1, D-4.5, D-4.6, D-4.8 runs both ways end equal, ties and microseconds included (SEED=${SEED})`, async () => {
    const random = startRandom();
    const server = startForeignServer({
      ...{ key: SYNC_KEY, tables: FOREIGN_TABLES, random },
      maxRows: 7,
    });
    const local = await startRunApp({
      backend,
      tables: TABLES,
      env: { SYNC_REMOTE_URL: server.url, SYNC_MAX_BATCH_SIZE: "10" },
    });
    const time = () => {
      // A third of all rows share one instant, which is more than one page.
      const micro = random() < 0.35 ? "000007" : String(Math.floor(random() * 5)).padStart(6, "0");
      return `2026-01-02T03:04:0${Math.floor(random() * 5)}.${micro}`;
    };
    const row = (shop: string, n: number) => {
      return { shop, sku: `sku-${n}`, title: `title ${random()}`, updated_at: time() };
    };
    for (let n = 0; n < 60; n++) server.put("items", row("there", n));
    for (let n = 0; n < 20; n++) server.put("labels", { name: `there ${n}`, body: `${random()}` });
    const here = Array.from({ length: 60 }, (_, n) => row("here", n));
    await local.push("items", {
      records: here.map((r) => ({ ...r, updated_at: `${r.updated_at}Z` })),
    });
    await local.push("labels", { records: [{ name: "here", body: "x" }] });
    const table = (name: string, direction = "both") => ({ table: name, direction });
    // D-11.9: a table without times is not run both ways.
    for (const [name, ...directions] of [
      ["items", "both"],
      ["labels", "push", "pull"],
    ] as const) {
      for (const direction of directions) {
        const first = await local.trigger(table(name, direction));
        expect([name, first.status, first.json["status"]]).toEqual([name, 200, "success"]);
      }
      expect(meant(await local.rows(name))).toEqual(meant(server.rows(name)));
    }
    expect(server.rows("items").length).toBe(120);
    const marker = (await local.markers())["sync_last_pull_items"] ?? "";
    // As received: without zone, with six digits.
    expect(marker).toMatch(/^2026-01-02T03:04:0\d\.\d{6}$/);
    // A change on each side, the one there at the very instant of the marker.
    server.put("items", { shop: "there", sku: "late", title: "tie", updated_at: marker });
    const changed = {
      shop: "here",
      sku: "sku-1",
      title: "new",
      updated_at: "2026-02-01T00:00:00Z",
    };
    await local.push("items", { records: [changed] });
    const second = await local.trigger(table("items"));
    expect([second.status, second.json["status"]]).toEqual([200, "success"]);
    expect(meant(await local.rows("items"))).toEqual(meant(server.rows("items")));
    expect(server.rows("items").length).toBe(121);
    expect(Number(second.json["total_pushed"])).toBeLessThan(120);
    expect(new Set(server.seen)).toEqual(
      new Set([
        ...["GET /status", "GET /pull/items", "POST /push/items"],
        ...["GET /pull/labels", "POST /push/labels"],
      ]),
    );
  });

  test.each(["push", "both"])(
    "D-7.1, D-7.2 a %s leaves what the server has newer, and an idle one sends nothing",
    async (direction) => {
      const server = startForeignServer({
        ...{ key: SYNC_KEY, tables: FOREIGN_TABLES, random: startRandom(), maxRows: 7 },
      });
      const env = { SYNC_REMOTE_URL: server.url };
      const local = await startRunApp({ backend, tables: TABLES, env });
      const row = (sku: string, title: string, day: number) => {
        return { shop: "s", sku, title, updated_at: `2026-01-0${day}T03:04:05.000006` };
      };
      for (let n = 0; n < 20; n++) server.put("items", row(`edited ${n}`, "edited there", 2));
      server.put("items", row("stale", "stale there", 1));
      const here = Array.from({ length: 20 }, (_, n) => row(`edited ${n}`, "stale here", 1));
      here.push(row("stale", "edited here", 2), row("own", "only here", 1));
      await local.push("items", {
        records: here.map((r) => ({ ...r, updated_at: `${r.updated_at}Z` })),
      });
      const run = { table: "items", direction };
      const changed = direction === "both" ? 22 : 2;
      expect((await local.trigger(run)).json).toMatchObject({
        status: "success",
        kept: 20,
        changed,
      });
      const titles = server.rows("items").map(({ sku, title }) => `${sku}: ${title}`);
      expect(titles.filter((title) => title.includes("edited there"))).toHaveLength(20);
      expect(titles).toContain("stale: edited here");
      expect(titles).toContain("own: only here");
      if (direction === "both") {
        expect(meant(await local.rows("items"))).toEqual(meant(server.rows("items")));
      }
      const before = server.seen.length;
      const idle = await local.trigger(run);
      expect(idle.json).toMatchObject({ total_pushed: 0, changed: 0, kept: 0 });
      expect(server.seen.slice(before)).not.toContain("POST /push/items");
    },
  );

  test("D-7.2 a push does not send what the server has as it is here, so what is written there meanwhile stays", async () => {
    const edited = { ...itemOf("k3", "edited there"), updated_at: "2026-02-01T00:00:00.000000" };
    let isPushing = false;
    const server = startForeignServer({
      ...{ key: SYNC_KEY, tables: FOREIGN_TABLES, random: startRandom() },
      tamper({ path, query }, reply) {
        // It has been read, and nothing has been written yet.
        if (isPushing && path === "/pull/items" && query.has("since")) {
          server.put("items", edited);
        }
        return reply;
      },
    });
    const env = { SYNC_REMOTE_URL: server.url };
    const local = await startRunApp({ backend, tables: TABLES, env });
    for (let n = 0; n < 6; n++) server.put("items", itemOf(`k${n}`, "there"));
    await local.trigger({ table: "items" });
    const late = { ...itemOf("late", "here"), updated_at: "2026-01-01T00:00:00Z" };
    await local.push("items", { records: [late] });
    isPushing = true;
    const { json } = await local.trigger({ table: "items", direction: "push" });
    isPushing = false;
    expect(json).toMatchObject({ status: "success", total_pushed: 1, changed: 1, kept: 0 });
    expect(server.rows("items")).toContainEqual(edited);
    await local.trigger({ table: "items" });
    expect(meant(await local.rows("items"))).toEqual(meant(server.rows("items")));
    expect(server.rows("items")).toContainEqual(edited);
  });

  test("S-2.4, D-4.8 a server may write null for what a result does not have", async () => {
    const server = startForeignServer({
      ...{ key: SYNC_KEY, tables: FOREIGN_TABLES, random: startRandom() },
      tamper({ method }, reply) {
        if (method !== "POST") return reply;
        const absent = { message: null, errors: null, error_count: null, error: null };
        return { ...reply, body: { ...absent, ...(reply.body as JsonFields) } };
      },
    });
    const local = await startRunApp({
      ...{ backend, tables: TABLES, env: { SYNC_REMOTE_URL: server.url } },
    });
    await local.push("items", { records: [itemOf("k", "here")] });
    const { json } = await local.trigger({ table: "items", direction: "push" });
    expect(json).toMatchObject({ status: "success", total_pushed: 1, error_count: 0 });
    expect(meant(server.rows("items"))).toEqual(meant([itemOf("k", "here")]));
  });

  test("S-4.4.5 a run of all tables tells the first failure, and how many more tables failed", async () => {
    const server = startForeignServer({
      ...{ key: SYNC_KEY, tables: FOREIGN_TABLES, random: startRandom() },
    });
    server.put("items", itemOf("k", "there"));
    const env = { SYNC_REMOTE_URL: server.url };
    const more = { first: TABLES.labels, second: TABLES.labels };
    const local = await startRunApp({ backend, tables: { ...more, ...TABLES }, env });
    const error =
      'The remote has no table "first" (1 more table failed); register it there, or name the tables that both ends have, one for each run';
    const { status, json } = await local.trigger();
    expect([status, json]).toEqual([500, { error, type: "sync_error" }]);
    expect((await local.items("/runs"))[0]).toMatchObject({ status: "failed", error });
    expect(meant(await local.rows("items"))).toEqual(meant(server.rows("items")));
  });

  test("D-2.3 a run of all tables passes over a built-in table that the remote lacks, one that names it fails", async () => {
    const server = startForeignServer({
      ...{ key: SYNC_KEY, tables: FOREIGN_TABLES, random: startRandom() },
    });
    server.put("items", itemOf("k", "there"));
    const env = { SYNC_REMOTE_URL: server.url };
    const local = await startRunApp({ backend, tables: TABLES, env });
    const { status, json } = await local.trigger();
    expect([status, json["status"]]).toEqual([200, "success"]);
    const warnings = ['The remote has no table "profiles", so it is left out'];
    expect(json["tables"]).toMatchObject({ profiles: { warnings }, items: { pulled: 1 } });
    const named = await local.trigger({ table: "profiles" });
    expect([named.status, named.json["error"]]).toEqual([
      500,
      expect.stringMatching(/^The remote has no table "profiles"; register it there, or /),
    ]);
    // Its rows could not go.
    const ana = { username: "ana", updated_at: "2026-01-01T00:00:00Z" };
    await local.push("profiles", { records: [ana] });
    expect((await local.trigger()).json["error"]).toStartWith(
      'The remote has no table "profiles"; ',
    );
  });

  test("D-4.5 a row that is replaced while a table without times is read does not fail the pull", async () => {
    // The first of 20 rows on the first page; from then on it is gone, and the last one has come for it.
    const gone = { name: "gone", body: "x" };
    let isThere = true;
    const server = startForeignServer({
      ...{ key: SYNC_KEY, tables: FOREIGN_TABLES, random: () => 0.5, maxRows: 7 },
      tamper({ path, query }, reply) {
        if (!isThere || path !== "/pull/labels" || query.get("limit") === "1") return reply;
        isThere = false;
        const page = reply.body as { records: JsonFields[] };
        return { ...reply, body: { ...page, records: [gone, ...page.records.slice(0, -1)] } };
      },
    });
    const local = await startRunApp({
      ...{ backend, tables: TABLES, env: { SYNC_REMOTE_URL: server.url } },
    });
    for (let n = 0; n < 20; n++) server.put("labels", { name: `label ${n}`, body: "x" });
    const { json } = await local.trigger({ table: "labels", direction: "pull" });
    expect([json["error"], json["status"]]).toEqual([undefined, "success"]);
    // What was there while it was read came too; a pull removes nothing.
    expect(meant(await local.rows("labels"))).toEqual(meant([...server.rows("labels"), gone]));
  });

  test(`D-4.10 compare() reads the pages of a server without digests, and repairs (SEED=${SEED})`, async () => {
    const random = startRandom();
    const server = startForeignServer({
      key: SYNC_KEY,
      tables: FOREIGN_TABLES,
      random,
      maxRows: 7,
    });
    const env = { SYNC_REMOTE_URL: server.url, SYNC_LAG_SECONDS: "0" };
    const local = await startRunApp({ backend, tables: TABLES, env });
    const row = (n: number, title: string) => {
      return { shop: "s", sku: `k${n}`, title, updated_at: "2026-01-02T03:04:05.000006Z" };
    };
    const records = Array.from({ length: 30 }, (_, n) => row(n, "same"));
    for (const record of records) server.put("items", record);
    await local.push("items", { records });
    await local.push("items", { records: [row(3, "other"), row(100, "only here")] });
    server.put("items", row(200, "only there"));
    const post = (body: object) => ({ method: "POST", body: JSON.stringify(body) });
    const found = await local.ask("/compare", post({ table: "items" }));
    const key = (n: number) => ({ shop: "s", sku: `k${n}` });
    expect([found.status, found.json]).toEqual([
      200,
      {
        ...{ matched: 29, different: 1, missing_here: 1, missing_there: 1 },
        examples: { different: [key(3)], missing_here: [key(200)], missing_there: [key(100)] },
      },
    ]);
    const sent = await local.ask("/compare", post({ table: "items", repair: "push" }));
    expect(sent.json).toMatchObject({ different: 1, repaired: 2 });
    const fetched = await local.ask("/compare", post({ table: "items", repair: "pull" }));
    expect(fetched.json).toMatchObject({ different: 0, missing_here: 1, repaired: 1 });
    expect(meant(await local.rows("items"))).toEqual(meant(server.rows("items")));
    const end = await local.ask("/compare", post({ table: "items", repair: null }));
    expect(end.json).toMatchObject({
      matched: 32,
      different: 0,
      missing_here: 0,
      missing_there: 0,
    });
  });
});
