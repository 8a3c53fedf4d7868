// The headers that change what a push does. D-7.2, D-7.6.
import { describe, expect, test } from "bun:test";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { startApp } from "../support/sync-app.ts";

const body = { records: [{ name: "a" }] };

describe("X-Sync-Conflict", () => {
  test.each(["newer", "NEWER"])("D-7.2.1 %p asks for a guarded push", async (value) => {
    const { push } = await startApp();
    const { status, text } = await push("notes", body, { "X-Sync-Conflict": value });
    expect([status, text]).toEqual([
      200,
      '{"table":"notes","received":1,"upserted":1,"integrity":"no_checksum","kept":0,"changed":1}',
    ]);
  });

  test("D-7.2.1, S-4.2.6 a guarded push without records has the usual result", async () => {
    const { push } = await startApp();
    const { json } = await push("notes", {}, { "X-Sync-Conflict": "newer" });
    expect(json).toEqual({ table: "notes", upserted: 0, message: "No records to sync" });
  });

  test("D-11.10.2 overwrite writes over a newer row, whatever the table says", async () => {
    const newest: TableEntry = {
      timestamp_column: "at",
      upsert_key: ["k"],
      conflict: "newer",
      columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
    };
    const { push, records } = await startApp({ tables: { items: newest } });
    const of = (v: string, day: number) => ({
      records: [{ k: "a", v, at: `2026-01-0${day}T00:00:00Z` }],
    });
    await push("items", of("new", 2));
    await push("items", of("old", 1));
    expect(await records("items")).toMatchObject([{ v: "new" }]);
    const { json } = await push("items", of("old", 1), { "X-Sync-Conflict": "Overwrite" });
    const result = { table: "items", received: 1, upserted: 1, integrity: "no_checksum" };
    expect(json).toEqual({ ...result, changed: 1 });
    expect(await records("items")).toMatchObject([{ v: "old" }]);
    const again = await push("items", of("old", 1), { "X-Sync-Conflict": "Overwrite" });
    expect(again.json).toEqual({ ...result, changed: 0 });
  });

  test("D-7.2.1 an empty value is none", async () => {
    const { push } = await startApp();
    expect((await push("notes", body, { "X-Sync-Conflict": "" })).json).not.toHaveProperty("kept");
  });

  test.each(["older", "newer, newer", "true"])(
    "D-7.2.1 %p is refused, and nothing is written",
    async (value) => {
      const { push, records } = await startApp();
      const { status, text } = await push("notes", body, { "X-Sync-Conflict": value });
      expect([status, text]).toEqual([
        400,
        '{"error":"X-Sync-Conflict must be \\"newer\\", \\"overwrite\\" or absent"}',
      ]);
      expect(await records("notes")).toEqual([]);
    },
  );

  test("D-7.2.1, S-5.3 a wrong key and an unknown table are told first", async () => {
    const { push } = await startApp();
    const bad = { "X-Sync-Conflict": "older" };
    expect((await push("notes", body, { ...bad, "X-Sync-Key": "wrong" })).status).toBe(401);
    expect((await push("no_such_table", body, bad)).text).toContain("Unknown table");
  });
});

describe("conflict of the body", () => {
  const guarded = { ...body, conflict: "newer" };

  test("D-7.2.1 newer asks for a guarded push, overwrite for an overwriting one, null for neither", async () => {
    const { push } = await startApp();
    expect((await push("notes", guarded)).json).toMatchObject({ kept: 0, changed: 1 });
    const { json } = await push("notes", { ...body, conflict: "overwrite" });
    expect([json["changed"], json]).toEqual([0, expect.not.objectContaining({ kept: 0 })]);
    const plain = await push("notes", { ...body, conflict: null });
    expect(plain.json).not.toHaveProperty("changed");
  });

  test("D-7.2.1 the header goes before it, and an empty one does not", async () => {
    const { push } = await startApp();
    const { json } = await push("notes", guarded, { "X-Sync-Conflict": "overwrite" });
    expect(json).not.toHaveProperty("kept");
    expect((await push("notes", guarded, { "X-Sync-Conflict": "" })).json).toHaveProperty("kept");
  });

  test.each(["older", "NEWER", true, {}])(
    "D-7.2.1 %p is refused, and nothing is written",
    async (conflict) => {
      const { push, records } = await startApp();
      const { status, text } = await push("notes", { ...body, conflict });
      expect([status, text]).toEqual([
        400,
        '{"error":"conflict must be \\"newer\\", \\"overwrite\\" or null"}',
      ]);
      expect(await records("notes")).toEqual([]);
    },
  );
});

describe("X-Sync-Dry-Run", () => {
  test.each(["deletes", "Deletes"])("D-7.6.2 %p writes no record", async (value) => {
    const { push, records } = await startApp();
    const { status, json } = await push("notes", body, { "X-Sync-Dry-Run": value });
    const nothing = { received: 0, upserted: 0, integrity: "no_checksum", deleted: 0 };
    expect([status, json]).toEqual([200, { table: "notes", ...nothing }]);
    expect(await records("notes")).toEqual([]);
  });

  test.each(["records", "true", "1"])(
    "D-7.6.2 %p is refused, and nothing is written",
    async (value) => {
      const { push, records } = await startApp();
      const { status, text } = await push("notes", body, { "X-Sync-Dry-Run": value });
      expect([status, text]).toEqual([
        400,
        '{"error":"X-Sync-Dry-Run must be \\"deletes\\" or absent"}',
      ]);
      expect(await records("notes")).toEqual([]);
    },
  );
});
