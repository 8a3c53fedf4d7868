// The rows of a table for an administrator to look at.
import { expect, test } from "bun:test";
import { ADMIN_ENV, Person } from "../reputation/people.ts";
import { onEveryBackend } from "../support/backends.ts";
import { type JsonFields, startApp } from "../support/sync-app.ts";
import { notes, type RunApp, SYNC, startRunApp } from "../sync-runs/support/run-apps.ts";

const listing = (n: number) => ({
  ...{ shop: "s", sku: `k${n}`, price: "1.50", secret: "hidden" },
  updated_at: `2026-01-0${n}T00:00:00Z`,
});

async function keysOf(app: RunApp, path: string, name: string): Promise<unknown[]> {
  const { json, status, text } = await app.ask(path);
  if (status !== 200) throw new Error(text);
  return (json["items"] as JsonFields[]).map((row) => row[name]);
}

onEveryBackend("rows()", (backend) => {
  test("D-9.5.3 rows() leafs through a table in its order on two instances, with the total, also while sync is disabled", async () => {
    const env = { STORAGE_URL: await backend.makeUrl() };
    const first = await startRunApp({ env });
    const second = await startRunApp({ env: { ...env, SYNC_ENABLED: "false" } });
    await first.push("listings", { records: [5, 3, 1, 4, 2].map(listing) });
    const { json } = await first.ask("/rows/listings?limit=2");
    expect(Object.keys(json)).toEqual(["table", "items", "next_cursor", "total"]);
    expect(json).toMatchObject({ table: "listings", total: 5 });
    const [record] = await first.records("listings");
    expect(json["items"]).toEqual([record, (await first.records("listings"))[1]]);
    expect(record).not.toHaveProperty("secret");
    const next = await second.ask(`/rows/listings?limit=2&cursor=${json["next_cursor"]}`);
    expect((next.json["items"] as JsonFields[]).map(({ sku }) => sku)).toEqual(["k3", "k4"]);
    const last = await first.ask(`/rows/listings?limit=2&cursor=${next.json["next_cursor"]}`);
    expect(last.json).toMatchObject({ items: [{ sku: "k5" }], next_cursor: null, total: 5 });
    const since = "/rows/listings?since=2026-01-04T01:00:00%2B01:00";
    expect(await keysOf(first, since, "sku")).toEqual(["k4", "k5"]);
    expect((await first.ask(`${since}&limit=1`)).json["total"]).toBe(2);
  });

  test("D-9.5.3 rows() finds a row by its key: plain text, or an object with every part", async () => {
    const app = await startRunApp({ backend });
    await app.push("listings", { records: [1, 2].map(listing) });
    const named = ['<script>"&', '{"other":1}', "x".repeat(3_000), "‮é"].map((name) => ({ name }));
    await app.push("notes", { records: [...notes(2), ...named] });
    await app.push("events", '{"records":[{"code":9007199254740993},{"code":7}]}');
    const parts = encodeURIComponent(JSON.stringify({ sku: "k2", shop: "s" }));
    const found = await app.ask(`/rows/listings?key=${parts}`);
    expect(found.json).toMatchObject({ items: [{ sku: "k2", id: expect.any(Number) }], total: 1 });
    expect(found.json["next_cursor"]).toBeNull();
    const late = await app.ask(`/rows/listings?key=${parts}&since=2026-01-03`);
    expect(late.json).toMatchObject({ items: [], total: 0 });
    for (const { name } of named) {
      expect(await keysOf(app, `/rows/notes?key=${encodeURIComponent(name)}`, "name")).toEqual([
        name,
      ]);
    }
    expect(await keysOf(app, `/rows/notes?key={"name":"n0001"}`, "name")).toEqual(["n0001"]);
    for (const [key, codes] of [
      ["7", [7]],
      ["9007199254740993", ["9007199254740993"]],
      ["9007199254740992", []],
      ["99999999999999999999", []],
      ["seven", []],
      ['{"code":7}', [7]],
      ['{"code":null}', []],
    ] as const) {
      expect([key, await keysOf(app, `/rows/events?key=${key}`, "code")]).toEqual([
        key,
        [...codes],
      ]);
    }
    expect((await app.ask("/rows/notes?key=unknown")).json).toMatchObject({ items: [], total: 0 });
  });

  test("D-14.5 rows() filters by any columns and leafs from either end, by key or time", async () => {
    const app = await startRunApp({ backend });
    const prices = ["1.50", "1.5", "2", "1.500", null];
    const records = prices.map((price, i) => ({ ...listing(i + 1), price }));
    await app.push("listings", { records });
    for (const [query, keys] of [
      ["order=-time&limit=1000", ["k5", "k4", "k3", "k2", "k1"]],
      ["order=-key", ["k5", "k4", "k3", "k2", "k1"]],
      ["order=key&where=price:1.5", ["k1", "k2", "k4"]],
      ["order=-time&where=price:1.5", ["k4", "k2", "k1"]],
      ["where=price:1.5&where=sku:K4", ["k4"]],
      ["where=price:", ["k5"]],
      ["where=sku:K&order=-key&since=2026-01-04", ["k5", "k4"]],
      ["order=-key&since=2026-01-04", ["k5", "k4"]],
      ["where=updated_at:2026-01-02T01:00%2B01:00", ["k2"]],
      ["where=shop:x:y", []],
    ] as const) {
      const all = await keysOf(app, `/rows/listings?${query}`, "sku");
      expect([query, all]).toEqual([query, [...keys]]);
      const walked: unknown[] = [];
      for (let cursor = ""; ; ) {
        const part = await app.ask(`/rows/listings?${query}&limit=2&cursor=${cursor}`);
        const { items, next_cursor: next } = part.json;
        walked.push(...(items as JsonFields[]).map(({ sku }) => sku));
        if (next === null) break;
        cursor = String(next);
      }
      expect([query, walked]).toEqual([query, [...keys]]);
    }
    const filtered = await app.ask("/rows/listings?where=price:1.5&limit=1");
    expect(filtered.json).toMatchObject({ total: null, next_cursor: expect.any(String) });
    expect((await app.ask("/rows/listings?order=-key&limit=1")).json["total"]).toBe(5);
    const key = encodeURIComponent('{"shop":"s","sku":"k2"}');
    expect(await keysOf(app, `/rows/listings?key=${key}&where=price:2`, "sku")).toEqual([]);
  });

  test("D-14.5 a part of a filtered list has no more rows than asked for, and 4 MiB of them at most", async () => {
    const app = await startRunApp({ backend });
    const isLarge = (i: number) => [0, 260, 261, 599].includes(i);
    const large = { body: `large ${"x".repeat(1_500_000)}` };
    const all = notes(600).map((note, i) => (isLarge(i) ? { ...note, ...large } : note));
    await app.push("notes", { records: all });
    for (const [query, limit, mostRows, names] of [
      ["where=body:large", 3, 2, ["n0000", "n0260", "n0261", "n0599"]],
      ["where=name:9", 60, 60, all.map(({ name }) => String(name)).filter((n) => n.includes("9"))],
    ] as const) {
      const walked: unknown[] = [];
      for (let cursor: unknown = ""; cursor !== null; ) {
        const part = await app.ask(`/rows/notes?${query}&limit=${limit}&cursor=${cursor}`);
        const items = part.json["items"] as JsonFields[];
        expect(items.length).toBeLessThanOrEqual(mostRows);
        walked.push(...items.map(({ name }) => name));
        cursor = part.json["next_cursor"];
      }
      expect(walked).toEqual([...names]);
    }
    // In a table without timestamps every row is since any time.
    expect(await keysOf(app, "/rows/notes?key=n0001&since=2026-01-01", "name")).toEqual(["n0001"]);
  });

  test("D-9.5.3 rows() leafs through keys that are too long for a URL, from either end", async () => {
    const app = await startRunApp({ backend });
    const long = [1, 2, 3, 4].map((n) => ({ name: "x".repeat(5_000) + n }));
    await app.push("notes", { records: [{ name: "a" }, ...long, { name: "z" }] });
    for (const order of ["time", "-key"]) {
      const walked: unknown[] = [];
      for (let cursor: unknown = ""; cursor !== null; ) {
        const part = await app.ask(`/rows/notes?order=${order}&limit=2&cursor=${cursor}`);
        expect(part.status).toBe(200);
        walked.push(...(part.json["items"] as JsonFields[]).map(({ name }) => String(name).at(-1)));
        cursor = part.json["next_cursor"];
      }
      const all = ["a", "1", "2", "3", "4", "z"];
      expect([order, walked]).toEqual([order, order === "time" ? all : all.toReversed()]);
    }
  });

  test("D-9.5.3 rows() refuses what it cannot read", async () => {
    const app = await startRunApp({ backend });
    await app.push("listings", { records: [listing(1)] });
    const cursors = ["x", "%00", "W10", "e30", "x".repeat(5_000), "W1tbMV1dLDBd", "WyJhIiwwXQ"];
    cursors.push(...["WzEuNV0", "Wy0xXQ", "WzFlMzAwXQ"]);
    const queries = [
      ...["limit=0", "limit=1001", "limit=x", "limit=-1", "since=yesterday", "since=%00"],
      ...["key=k1", 'key={"sku":"k1"}', 'key={"shop":"s","sku":"k1","more":1}', "key=[]"],
      ...["order=up", "order=time,key", "where=sku", "where=secret:hidden", "where=none:1"],
      ...cursors.map((cursor) => `cursor=${cursor}`),
    ];
    for (const query of queries) {
      const reply = await app.ask(`/rows/listings?${query}`);
      expect([query, reply.status, Object.keys(reply.json)]).toEqual([query, 400, ["error"]]);
    }
    const unknown = await app.ask("/rows/no_such_table");
    expect([unknown.status, Object.keys(unknown.json)]).toEqual([400, ["error"]]);
    for (const key of [
      '{"shop":{},"sku":[]}',
      '{"shop":null,"sku":"k1"}',
      '{"shop":1e999,"sku":1}',
    ]) {
      const reply = await app.ask(`/rows/listings?key=${encodeURIComponent(key)}`);
      expect([key, reply.status]).toEqual([key, 200]);
    }
  });
});

