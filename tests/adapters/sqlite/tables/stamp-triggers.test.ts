// What other programs write to a stamped table in SQLite's own ways, and which time it gets. D-14.2.
import type { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { STAMP_NOW } from "../../../../src/domain/sync/rows/row-time.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { SqliteFile } from "../support.ts";

const ENTRY: TableEntry = {
  ...{ timestamp_column: "at", upsert_key: ["k"], stamped: true },
  columns: { k: { type: "text" }, at: { type: "datetime" }, v: { type: "integer" } },
};
const LONG_AGO = "2024-01-01T00:00:00";
/** As the triggers write times. */
const FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}|\.\d{6})?$/;

interface Scene {
  readonly file: SqliteFile;
  readonly program: Database;
  /** What SQLite's own `now` says, so many seconds from now. */
  later(seconds: number): string;
  /** The time of a row; null without one. */
  at(k: string): string;
  /** True for a time of since the scene began. */
  isOfNow(time: string): boolean;
}

const KINDS = [false, true].flatMap((deletes) =>
  ["OFF", "ON"].map((recursive) => ({ deletes, recursive })),
);

/** Plays a body with and without deletes, with `recursive_triggers` on and off. */
function scenes(name: string, body: (scene: Scene) => Promise<void> | void): void {
  for (const { deletes, recursive } of KINDS) {
    const when = `${deletes ? "with" : "without"} deletes, recursive_triggers ${recursive}`;
    test(`D-14.2.3 ${name}, ${when}`, () =>
      SqliteFile.use(async (file) => {
        const storage = await file.open();
        await storage.tables.prepare([makeTable({ ...ENTRY, deletes })]);
        const program = file.openElsewhere();
        program.run(`PRAGMA recursive_triggers = ${recursive}`);
        const begun = Date.now() - 1;
        const at = (k: string) =>
          String(program.query("SELECT at FROM items WHERE k = ?").values(k)[0]?.[0]);
        const later = (seconds: number) =>
          new Date(Math.floor(Date.now() / 1000 + seconds) * 1000).toISOString().slice(0, 19);
        const isOfNow = (time: string) =>
          FORM.test(time) &&
          Date.parse(`${time}Z`) >= begun &&
          Date.parse(`${time}Z`) <= Date.now();
        await body({ file, program, at, later, isOfNow });
      }));
  }
}

