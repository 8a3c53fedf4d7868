// What REPLACE removes of a table in SQLite, which fires no trigger of deletes, and what is recorded of it. D-7.6.
import { describe, expect } from "bun:test";
import { LONG_AGO, NUMBERED, scene } from "./delete-scene.ts";

describe("D-7.6 REPLACE", () => {
  for (const recursive of ["OFF", "ON"]) {
    const when = `with recursive_triggers ${recursive}`;

    scene(
      `D-7.6 of a row by one with its key deletes nothing, ${when}`,
      async ({ program, keys }) => {
        program.run(`PRAGMA recursive_triggers = ${recursive}`);
        program.run(`REPLACE INTO items (k, at, v) VALUES ('a', '${LONG_AGO}', 1)`);
        program.run(`INSERT OR REPLACE INTO items (id, k, at, v) VALUES (2, 'b', NULL, 1)`);
        expect(await keys()).toEqual([]);
        expect(program.query("SELECT k FROM items ORDER BY k").values()).toEqual([
          ["a"],
          ["b"],
          ["c"],
        ]);
      },
    );

    scene(
      `D-7.6 of a row by one with another key deletes it, ${when}`,
      async ({ program, keys }) => {
        program.run(`PRAGMA recursive_triggers = ${recursive}`);
        program.run(`REPLACE INTO items (id, k, at, v) VALUES (1, 'new', '${LONG_AGO}', 1)`);
        expect(await keys()).toEqual(["a"]);
        program.run(`REPLACE INTO items (id, k, at, v) VALUES (2, 'c', '${LONG_AGO}', 1)`);
        expect(await keys()).toEqual(["a", "b"]);
      },
    );

    scene(`D-7.6 of a row by an update deletes it, ${when}`, async ({ program, keys }) => {
      program.run(`PRAGMA recursive_triggers = ${recursive}`);
      program.run("UPDATE OR REPLACE items SET id = 2 WHERE k = 'a'");
      expect(await keys()).toEqual(["b"]);
      program.run("UPDATE OR REPLACE items SET k = 'c' WHERE k = 'a'");
      expect(await keys()).toEqual(["b", "a"]);
      expect(program.query("SELECT k FROM items").values()).toEqual([["c"]]);
    });
  }

  scene("D-7.6 many rows in one statement leave a tombstone each", async ({ program, keys }) => {
    program.run("CREATE UNIQUE INDEX other ON items (v) WHERE v > 0");
    program.run("UPDATE items SET v = id");
    program.run(
      `REPLACE INTO items (id, k, at, v) SELECT id, k || k, at, 0 FROM items WHERE k <> 'c'`,
    );
    expect(await keys()).toEqual(["a", "b"]);
  });
});

describe("D-7.6 REPLACE by a key of the application", () => {
  const inserts = "REPLACE INTO items (k, v, name) VALUES ('new', 1, 'ANA')";
  const updates = "UPDATE OR REPLACE items SET name = 'ANA' WHERE k = 'b'";
  for (const [key, made] of [
    ["that ignores case", "CREATE UNIQUE INDEX own ON items (name COLLATE NOCASE)"],
    [
      "that is generated",
      "ALTER TABLE items ADD COLUMN own TEXT AS (lower(name)); CREATE UNIQUE INDEX own ON items (own)",
    ],
    ["on an expression", "CREATE UNIQUE INDEX own ON items (lower(name))"],
    [
      "on several expressions",
      `CREATE UNIQUE INDEX "own (1, 2)" ON "items" ((name || ')') /* of, all */ COLLATE NOCASE DESC,k IS NULL, -- last
        ifnull(1, ',') ASC) /* some */ WHERE name NOT NULL`,
    ],
    [
      "on quoted names",
      `ALTER TABLE items ADD COLUMN "a""B, (" TEXT; ALTER TABLE items ADD COLUMN "c, (" TEXT;
        CREATE UNIQUE INDEX own ON items (iif("A""b, (" IS NULL, lower(name), NULL), iif(\`c, (\` IS [c, (], 1, NULL))`,
    ],
  ] as const) {
    for (const sql of [inserts, updates]) {
      scene(`D-7.6 ${key} deletes the row: ${sql}`, async ({ program, storage, keys }) => {
        program.run(`ALTER TABLE items ADD COLUMN name TEXT; ${made}`);
        program.run("UPDATE items SET name = CASE k WHEN 'a' THEN 'ana' ELSE k END");
        await storage.tables.prepare([NUMBERED]);
        program.run(sql);
        expect(program.query("SELECT k FROM items WHERE k = 'a'").values()).toEqual([]);
        expect(await keys()).toEqual(["a"]);
      });
    }
  }
});

