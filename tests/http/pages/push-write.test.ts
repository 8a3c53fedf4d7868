// What a push writes, on every store.
import { expect, test } from "bun:test";
import { onEveryBackend } from "../support/backends.ts";
import { startApp } from "../support/sync-app.ts";
import { TABLES } from "../support/tables.ts";

const { events, listings, notes, samples, settings, versions } = TABLES;

onEveryBackend("push()", (backend) => {
  test("S-4.2.7 push() ignores unknown fields, an auto-incrementing id, and nulls missing ones", async () => {
    const app = await startApp({ backend, tables: { listings } });
    const record = { id: 77, shop: "s", sku: "1", color: "red", _id: 5, price: "1" };
    await app.push("listings", { records: [record, { shop: "s", sku: "2" }] });
    const rows = await app.records("listings");
    expect(rows.map(({ id, sku, price }) => ({ id, sku, price }))).toEqual([
      { id: 1, sku: "1", price: "1" },
      { id: 2, sku: "2", price: null },
    ]);
    expect(Object.keys(rows[0] ?? {})).toEqual([
      "id",
      "shop",
      "sku",
      "price",
      "views",
      "active",
      "listed_on",
      "updated_at",
      "extra",
    ]);
    await app.push("listings", { records: [{ shop: "s", sku: "1" }] });
    expect((await app.records("listings"))[0]).toMatchObject({ id: 1, sku: "1", price: null });
  });

  test("S-4.2.7 push() takes no field from a prototype and keeps __proto__ out", async () => {
    const app = await startApp({ backend, tables: { samples } });
    const body =
      '{"records":[{"name":"a","required":"r","__proto__":{"a_text":"polluted"},"constructor":{"a_text":"x"},"a_json":{"__proto__":{"x":1},"constructor":2}}],"__proto__":{"records":[]}}';
    expect((await app.push("samples", body)).json["upserted"]).toBe(1);
    const { text } = await app.pull("samples");
    expect(text).toContain('"a_text":null');
    expect(text).toContain('"a_json":{"__proto__":{"x":1},"constructor":2}');
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  test("S-4.2.9, D-3.6.1 push() inserts only, ignoring existing keys, with update_columns []", async () => {
    const app = await startApp({ backend, tables: { events } });
    await app.push("events", { records: [{ code: 1, body: "first" }] });
    const again = [
      { code: 1, body: "second" },
      { code: 2, body: "b" },
      { code: 2, body: "c" },
    ];
    expect((await app.push("events", { records: again })).text).toBe(
      '{"table":"events","received":3,"upserted":3,"integrity":"no_checksum"}',
    );
    expect(await app.records("events")).toEqual([
      { code: 1, body: "first" },
      { code: 2, body: "b" },
    ]);
  });

  test("S-4.2.9, S-1.2 push() updates every column but the key and id with __all__", async () => {
    const app = await startApp({ backend, tables: { listings } });
    const key = { shop: "s", sku: "1" };
    await app.push("listings", { records: [{ ...key, price: "1", active: true }] });
    await app.push("listings", { records: [{ ...key, id: 9, price: "2.50", views: 7 }] });
    expect((await app.records("listings"))[0]).toMatchObject({
      ...key,
      id: 1,
      price: "2.50",
      views: "7",
      active: null,
    });
  });

  test("S-4.2.9 push() updates the listed columns only", async () => {
    const app = await startApp({ backend, tables: { settings } });
    await app.push("settings", { records: [{ name: "a", value: "1", note: "kept" }] });
    await app.push("settings", { records: [{ name: "a", value: "2", note: "changed" }] });
    expect(await app.records("settings")).toEqual([{ name: "a", value: "2", note: "kept" }]);
  });

  test("D-3.6 push() writes one key twice as if one after the other", async () => {
    const app = await startApp({ backend, tables: { settings } });
    const records = ["1", "2", "3"].map((value) => ({ name: "a", value, note: value }));
    expect((await app.push("settings", { records })).json["upserted"]).toBe(3);
    expect(await app.records("settings")).toEqual([{ name: "a", value: "3", note: "1" }]);
  });

  test("D-3.9 push() leaves a newer row as it is with conflict newer", async () => {
    const app = await startApp({ backend, tables: { versions } });
    const push = (at: string | null, body: string) =>
      app.push("versions", { records: [{ name: "a", at, body }] });
    const bodyNow = async () => (await app.records("versions"))[0]?.["body"];
    await push("2026-01-02T00:00:00Z", "first");
    expect((await push("2026-01-01T00:00:00Z", "older")).json["upserted"]).toBe(1);
    expect((await push(null, "timeless")).json["upserted"]).toBe(1);
    expect(await bodyNow()).toBe("first");
    await push("2026-01-02T00:00:00Z", "same time");
    expect(await bodyNow()).toBe("same time");
    await push("2026-01-02T00:00:00.000001Z", "newer");
    expect(await bodyNow()).toBe("newer");
  });

  test("S-4.2.10, S-2.4 push() counts failing records and writes the others", async () => {
    const app = await startApp({ backend, tables: { samples } });
    const records = [
      { name: "a", required: "r" },
      { name: "b" },
      { name: "c", required: "r", a_text: { x: 1 } },
      { name: "d", required: "r", short: "1234" },
      { name: "e", required: "r", short: "🦊🦊🦊" },
      { required: "r" },
      { name: null, required: "r" },
      5,
      null,
      ["name"],
      { name: "f", required: "r" },
    ];
    expect((await app.push("samples", { records })).text).toBe(
      '{"table":"samples","received":11,"upserted":3,"integrity":"no_checksum","errors":[' +
        [
          '"name=b: required must not be null"',
          '"name=c: a_text must not be an object or an array"',
          '"name=d: short must not be longer than 3 characters"',
          '"name=null: name is part of the key and must not be missing or null"',
          '"name=null: name is part of the key and must not be missing or null"',
          '"name=null: record is not an object"',
          '"name=null: record is not an object"',
          '"name=null: record is not an object"',
        ].join(",") +
        '],"error_count":8}',
    );
    expect((await app.records("samples")).map(({ name }) => name)).toEqual(["a", "e", "f"]);
  });

  test("S-8.5, D-3.6.2 push() lists ten of eleven failures, each cut, with every key column", async () => {
    const app = await startApp({ backend, tables: { listings } });
    const bad = Array.from({ length: 11 }, (_, i) => ({
      shop: "s".repeat(i === 0 ? 500 : 1),
      sku: i,
      price: [],
    }));
    const { status, json } = await app.push("listings", {
      records: [...bad, { shop: "ok", sku: "ok" }],
    });
    const errors = json["errors"] as string[];
    expect([status, json["received"], json["upserted"], json["error_count"]]).toEqual([
      200, 12, 1, 11,
    ]);
    expect(errors.length).toBe(10);
    expect(errors[0]).toBe(
      `shop=${"s".repeat(100)}, sku=0: price must not be an object or an array`,
    );
    expect(errors[9]).toBe("shop=s, sku=9: price must not be an object or an array");
  });

  test("S-4.2.10, S-4.2.12 push() answers 200 when every record fails", async () => {
    const app = await startApp({ backend, tables: { notes } });
    const records = Array.from({ length: 5000 }, () => ({ body: "no key" }));
    const { status, json } = await app.push("notes", { records });
    expect([status, json["received"], json["upserted"], json["error_count"]]).toEqual([
      200, 5000, 0, 5000,
    ]);
    expect((await app.pull("notes")).json["total"]).toBe(0);
  });

  test("S-4.2.10 push() writes 5,000 records, ten of them failing", async () => {
    const app = await startApp({ backend, tables: { notes } });
    const records = Array.from({ length: 5000 }, (_, i) =>
      i % 500 === 250 ? { name: null } : { name: `n${i}`, body: "x".repeat(100) },
    );
    const { json } = await app.pushGzip("notes", JSON.stringify({ records }));
    expect([json["received"], json["upserted"], json["error_count"]]).toEqual([5000, 4990, 10]);
    expect((await app.pull("notes", "?limit=1")).json["total"]).toBe(4990);
    const again = await app.pushGzip("notes", JSON.stringify({ records }));
    expect([again.json["upserted"], again.json["error_count"]]).toEqual([4990, 10]);
    expect((await app.pull("notes", "?limit=1")).json["total"]).toBe(4990);
  });

  test("D-2.2.5 push() leaves a hidden column as it is when a record comes without it", async () => {
    const env = { STORAGE_URL: await backend.makeUrl() };
    const app = await startApp({ env, tables: { listings } });
    const key = { shop: "s", sku: "1" };
    await app.push("listings", { records: [{ ...key, secret: "hidden", price: "1" }] });
    await app.push("listings", { records: [{ ...key, price: "2" }] });
    expect((await app.pull("listings")).text).not.toContain("hidden");
    await app.stop();
    const columns = { ...listings.columns, secret: { type: "text" } } as const;
    const open = await startApp({ env, tables: { listings: { ...listings, columns } } });
    expect((await open.records("listings"))[0]).toMatchObject({ price: "2", secret: "hidden" });
    await open.push("listings", { records: [{ ...key, price: "3" }] });
    expect((await open.records("listings"))[0]).toMatchObject({ price: "3", secret: null });
  });
});
