// What other programs can do to a table in SQLite's own ways, and what is recorded of it. D-7.6.
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import type { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import { PARTS } from "../../../contract/tables/tombstones/tombstone-table.ts";
import { nextMillisecond } from "../../../support/time/next-millisecond.ts";
import { SqliteFile } from "../support.ts";
import { LONG_AGO, NUMBERED, scene, soon } from "./delete-scene.ts";

// A row that comes in the millisecond of its delete counts as one that was replaced: hence `nextMillisecond`.
describe("D-7.6 statements that leave rows where they are delete nothing", () => {
  const statements = [
    "INSERT OR IGNORE INTO items (id, k) VALUES (1, 'new')",
    "INSERT OR IGNORE INTO items (k) VALUES ('a')",
    "UPDATE OR IGNORE items SET id = 2 WHERE k = 'a'",
    "UPDATE OR IGNORE items SET k = 'b' WHERE k = 'a'",
    "INSERT INTO items (id, k) VALUES (1, 'new') ON CONFLICT (id) DO NOTHING",
    "INSERT INTO items (id, k) VALUES (1, 'new') ON CONFLICT (id) DO UPDATE SET v = 5",
    "INSERT INTO items (k, at) VALUES ('a', NULL) ON CONFLICT (k) DO UPDATE SET at = excluded.at",
    "UPDATE items SET k = k, id = id, at = at",
  ];
  for (const sql of statements) {
    scene(`D-7.6 ${sql}`, async ({ program, keys }) => {
      program.run(sql);
      program.run("INSERT INTO items (k) VALUES ('after')");
      expect(await keys()).toEqual([]);
    });
  }

  scene("D-7.6 one that fails", async ({ program, keys }) => {
    expect(() => program.run("INSERT INTO items (id, k) VALUES (1, 'new')")).toThrow();
    expect(() => program.run("UPDATE OR FAIL items SET id = 3 WHERE k < 'c'")).toThrow();
    program.run("BEGIN; DELETE FROM items; ROLLBACK");
    program.run("INSERT INTO items (k) VALUES ('after')");
    expect(await keys()).toEqual([]);
  });

  scene("D-7.6 what was passed over once is no replaced row later", async (scene) => {
    const { storage, program, keys } = scene;
    program.run("INSERT OR IGNORE INTO items (id, k) VALUES (1, 'new')");
    program.run("DELETE FROM items WHERE k = 'a'");
    expect(await storage.tombstones.forgetAfter(NUMBERED, null)).toBe(1);
    program.run("INSERT INTO items (k) VALUES ('after')");
    expect(await keys()).toEqual([]);
    program.run("INSERT OR IGNORE INTO items (id, k) VALUES (2, 'new')");
    await storage.documents.transact({ name: "test.remove" }, (tx) =>
      tx.tables.change(NUMBERED, "k", "b", null),
    );
    program.run("INSERT INTO items (k) VALUES ('last')");
    expect(await keys()).toEqual([]);
  });
});

describe("D-7.6 keys", () => {
  for (const [which, time] of [
    ["old", () => LONG_AGO],
    ["to come", soon],
  ] as const) {
    scene(
      `D-7.6 that one statement moves on by one delete those that no row has then, where times are ${which}`,
      async ({ program, keys }) => {
        program.run("UPDATE items SET at = ?", [time()]);
        program.run("UPDATE items SET k = char(unicode(k) - 1)");
        expect(program.query("SELECT k FROM items ORDER BY k").values()).toEqual([
          ["`"],
          ["a"],
          ["b"],
        ]);
        expect(await keys()).toEqual(["c"]);
      },
    );
  }

  scene("D-7.6 that are null are no keys", async ({ program, keys }) => {
    program.run("UPDATE items SET k = NULL WHERE k = 'a'");
    program.run("DELETE FROM items WHERE k IS NULL");
    expect(await keys()).toEqual(["a"]);
    program.run("REPLACE INTO items (id, k) VALUES (2, NULL)");
    program.run("UPDATE items SET k = 'd' WHERE k IS NULL");
    program.run("UPDATE items SET k = NULL WHERE k = 'd'");
    program.run("REPLACE INTO items (id, k) VALUES (2, 'e')");
    expect(await keys()).toEqual(["a", "b", "d"]);
  });

  test("D-7.6 of several columns are none while one is null, and rows go by a part of them that is unique", () =>
    SqliteFile.use(async (file) => {
      const storage = await file.open();
      await storage.tables.prepare([PARTS]);
      const program = file.openElsewhere();
      program.run("CREATE UNIQUE INDEX other ON parts (number)");
      await storage.tables.prepare([PARTS]);
      program.run("INSERT INTO parts (shop, number) VALUES (NULL, 1), ('a', 2)");
      program.run("DELETE FROM parts WHERE number = 1");
      program.run("REPLACE INTO parts (shop, number) VALUES ('b', 2)");
      const query = { after: null, sinceTime: null, limitRows: 100 };
      const { items } = await storage.tombstones.list(PARTS, query);
      expect(items.map(({ key }) => key)).toEqual([{ shop: "a", number: "2" }]);
      program.run("DROP INDEX other");
      await storage.tables.prepare([PARTS]);
      const left = "SELECT name FROM sqlite_schema WHERE name GLOB 'repsync_delete.taken.*'";
      expect(program.query(left).values()).toEqual([]);
    }));

  scene(
    "D-7.6 of another type than their column's are listed as they are",
    async ({ program, keys }) => {
      program.run("INSERT INTO items (k, at) VALUES (x'5b315d', NULL)");
      program.run("DELETE FROM items WHERE typeof(k) = 'blob'");
      expect(await keys()).toEqual([[1]]);
    },
  );
});

scene(
  "D-7.6 of a table that somebody dropped the record is complete from the next start on",
  async (scene) => {
    const { program, storage, keys } = scene;
    program.run("DELETE FROM items WHERE k = 'a'");
    const query = { after: null, sinceTime: null, limitRows: 100 };
    const since = async () => (await storage.tombstones.list(NUMBERED, query)).earliestAvailable;
    const before = await since();
    await nextMillisecond();
    program.run("DROP TABLE items");
    await storage.tables.prepare([NUMBERED]);
    expect(Date.parse(await since())).toBeGreaterThan(Date.parse(before));
    expect(await keys()).toEqual(["a"]);
  },
);

describe("D-7.6 times", () => {
  const forms: readonly [string, (time: string) => string][] = [
    ["a space", (time) => time.replace("T", " ")],
    ["a zone", (time) => `${time}Z`],
    ["an offset", (time) => `${time}+00:00`],
    ["no seconds' fraction but a point", (time) => `${time}.0`],
  ];
  for (const [form, write] of forms) {
    scene(`D-7.6 written with ${form} are read`, async ({ program, storage }) => {
      const time = soon();
      program.run("INSERT INTO items (k, at) VALUES ('soon', ?)", [write(time)]);
      program.run("DELETE FROM items WHERE k = 'soon'");
      const query = { after: null, sinceTime: null, limitRows: 100 };
      const { items } = await storage.tombstones.list(NUMBERED, query);
      expect(items).toEqual([{ key: { k: "soon" }, deletedAt: `${time}.000001Z` }]);
      await nextMillisecond();
      program.run("INSERT INTO items (k, at) VALUES ('soon', ?)", [write(time)]);
      expect(await storage.tombstones.countAfter(NUMBERED, null)).toBe(1);
    });
  }

  scene("D-7.6 of rows that are replaced count as those of deleted ones", async (scene) => {
    const { program, storage } = scene;
    const time = soon();
    program.run("INSERT INTO items (id, k, at) VALUES (9, 'soon', ?)", [time]);
    program.run("REPLACE INTO items (id, k) VALUES (9, 'new')");
    const query = { after: null, sinceTime: null, limitRows: 100 };
    const { items } = await storage.tombstones.list(NUMBERED, query);
    expect(items).toEqual([{ key: { k: "soon" }, deletedAt: `${time}.000001Z` }]);
  });

  for (const time of ["2024-02-30T00:00:00", "2999-99-99T99:99:99.999999", "soon", 5]) {
    scene(`D-7.6 such as ${time} hinder no delete`, async ({ program, keys }) => {
      program.run("UPDATE items SET at = ? WHERE k = 'a'", [time]);
      program.run("DELETE FROM items WHERE k = 'a'");
      expect(await keys()).toEqual(["a"]);
    });
  }
});

describe("D-7.6 the record", () => {
  async function earliest(storage: SqliteStorage): Promise<string> {
    const query = { after: null, sinceTime: null, limitRows: 1 };
    return (await storage.tombstones.list(NUMBERED, query)).earliestAvailable;
  }

  /** Prepares again once the clock shows another time; whether the record begins anew. */
  async function beginsAnew(storage: SqliteStorage): Promise<boolean> {
    const before = await earliest(storage);
    await nextMillisecond();
    await storage.tables.prepare([NUMBERED]);
    return (await earliest(storage)) > before;
  }

  scene(
    "D-7.6 goes on over a start, and keeps its tombstones",
    async ({ program, storage, keys }) => {
      program.run("DELETE FROM items WHERE k = 'a'");
      expect(await beginsAnew(storage)).toBe(false);
      expect(await keys()).toEqual(["a"]);
    },
  );

  for (const name of ["delete", "rekey", "insert", "update", "taken.insert", "replaced.update"]) {
    scene(
      `D-7.6 begins anew when the trigger ${name} was lost`,
      async ({ program, storage, keys }) => {
        program.run("DELETE FROM items WHERE k = 'a'");
        program.run(`DROP TRIGGER "repsync_delete.${name}.items"`);
        program.run("DELETE FROM items WHERE k = 'b'");
        expect(await beginsAnew(storage)).toBe(true);
        program.run("DELETE FROM items WHERE k = 'c'");
        expect((await keys()).at(-1)).toBe("c");
        expect(await beginsAnew(storage)).toBe(false);
      },
    );
  }

  scene(
    "D-7.6 is not complete while its trigger is lost, or another instance has none",
    async ({ program, storage }) => {
      const before = await earliest(storage);
      await nextMillisecond();
      program.run('DROP TRIGGER "repsync_delete.delete.items"');
      const lost = await earliest(storage);
      expect(lost > before).toBe(true);
      await storage.tables.prepare([NUMBERED]);
      const again = await earliest(storage);
      expect(again >= lost).toBe(true);
      await nextMillisecond();
      expect(await earliest(storage)).toBe(again);
      await storage.tables.prepare([{ ...NUMBERED, deletes: false }]);
      expect((await earliest(storage)) > again).toBe(true);
    },
  );

  scene(
    "D-7.6 begins anew when a unique key came by which rows are replaced unseen",
    async ({ program, storage, keys }) => {
      program.run("UPDATE items SET v = id");
      program.run("CREATE UNIQUE INDEX other ON items (v)");
      expect(await beginsAnew(storage)).toBe(true);
      program.run("REPLACE INTO items (k, v) VALUES ('new', 1)");
      expect(await keys()).toEqual(["a"]);
    },
  );

  scene(
    "D-7.6 begins anew with another timestamp column, by which tombstones go then",
    async ({ program, storage }) => {
      const columns = [...NUMBERED.columns, { ...NUMBERED.columns[2]!, name: "changed" }];
      const other = { ...NUMBERED, columns, timestampColumn: "changed" };
      await storage.tables.prepare([other]);
      const time = `${new Date(Date.now() + 60_000).toISOString().slice(0, 19)}`;
      program.run("UPDATE items SET changed = ? WHERE k = 'a'", [time]);
      program.run("DELETE FROM items WHERE k = 'a'");
      const query = { after: null, sinceTime: null, limitRows: 100 };
      const { items } = await storage.tombstones.list(other, query);
      expect(items).toEqual([{ key: { k: "a" }, deletedAt: `${time}.000001Z` }]);
    },
  );

  scene("D-7.6 has nothing of a table that gave its name to another", async (scene) => {
    const { program, storage, keys } = scene;
    const before = await earliest(storage);
    program.run("DELETE FROM items WHERE k = 'a'");
    program.run(`ALTER TABLE items RENAME TO things; CREATE TABLE items (id INTEGER PRIMARY KEY, k TEXT, at TEXT, v INT);
      INSERT INTO items VALUES (1, 'a', NULL, 0), (2, 'b', NULL, 0), (3, 'c', NULL, 0);
      INSERT INTO things (id, k, at) VALUES (1, 'a', '${soon()}');
      UPDATE things SET k = 'd' WHERE k = 'c'; REPLACE INTO things (id, k) VALUES (2, 'e'); DELETE FROM things`);
    expect(await keys()).toEqual(["a"]);
    expect((await earliest(storage)) > before).toBe(true);
    await storage.tables.prepare([NUMBERED]);
    program.run("DELETE FROM items WHERE k = 'b'; DELETE FROM things");
    expect(await keys()).toEqual(["a", "b"]);
    expect(await beginsAnew(storage)).toBe(false);
  });

  scene("D-7.6 has a gap where a table had another name for a while", async (scene) => {
    const { program, storage, keys } = scene;
    const before = await earliest(storage);
    program.run(`ALTER TABLE items RENAME TO things; DELETE FROM things WHERE k = 'a';
      ALTER TABLE things RENAME TO items; DELETE FROM items WHERE k = 'b'`);
    expect(await keys()).toEqual(["b"]);
    await nextMillisecond();
    expect((await earliest(storage)) > before).toBe(true);
    expect(await beginsAnew(storage)).toBe(true);
    expect(await beginsAnew(storage)).toBe(false);
  });

  scene(
    "D-7.6 goes on where the application attaches the file, and after a VACUUM",
    async (scene) => {
      const { program, storage, keys } = scene;
      const { filename } = program;
      const other = new Database(":memory:");
      other.run("CREATE TABLE items (k TEXT)");
      other.run("ATTACH ? AS store", [filename]);
      other.run(
        "DELETE FROM store.items WHERE k = 'a'; VACUUM store; DELETE FROM store.items WHERE k = 'b'",
      );
      other.close();
      expect(await keys()).toEqual(["a", "b"]);
      expect(await beginsAnew(storage)).toBe(false);
    },
  );

  scene("D-7.6 leaves no trigger in a table that has opted out", async ({ program, storage }) => {
    await storage.tables.prepare([{ ...NUMBERED, deletes: false }]);
    const triggers = program
      .query("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
      .values();
    expect(triggers).toEqual([]);
  });
});