scene(
  "D-7.6 REPLACE by an index of the upsert key that ignores case deletes the row",
  async ({ program, storage, keys }) => {
    program.run("CREATE UNIQUE INDEX own ON items (k COLLATE NOCASE)");
    await storage.tables.prepare([NUMBERED]);
    program.run("REPLACE INTO items (k, v) VALUES ('A', 1)");
    expect(await keys()).toEqual(["a"]);
  },
);

scene(
  "D-7.6 REPLACE by an update that brings a row into an index of some rows deletes the other one",
  async ({ program, storage, keys }) => {
    program.run("CREATE UNIQUE INDEX own ON items (v) WHERE at IS NULL");
    program.run("UPDATE items SET at = NULL WHERE k = 'a'");
    await storage.tables.prepare([NUMBERED]);
    program.run("UPDATE OR REPLACE items SET at = NULL WHERE k = 'b'");
    expect(await keys()).toEqual(["a"]);
  },
);

scene(
  "D-7.9 updates of other columns than an index on an expression names look for no row",
  async ({ program, storage }) => {
    program.run('ALTER TABLE items ADD COLUMN "a""b" TEXT');
    program.run('CREATE UNIQUE INDEX own ON items (lower("A""b"), v)');
    await storage.tables.prepare([NUMBERED]);
    const find = "SELECT sql FROM sqlite_schema WHERE name = 'repsync_delete.taken.update.items'";
    const [[sql] = []] = program.query(find).values();
    expect(sql).toContain('BEFORE UPDATE OF "v", "a""b", "id" ON "items"');
  },
);

scene(
  "D-7.6 a text of an index in double quotes is one for programs, too, that read a name there",
  async ({ program, storage, keys }) => {
    program.run("UPDATE items SET v = id");
    program.run(`CREATE UNIQUE INDEX own ON items (v) WHERE "K" <> "it's" AND "abs"(v) <= "rowid"`);
    await storage.tables.prepare([NUMBERED]);
    const find = "SELECT sql FROM sqlite_schema WHERE name = 'repsync_delete.taken.insert.items'";
    expect(String(program.query(find).values())).toContain(
      `"K" <> 'it''s' AND "abs"(v) <= "rowid"`,
    );
    program.run("REPLACE INTO items (k, v) VALUES ('new', 1)");
    expect(await keys()).toEqual(["a"]);
  },
);

scene(
  "D-7.6 notes of a statement that wrote nothing make no tombstone when a version before forgets them",
  async ({ program, keys }) => {
    program.run("INSERT OR IGNORE INTO items (id, k) VALUES (1, 'new')");
    expect(program.run("DELETE FROM repsync_replaced_items").changes).toBe(1);
    expect(await keys()).toEqual([]);
  },
);

scene(
  "D-7.9 a unique index of some rows serves the triggers, which read no whole table",
  async ({ program, storage }) => {
    program.run("CREATE UNIQUE INDEX own ON items (v) WHERE (v > 0 AND k <> 'none')");
    await storage.tables.prepare([NUMBERED]);
    const find = "SELECT sql FROM sqlite_schema WHERE name = 'repsync_delete.taken.insert.items'";
    const [[sql] = []] = program.query<unknown, []>(find).values();
    const isTaken = /WHEN (.*) BEGIN/.exec(String(sql))?.[1]?.replaceAll(/NEW\."\w+"/g, "1");
    const plan = program.query(`EXPLAIN QUERY PLAN SELECT ${isTaken}`).values().join();
    expect(plan).toContain("USING INDEX own");
    expect(plan).not.toContain("SCAN taken");
  },
);
