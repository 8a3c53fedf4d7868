// Rows that an administrator changes, adds and removes by hand.
import { expect, test } from "bun:test";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { ADMIN_ENV, dataOf, jsonBody, PASSWORD, Person } from "../reputation/people.ts";
import { dropTable, isPostgres } from "../stores/support/raw-store.ts";
import { onEveryBackend } from "../support/backends.ts";
import { type JsonFields, startApp } from "../support/sync-app.ts";
import { type RunApp, readEvents, SYNC, startRunApp } from "../sync-runs/support/run-apps.ts";

const T1 = "2026-01-01T00:00:00Z";
const NOW = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

const edit = (app: RunApp, table: string, body: object) =>
  app.ask(`/rows/${table}`, jsonBody(body, "PUT"));
const remove = (app: RunApp, table: string, body: object) =>
  app.ask(`/rows/${table}/delete`, jsonBody(body));

async function rowsOf(app: RunApp, table: string): Promise<readonly JsonFields[]> {
  return (await app.ask(`/rows/${table}`)).json["items"] as JsonFields[];
}

/** The records of the audit log of what was done to rows, the oldest first. */
async function actsOf(app: RunApp): Promise<readonly JsonFields[]> {
  const items = dataOf(await app.admin.send("/v1/admin/audit?limit=100"))["items"] as JsonFields[];
  return items.filter(({ action }) => String(action).startsWith("row.")).reverse();
}

const DELETES: Record<string, TableEntry> = {
  items: {
    ...{ upsert_key: ["k"], timestamp_column: "at", deletes: true },
    columns: { k: { type: "text" }, v: { type: "integer" }, at: { type: "datetime" } },
  },
  theirs: {
    ...{ upsert_key: ["k"], direction: "pull" },
    columns: { k: { type: "text" }, v: { type: "text" } },
  },
};

const EVEN: Record<string, TableEntry> = {
  even: {
    upsert_key: ["id"],
    columns: { id: { type: "integer" }, i: { type: "integer" }, j: { type: "json" } },
  },
};