test("D-9.5.3 rows() shows names and values as they are, integers beyond 2^53 as strings", async () => {
  const columns = {
    userName: { type: "text" },
    n: { type: "integer" },
    j: { type: "json" },
  } as const;
  const app = await startRunApp({ tables: { mixedCase: { upsert_key: ["userName"], columns } } });
  const record = '{"userName":"<b>","n":-9007199254740993,"j":{"aB":[9007199254740993,1.5]}}';
  await app.push("mixedCase", `{"records":[${record}]}`);
  const { text } = await app.ask("/rows/mixedCase");
  expect(text).toBe(
    '{"table":"mixedCase","items":[{"userName":"<b>","n":"-9007199254740993",' +
      '"j":{"aB":["9007199254740993",1.5]}}],"next_cursor":null,"total":1}',
  );
});

test("D-9.5.3 rows() is for administrators, who are looked at first", async () => {
  const app = await startApp({ env: ADMIN_ENV });
  const ana = await Person.signUp(app, "ana");
  for (const path of [`${SYNC}/rows/notes`, `${SYNC}/rows/no_such_table?limit=x`]) {
    expect((await app.send(path)).status).toBe(401);
    expect((await ana.send(path)).status).toBe(403);
    expect((await app.send(path, { headers: { "X-Sync-Key": "k" } })).status).toBe(401);
  }
});