describe("stamps of rows that other programs write", () => {
  scenes("a new row without a time gets now, and one with a time keeps it", (scene) => {
    const { program, at, isOfNow } = scene;
    program.run("INSERT INTO items (k, v) VALUES ('a', 1), ('b', 1)");
    program.run("INSERT INTO items (k, at, v) VALUES ('c', NULL, 1), ('d', ?, 1)", [LONG_AGO]);
    expect(["a", "b", "c"].map((k) => isOfNow(at(k)))).toEqual([true, true, true]);
    expect(at("d")).toBe(LONG_AGO);
  });

  scenes(
    "a row that is updated gets a time later than its own, unless the update gives one",
    (scene) => {
      const { program, at, later, isOfNow } = scene;
      const [ahead, far] = [later(60), later(600)];
      program.run("INSERT INTO items VALUES ('old', ?, 1), ('ahead', ?, 1), ('far', ?, 1)", [
        ...[LONG_AGO, ahead, far],
      ]);
      program.run("UPDATE items SET v = v");
      expect([isOfNow(at("old")), at("ahead"), isOfNow(at("far"))]).toEqual([
        ...[true, `${ahead}.000001`, true],
      ]);
      program.run("UPDATE items SET v = 2, at = ? WHERE k = 'old'", [LONG_AGO]);
      expect(at("old")).toBe(LONG_AGO);
      program.run("UPDATE items SET at = NULL WHERE k IN ('old', 'ahead')");
      expect([isOfNow(at("old")), at("ahead")]).toEqual([true, `${ahead}.000002`]);
      program.run("UPDATE items SET at = ?, v = 3 WHERE k = 'far'", [`${ahead}.000999`]);
      program.run("UPDATE items SET v = 4 WHERE k = 'far'");
      expect(at("far")).toBe(`${ahead}.001`);
      program.run("UPDATE items SET k = 'moved' WHERE k = 'far'");
      expect(at("moved")).toBe(`${ahead}.001001`);
    },
  );

  scenes("what REPLACE removes counts as the present row", (scene) => {
    const { program, at, later } = scene;
    const ahead = later(60);
    program.run("INSERT INTO items VALUES ('a', ?, 1), ('b', ?, 1)", [ahead, LONG_AGO]);
    for (const sql of [
      "REPLACE INTO items (k, v) VALUES ('a', 2)",
      "INSERT INTO items (k, v) VALUES ('a', 3) ON CONFLICT (k) DO UPDATE SET v = 3",
      "UPDATE OR REPLACE items SET k = 'a' WHERE k = 'b'",
    ]) {
      const before = at("a");
      program.run(sql);
      expect([at("a") > before, at("a").slice(0, -1)]).toEqual([true, `${ahead}.00000`]);
    }
    const before = at("a");
    program.run("INSERT OR IGNORE INTO items (k, v) VALUES ('a', 4)");
    expect(at("a")).toBe(before);
    program.run("INSERT INTO items (k, v) VALUES ('other', 4)");
    expect(at("other") < ahead).toBe(true);
    program.run("REPLACE INTO items VALUES ('a', ?, 5)", [LONG_AGO]);
    expect(at("a")).toBe(LONG_AGO);
  });

  scenes("the application's count of changed rows is as without stamps", ({ program }) => {
    const changes = () => program.query("SELECT changes()").values()[0]?.[0];
    program.run("INSERT INTO items (k, v) VALUES ('a', 1), ('b', 1), ('c', 1)");
    expect(changes()).toBe(3);
    program.run("UPDATE items SET v = 2 WHERE k <> 'c'");
    expect(changes()).toBe(2);
    program.run("REPLACE INTO items (k, v) VALUES ('a', 3)");
    expect(changes()).toBe(1);
  });

  scenes("commits of repsync stamp what their rule says, and nothing else", async (scene) => {
    const { file, program, at, isOfNow } = scene;
    const storage = await file.open();
    const table = makeTable({
      ...ENTRY,
      deletes: program.query("SELECT 1 FROM repsync_deletes").all().length > 0,
    });
    await storage.tables.prepare([table]);
    const write = (v: number, options = {}) =>
      writeTo(storage, table, [{ index: 0, row: { k: "a", at: `${LONG_AGO}Z`, v } }], options);
    await write(1);
    // At an equal time the sender's row is written, and keeps its time.
    await write(2, { conflict: "newer" });
    expect(at("a")).toBe(LONG_AGO);
    await writeTo(storage, table, [{ index: 0, row: { k: "b", at: null, v: 1 } }]);
    expect(program.query("SELECT at FROM items WHERE k = 'b'").values()).toEqual([[null]]);
    await writeTo(storage, table, [{ index: 0, row: { k: "a", v: 3 } }], { stamps: STAMP_NOW });
    expect(isOfNow(at("a"))).toBe(true);
    program.run("UPDATE items SET v = 9");
    expect(isOfNow(at("b"))).toBe(true);
  });
});

test("D-14.2, D-14.2.3 a row that comes back, or changes beside its tombstone, is later than that, in the millisecond of its delete too", () =>
  SqliteFile.use(async (file) => {
    const storage = await file.open();
    const table = makeTable({ ...ENTRY, deletes: true });
    await storage.tables.prepare([table]);
    const program = file.openElsewhere();
    const ahead = new Date(Math.floor(Date.now() / 1000 + 60) * 1000).toISOString().slice(0, 19);
    program.run("INSERT INTO items VALUES ('a', ?, 1)", [ahead]);
    program.run("DELETE FROM items; INSERT INTO items (k, v) VALUES ('a', 2)");
    expect(program.query("SELECT at FROM items").values()).toEqual([[`${ahead}.000002`]]);
    const query = { after: null, sinceTime: null, limitRows: 10 };
    expect((await storage.tombstones.list(table, query)).items).toEqual([]);
    const deleted = [{ index: 0, key: { k: "b" }, deletedAt: `${ahead}Z` }];
    await writeTo(storage, table, [], { deleted });
    program.run("INSERT INTO items VALUES ('b', ?, 1)", [LONG_AGO]);
    program.run("UPDATE items SET v = 2 WHERE k = 'b'");
    expect(program.query("SELECT at FROM items WHERE k = 'b'").values()).toEqual([
      [`${ahead}.000001`],
    ]);
    expect((await storage.tombstones.list(table, query)).items).toEqual([]);
  }));