onEveryBackend("rows by hand", (backend) => {
  test("D-14.3 a row is changed while it is as it was read, gets a time, and keeps what no page shows", async () => {
    const app = await startRunApp({ backend });
    const record = { shop: "s", sku: "a", price: "1.50", secret: "hidden", updated_at: T1 };
    await app.push("listings", { records: [record, { ...record, sku: "b" }] });
    const [read] = await rowsOf(app, "listings");
    const body = { row: { price: 2, extra: { n: [1] } }, expected: read };
    const { status, json } = await edit(app, "listings", body);
    expect(status).toBe(200);
    const row = json["row"] as JsonFields;
    const updatedAt = String(row["updated_at"]);
    expect([row, updatedAt]).toEqual([
      { ...read, price: "2", extra: { n: [1] }, updated_at: updatedAt },
      expect.stringMatching(NOW),
    ]);
    expect(updatedAt > "2026-01-02").toBe(true);
    expect((await rowsOf(app, "listings"))[1]).toEqual(row);
    const again = await edit(app, "listings", body);
    expect([again.status, again.json]).toEqual([409, { error: "The row is another one now", row }]);
    const same = await edit(app, "listings", { row, expected: row });
    expect([same.status, same.json]).toEqual([200, { row }]);
    const timed = { row: { updated_at: "2020-01-01" }, expected: row };
    const late = (await edit(app, "listings", timed)).json["row"] as JsonFields;
    expect(late["updated_at"]).toBe("2020-01-01T00:00:00Z");
    const acts = await actsOf(app);
    const act = { ...{ kind: "admin", account: "root", action: "row.changed" }, table: "listings" };
    expect(acts).toMatchObject([act, act]);
    const verified = await app.admin.post("/v1/admin/audit/verify", {});
    expect(verified.text).toContain('"problem":null');
  });

  test("D-14.3, D-3.12 a table that another program dropped has no row to change, and no reply says that one is gone", async () => {
    const STORAGE_URL = await backend.makeUrl();
    const app = await startRunApp({ env: { STORAGE_URL } });
    await app.push("notes", { records: [{ name: "a" }] });
    const [read] = await rowsOf(app, "notes");
    await dropTable(STORAGE_URL, isPostgres(STORAGE_URL) ? "public.notes" : "notes");
    const csv = { method: "POST", headers: { "Content-Type": "text/csv" }, body: "name\na\n" };
    for (const reply of [
      await edit(app, "notes", { row: { name: "b" }, expected: null }),
      await edit(app, "notes", { row: { name: "a" }, expected: read }),
      await remove(app, "notes", { key: { name: "a" }, expected: read }),
    ]) {
      expect([reply.status, reply.text]).toEqual([503, expect.stringMatching(/^\{"error":"/)]);
    }
    const imported = await app.ask("/import/notes?dry_run=true", csv);
    expect(imported.text).toStartWith('data: {"type":"error"');
  });

  test("D-14.3 a row is added where there is none, and nowhere else", async () => {
    const app = await startRunApp({ backend });
    const added = await edit(app, "samples", {
      row: { name: "a", an_integer: "9007199254740993", a_bigint: "7", required: "" },
      expected: null,
    });
    const [row] = await rowsOf(app, "samples");
    expect([added.status, added.json]).toEqual([200, { row }]);
    expect(row).toMatchObject({ an_integer: "9007199254740993", a_text: null, required: "" });
    const there = await edit(app, "samples", { row: { name: "a", required: "x" }, expected: null });
    expect([there.status, there.json["row"]]).toEqual([409, row]);
    const gone = await edit(app, "samples", { row: {}, expected: { ...row, name: "b" } });
    expect([gone.status, gone.json]).toEqual([409, { error: "The row is gone", row: null }]);
    const refused = await edit(app, "samples", {
      row: { name: "b", a_date: "soon", short: "long", other: 1 },
      expected: null,
    });
    expect([refused.status, refused.json]).toEqual([
      400,
      {
        error: 'There is no column "other"',
        errors: [
          { column: "other", message: 'There is no column "other"' },
          { column: "a_date", message: "a_date is not a date such as 2026-01-31" },
          { column: "short", message: "short must not be longer than 3 characters" },
          { column: "required", message: "required must not be null" },
        ],
      },
    ]);
    const numbered = await edit(app, "listings", { row: { shop: "s", sku: "a" }, expected: null });
    expect(numbered.json["row"]).toMatchObject({ id: expect.any(Number), price: null });
    expect((await actsOf(app)).map(({ table }) => table)).toEqual(["samples", "listings"]);
  });

  test("D-14.3 numbers within JSON that no browser has exactly are texts there, and numbers again where they stay", async () => {
    const app = await startRunApp({ backend });
    const json = '{"id":12345678901234567890,"of":[0.1234567890123456789,{"n":1.10}],"t":"a"}';
    const record = `{"shop":"s","sku":"a","price":"1","updated_at":"${T1}","extra":${json}}`;
    await app.push("listings", `{"records":[${record}]}`);
    const extraOf = async () =>
      /"extra":(\{.*?\}\],"t":"."\})/.exec((await app.pull("listings")).text)?.[1];
    expect(await extraOf()).toBe(json);
    const [read] = await rowsOf(app, "listings");
    const extra = { id: "12345678901234567890", of: ["0.1234567890123456789", { n: 1.1 }], t: "a" };
    expect(read?.["extra"]).toEqual(extra);
    const other = await edit(app, "listings", { row: { price: "2" }, expected: read });
    expect([other.status, await extraOf()]).toEqual([200, json]);
    const expected = other.json["row"] as JsonFields;
    const row = { extra: { ...extra, t: "b" } };
    expect((await edit(app, "listings", { row, expected })).status).toBe(200);
    expect(await extraOf()).toBe(json.replace("1.10", "1.1").replace('"a"', '"b"'));
  });

  test("D-14.3 a row with whole numbers at and beyond 2^53 is changed and removed as it is shown", async () => {
    const app = await startRunApp({ backend, tables: EVEN });
    const numbers = ["9007199254740991", "9007199254740992", "-9007199254740992"];
    numbers.push("9007199254740993", "9007199254740994", "9223372036854775807");
    const records = numbers.map((n) => `{"id":${n},"i":${n},"j":[${n}]}`);
    await app.push("even", `{"records":[${records}]}`);
    for (const row of await rowsOf(app, "even")) {
      const changed = await edit(app, "even", { row: { j: 1 }, expected: row });
      expect([changed.status, changed.json]).toEqual([200, { row: { ...row, j: 1 } }]);
      const counted = await edit(app, "even", { row: { i: 1 }, expected: changed.json["row"] });
      expect([counted.status, counted.json]).toEqual([200, { row: { ...row, i: 1, j: 1 } }]);
      const expected = counted.json["row"];
      expect((await remove(app, "even", { key: { id: row["id"] }, expected })).status).toBe(200);
    }
    expect(await rowsOf(app, "even")).toEqual([]);
  });

  test("D-14.3, D-10.3 a value that the store cannot hold is told by its column", async () => {
    const app = await startRunApp({ backend });
    const row = { shop: "s", sku: "a", price: "1e131072" };
    const { status, json } = await edit(app, "listings", { row, expected: null });
    const csv = { "Content-Type": "text/csv" };
    const body = "shop,sku,price\ns,b,1e131072\n";
    const imported = await app.ask("/import/listings", { method: "POST", headers: csv, body });
    const done = readEvents(imported).at(-2);
    if (backend.holds !== "own types") {
      expect([status, done]).toMatchObject([200, { failures: [] }]);
      return;
    }
    const message = 'column "price" (numeric) cannot hold the text "1e131072"';
    expect([status, json["errors"]]).toEqual([400, [{ column: "price", message }]]);
    expect(done).toMatchObject({
      failures: [{ line: 2, column: "price", value: "1e131072", message }],
    });
  });

  test("D-14.3 of two that change a row at once one is told, and changes nothing", async () => {
    const app = await startRunApp({ backend });
    await app.push("versions", { records: [{ name: "a", at: T1, body: "0" }] });
    for (let round = 0; round < 5; round++) {
      const [expected] = await rowsOf(app, "versions");
      const bodies = ["x", "y", "z"].map((body) => ({ row: { body: body + round }, expected }));
      const replies = await Promise.all(bodies.map((body) => edit(app, "versions", body)));
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
      const won = replies.find(({ status }) => status === 200)?.json["row"];
      expect(await rowsOf(app, "versions")).toEqual([won as JsonFields]);
    }
  });

  test("D-14.3 a row is removed while it is as it was read, with a tombstone where deletes travel, else with a warning", async () => {
    const app = await startRunApp({ backend, tables: DELETES });
    await app.push("items", { records: [{ k: "a", v: 1, at: T1 }] });
    const [expected] = await rowsOf(app, "items");
    const key = { k: "a" };
    const other = await remove(app, "items", { key, expected: { ...expected, v: 2 } });
    expect([other.status, other.json["row"]]).toEqual([409, expected]);
    const wrong = await remove(app, "items", { key: { k: "b" }, expected });
    expect([wrong.status, Object.keys(wrong.json)]).toEqual([400, ["error"]]);
    const removed = await remove(app, "items", { key, expected });
    expect([removed.status, removed.json]).toEqual([200, {}]);
    expect(await rowsOf(app, "items")).toEqual([]);
    const gone = await remove(app, "items", { key, expected });
    expect([gone.status, gone.json["row"]]).toEqual([409, null]);
    const guarded = { records: [{ k: "a", v: 9, at: T1 }] };
    const kept = await app.push("items", guarded, { "X-Sync-Conflict": "newer" });
    expect(kept.json).toMatchObject({ kept: 1, changed: 0 });
    const back = await edit(app, "items", { row: { k: "a", v: 2 }, expected: null });
    expect(back.status).toBe(200);

    await app.push("theirs", {
      records: [
        { k: "a", v: "1" },
        { k: "b", v: "1" },
      ],
    });
    const [theirs] = await rowsOf(app, "theirs");
    for (const reply of [
      await edit(app, "theirs", { row: { v: "2" }, expected: theirs }),
      await remove(app, "theirs", { key, expected: theirs }),
    ]) {
      expect([reply.status, Object.keys(reply.json)]).toEqual([409, ["error"]]);
    }
    const forced = await edit(app, "theirs", { row: { v: "2" }, expected: theirs, force: true });
    expect(forced.json).toEqual({ row: { k: "a", v: "2" } });
    const row = { key, expected: forced.json["row"], force: true };
    const warned = await remove(app, "theirs", row);
    expect([warned.status, warned.json]).toMatchObject([200, { warning: expect.any(String) }]);
    expect(await rowsOf(app, "theirs")).toEqual([{ k: "b", v: "1" }]);
    expect((await actsOf(app)).map(({ action, table }) => `${action} ${table}`)).toEqual([
      ...["row.removed items", "row.changed items", "row.changed theirs", "row.removed theirs"],
    ]);
  });

  test("D-14.3 columns that are not updated, an owner's texts and people who were erased stay as they are", async () => {
    const app = await startRunApp({ backend });
    await app.push("settings", { records: [{ name: "a", value: "1", note: "n" }] });
    const [setting] = await rowsOf(app, "settings");
    const noted = await edit(app, "settings", { row: { note: "m" }, expected: setting });
    expect([noted.status, Object.keys(noted.json)]).toEqual([409, ["error"]]);
    const changed = await edit(app, "settings", { row: { value: "2" }, expected: setting });
    expect(changed.json["row"]).toEqual({ name: "a", value: "2", note: "n" });

    const ana = await Person.signUp(app, "ana");
    const [profile] = await rowsOf(app, "profiles");
    const owned = await edit(app, "profiles", { row: { bio: "mine" }, expected: profile });
    expect([owned.status, Object.keys(owned.json)]).toEqual([409, ["error"]]);
    const verified = await edit(app, "profiles", { row: { verified: true }, expected: profile });
    expect(verified.json["row"]).toMatchObject({ username: "ana", verified: true, bio: null });
    const key = { username: "ana" };
    const kept = await remove(app, "profiles", { key, expected: verified.json["row"] });
    expect([kept.status, Object.keys(kept.json)]).toEqual([409, ["error"]]);
    expect((await ana.send("/v1/me", { method: "DELETE" })).status).toBe(200);
    const erased = await edit(app, "profiles", { row: { username: "ana" }, expected: null });
    expect([erased.status, Object.keys(erased.json)]).toEqual([409, ["error"]]);
    expect(await rowsOf(app, "profiles")).toEqual([]);
  });
});

test("D-14.3 bodies of another shape and values that lose nothing: digits, names, depth", async () => {
  const app = await startRunApp();
  const texts = [
    ...['{"row":{}}', '{"expected":null}', '{"row":[],"expected":null}', "[]", "{", ""],
    ...['{"row":{},"expected":1}', '{"row":{},"expected":null,"force":1}'],
    ...['{"row":{},"expected":null,"more":1}', `{"row":${"[".repeat(5_000)}`],
  ];
  const headers = { "Content-Type": "application/json" };
  for (const body of texts) {
    const reply = await app.ask("/rows/notes", { method: "PUT", body, headers });
    expect([body.slice(0, 50), reply.status]).toEqual([body.slice(0, 50), 400]);
  }
  const body =
    '{"row":{"name":"n","a_json":{"x_y":[9007199254740993,1.10]},"a_numeric":1.10,"required":"r"},"expected":null}';
  const { text } = await app.ask("/rows/samples", { method: "PUT", body, headers });
  expect(text).toContain('"a_json":{"x_y":["9007199254740993",1.10]}');
  expect((await edit(app, "no_such_table", { row: {}, expected: null })).status).toBe(400);
  expect((await remove(app, "no_such_table", { key: {}, expected: {} })).status).toBe(400);
});

test("D-14.3 rows by hand are for administrators, and from the console's own page only", async () => {
  const app = await startApp({ env: ADMIN_ENV });
  const ana = await Person.signUp(app, "ana");
  const requests = [
    [`${SYNC}/rows/notes`, jsonBody({ row: {}, expected: null }, "PUT")],
    [`${SYNC}/rows/notes/delete`, jsonBody({ key: {}, expected: {} })],
  ] as const;
  const credentials = jsonBody({ username: "root", password: PASSWORD });
  const signedIn = await app.send("/v1/sessions", credentials);
  const cookie = String(signedIn.headers.get("set-cookie")).split(";")[0] ?? "";
  for (const [path, options] of requests) {
    expect((await app.send(path, options)).status).toBe(401);
    expect((await ana.send(path, options)).status).toBe(403);
    const headers = { ...options.headers, Cookie: cookie };
    expect((await app.send(path, { ...options, headers })).status).toBe(403);
    const own = { ...headers, "Sec-Fetch-Site": "same-origin" };
    expect((await app.send(path, { ...options, headers: own })).status).toBe(400);
    const plain = { ...own, "Content-Type": "text/plain" };
    const undeclared = await app.send(path, { ...options, headers: plain });
    expect([undeclared.status, undeclared.text]).toEqual([
      400,
      expect.stringContaining("application/json"),
    ]);
  }
});
