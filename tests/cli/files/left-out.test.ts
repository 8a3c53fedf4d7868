// What of a file becomes no table, column or value, and files that cannot be read as they are: what is said of them.
import { Database } from "bun:sqlite";
import { beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { runCli } from "../support/run-cli.ts";
import { guessFile, tryFile } from "../support/try-file.ts";

let folder: string;
beforeEach(() => {
  folder = makeTempFolder();
});

const file = (name: string, text: string) => writeFileSync(join(folder, name), text);
const cli = (...args: string[]) => runCli(args, { folder });
const latin1 = (text: string) => Uint8Array.from([...text], (c) => c.charCodeAt(0));

describe("what is no table", () => {
  test("D-14.1 blobs, foreign keys, views, virtual tables and triggers of a SQLite file are named", async () => {
    const path = join(folder, "shop.db");
    const database = new Database(path);
    for (const sql of [
      "CREATE TABLE makers (id INTEGER PRIMARY KEY)",
      "CREATE TABLE parts (id INTEGER PRIMARY KEY, maker INTEGER REFERENCES makers, picture BLOB, seen TIMESTAMP)",
      "INSERT INTO parts VALUES (1, 1, x'00ff', 1767225600), (2, 1, NULL, NULL), (3, 1, 'x', 1767225601)",
      "CREATE VIEW cheap AS SELECT * FROM parts",
      "CREATE VIRTUAL TABLE words USING fts5(text)",
      "CREATE TRIGGER tidy AFTER DELETE ON parts BEGIN DELETE FROM makers; END",
    ]) {
      database.run(sql);
    }
    database.close();
    expect((await guessFile(path, {})).leftOut).toEqual([
      ...["trigger tidy", "view cheap", "virtual table words"],
    ]);
    const wishes = { timestamp: null };
    const asked = { name: "shop.db", table: "parts", wishes };
    const { guess, counts, rows } = await tryFile(folder, asked);
    expect(guess.warnings).toEqual([
      "the foreign key to makers is not kept",
      "picture: 1 blob becomes a text in base64",
    ]);
    expect(guess.entry).toEqual({
      ...{ upsert_key: ["id"], import: { epoch: { seen: "seconds" } } },
      columns: {
        ...{ id: { type: "integer", nullable: false }, maker: { type: "integer" } },
        ...{ picture: { type: "text" }, seen: { type: "datetime" } },
      },
    });
    expect(counts).toMatchObject({ written: 3, failed: 0 });
    expect(rows[0]).toEqual({ id: 1, maker: 1, picture: "AP8=", seen: "2026-01-01T00:00:00Z" });
  });

  test("D-14.1 tables of a SQLite file whose name no table can have are left out and named", async () => {
    const path = join(folder, "shop.db");
    const database = new Database(path);
    for (const name of ["заказы", "repsync_own", "parts"]) {
      database.run(`CREATE TABLE "${name}" (id INTEGER PRIMARY KEY)`);
    }
    database.close();
    const inferred = await cli("tables", "infer", "shop.db");
    expect([inferred.code, Object.keys(JSON.parse(inferred.stdout).tables)]).toEqual([
      0,
      ["parts"],
    ]);
    for (const name of ["заказы", "repsync_own"]) {
      expect(inferred.stderr).toContain(`table ${name}, as no table can have its name`);
    }
    const asked = await cli("tables", "infer", "shop.db", "--table", "заказы");
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain('"заказы" cannot be the name of a table');
    expect(asked.stderr).toContain("rename it there");
    file("тест.ndjson", '{"id":1}\n');
    const records = await cli("tables", "infer", "тест.ndjson");
    expect(records.stderr).toContain('"тест" cannot be the name of a table');
  });

  test("D-14.1 a JSON document without an array says where it has one, and a file of another encoding what to do", async () => {
    const failure = async (name: string, data: string | Uint8Array, path?: string) => {
      const wishes = path === undefined ? {} : { wishes: { files: { path } } };
      return await tryFile(folder, { name, data, ...wishes }).then(
        () => "none",
        (error: Error) => error.message,
      );
    };
    const features = '{"bbox": [1],\n"features": [{"id": 1}]}';
    expect(await failure("a.json", features)).toBe(
      'Line 2: a JSON file must hold one array of objects; for one object per line name the format ndjson; "features" holds one here: name the path features',
    );
    expect(await failure("d.json", '{"tags": [1], "owner": {"id": 1}}')).toBe(
      "Line 1: a JSON file must hold one array of objects; for one object per line name the format ndjson",
    );
    expect(await failure("b.json", features, "data")).toBe(
      'Line 2: there is no array at "data" in the JSON document',
    );
    expect(await failure("c.json", '{"features": [{"id": 1}]', "features")).toBe(
      "Line 1: the file ends inside the JSON document",
    );
    expect(await failure("d.csv", latin1("name\nKöln\n"))).toEndWith(
      "is not text in UTF-8: name its encoding, such as latin1 or utf-16",
    );
  });

  test("D-14.1 what becomes no column and what cannot be read is told, and a built-in table that it replaces", async () => {
    file("profiles.ndjson", '{"username":"a","":1}\n{"username":\n{"username":"b"}\n');
    const { code, stdout, stderr } = await cli("tables", "infer", "profiles.ndjson");
    expect([code, Object.keys(JSON.parse(stdout).tables.profiles.columns)]).toEqual([
      ...[0, ["username", "updated_at"]],
    ]);
    expect(stderr).toContain('\n  left out, as no column can have the name: ""\n');
    expect(stderr).toContain("\n  left out: 1 record that cannot be read; line 2 is not JSON\n");
    expect(stderr).toContain("\n  it replaces the built-in table profiles\n");
  });

  test("D-14.1 a value that no column takes is named, and an import of the file fails its row alone", async () => {
    const lines = ['{"id":1,"n":5}', String.raw`{"id":2,"n":"\ud800"}`, '{"id":3,"n":null}'];
    file("odd.ndjson", `${lines.join("\n")}\n`);
    const { code, stderr } = await cli("tables", "infer", "odd.ndjson", "--into", "tables.json");
    expect(code).toBe(0);
    expect(stderr).toContain(
      String.raw`  n   integer  such as 5, but 1 of 2 values is none, the first "\ud800" in line 2, empty in 1`,
    );
    file(".env", "STORAGE_URL=sqlite:./store.db\nSYNC_TABLES=tables.json\n");
    expect((await cli("import", "odd", "odd.ndjson", "--json")).json).toMatchObject({
      ...{ new: 2, failed: 1 },
      failures: [{ line: 2, column: "n" }],
    });
  });

  test("D-14.1 a field that is marked as JSON null is no value, and not a part of the key", async () => {
    file("marked.csv", "code,n\na,1\n\\null,2\n");
    const { stderr } = await cli("tables", "infer", "marked.csv");
    expect(stderr).toContain('  code  text     such as "a", empty in 1\n');
    expect(stderr).toContain("  key: n (every value differs)\n");
  });
});