test("D-14.2.3 a row is later than its own tombstone alone, where a trigger of the application writes another row", () =>
  SqliteFile.use(async (file) => {
    const storage = await file.open();
    await storage.tables.prepare([makeTable({ ...ENTRY, deletes: true })]);
    const program = file.openElsewhere();
    const ahead = new Date(Math.floor(Date.now() / 1000 + 60) * 1000).toISOString().slice(0, 19);
    program.run(`CREATE TRIGGER application AFTER INSERT ON items WHEN NEW.v > 0
      BEGIN INSERT INTO items (k, v) VALUES (NEW.k || ' other', 0); END`);
    program.run("INSERT INTO items VALUES ('a', ?1, 0), ('b other', ?1, 0)", [ahead]);
    program.run("DELETE FROM items; INSERT INTO items (k, v) VALUES ('a', 1), ('b', 1)");
    const rows = "SELECT k FROM items WHERE at = ? ORDER BY k";
    expect(program.query(rows).values(`${ahead}.000002`)).toEqual([["a"], ["b other"]]);
  }));

test("D-14.2.3 a table that another program made is stamped alike, whatever its key and its columns are", () =>
  SqliteFile.use(async (file) => {
    const program = file.openElsewhere();
    program.run(
      "CREATE TABLE items (id INTEGER, k TEXT NOT NULL, at TEXT, v INT, own, PRIMARY KEY (k)) WITHOUT ROWID",
    );
    program.run("INSERT INTO items (k, v) VALUES ('before', 1)");
    const storage = await file.open();
    await storage.tables.prepare([makeTable({ ...ENTRY, deletes: true })]);
    program.run("INSERT INTO items (k, at, v) VALUES ('a', '2099-01-01 10:00', 1), ('b', NULL, 1)");
    program.run("REPLACE INTO items (k, v) VALUES ('b', 2)");
    program.run("UPDATE items SET own = 1");
    const times = program.query("SELECT k, at FROM items ORDER BY k").values();
    expect(times.map(([k, at]) => [k, FORM.test(String(at))])).toEqual([
      ["a", true],
      ["b", true],
      ["before", true],
    ]);
    expect(times.every(([, at]) => Math.abs(Date.parse(`${at}Z`) - Date.now()) < 60_000)).toBe(
      true,
    );
  }));

test("D-14.2.3 triggers come and go with the word in the registry, and a timestamp column may change", () =>
  SqliteFile.use(async (file) => {
    const storage = await file.open();
    const program = file.openElsewhere();
    const triggers = () =>
      program.query("SELECT name FROM sqlite_schema WHERE name GLOB 'repsync_stamp.*'").all()
        .length;
    await storage.tables.prepare([makeTable(ENTRY)]);
    expect(triggers()).toBe(4);
    program.run('DROP TRIGGER "repsync_stamp.insert.items"');
    await storage.tables.prepare([makeTable(ENTRY)]);
    expect(triggers()).toBe(4);
    const columns = { ...ENTRY.columns, since: { type: "datetime" as const } };
    await storage.tables.prepare([makeTable({ ...ENTRY, timestamp_column: "since", columns })]);
    program.run("INSERT INTO items (k, v) VALUES ('a', 1)");
    expect(program.query("SELECT at IS NULL, since IS NULL FROM items").values()).toEqual([[1, 0]]);
    await storage.tables.prepare([makeTable(ENTRY)]);
    await storage.tables.prepare([makeTable({ ...ENTRY, stamped: false })]);
    expect(triggers()).toBe(0);
  }));
