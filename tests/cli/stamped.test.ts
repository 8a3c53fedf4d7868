// Files without times, read into a stamped table on the command line. D-14.2.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import { serviceEnv } from "../e2e/support/service-process.ts";
import { MONGODB, onEveryBackend } from "../http/support/backends.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { runCli } from "./support/run-cli.ts";

const NOTES: TableEntry = {
  ...{ timestamp_column: "at", upsert_key: ["name"], stamped: true, deletes: true },
  columns: { name: { type: "text" }, at: { type: "datetime" }, body: { type: "text" } },
};
const WRITTEN = "2024-05-01T10:00:00.250Z";

test("D-14.2.6 where `tables stamp` cannot be, the registry file stays as it was", async () => {
  const folder = makeTempFolder();
  const database = new Database(join(folder, "store.db"));
  database.run("CREATE TABLE airports (code TEXT PRIMARY KEY, updated_at TEXT AS (code))");
  database.close();
  const path = join(folder, "tables.json");
  const env = { STORAGE_URL: "sqlite:store.db", SYNC_TABLES: "tables.json" };
  const stamp = () => runCli(["tables", "stamp", "airports"], { folder, env });
  const registry =
    '{"tables": {"airports": {"upsert_key": ["code"], "columns": {"code": {"type": "text"}}}}}';
  writeFileSync(path, registry);
  const refused = await stamp();
  expect([refused.code, refused.stdout, refused.stderr.includes("updated_at")]).toEqual([
    ...[2, "", true],
  ]);
  expect(readFileSync(path, "utf8")).toBe(registry);
  const more = '"updated_at": {"type": "text"}, "Changed_at": {"type": "text"}, ';
  const taken = registry.replace('"columns": {', `"columns": {${more}`);
  writeFileSync(path, taken);
  const nameless = await stamp();
  expect([nameless.code, nameless.stderr]).toEqual([
    2,
    'Table "airports" has columns updated_at and changed_at: make one of them its timestamp_column\n',
  ]);
  expect(readFileSync(path, "utf8")).toBe(taken);
  writeFileSync(path, "{");
  expect((await stamp()).stderr).toStartWith('"tables.json" has problems:\n- line 1, ');
});

onEveryBackend("a stamped table on the command line", (backend) => {
  async function makeDeployment() {
    const folder = makeTempFolder();
    const env = { ...serviceEnv(folder, { notes: NOTES }), STORAGE_URL: await backend.makeUrl() };
    const path = join(folder, "notes.csv");
    writeFileSync(path, "name,body\na,1\nb,1\n");
    utimesSync(path, new Date(WRITTEN), new Date(WRITTEN));
    const cli = (...args: string[]) => runCli(args, { folder, env });
    const rows = async () => {
      const { stdout } = await cli("export", "notes", "-", "--format", "ndjson");
      return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    };
    return { cli, rows, path };
  }

  test("D-14.2.1 new rows of a file have its time, changed ones now, deleted ones stay deleted until --restore", async () => {
    const { cli, rows, path } = await makeDeployment();
    const first = await cli("import", "notes", "notes.csv");
    expect([first.code, first.stderr]).toEqual([0, ""]);
    expect(await rows()).toEqual([
      { name: "a", at: WRITTEN, body: "1" },
      { name: "b", at: WRITTEN, body: "1" },
    ]);
    expect((await cli("delete", "notes", "b")).code).toBe(0);
    writeFileSync(path, "name,body\na,2\nb,1\n");
    utimesSync(path, new Date(WRITTEN), new Date(WRITTEN));
    const again = await cli("import", "notes", "notes.csv", "--json");
    expect(again.json).toMatchObject({ read: 2, written: 1, deleted: 1, failed: 0 });
    const [a, ...others] = await rows();
    expect([others, a.body, Date.parse(a.at) > Date.parse(WRITTEN)]).toEqual([[], "2", true]);
    const told = await cli("import", "notes", "notes.csv");
    expect(told.stdout).toContain("1 row imported: 1 same, 1 deleted since the file was written");
    const restored = await cli("import", "notes", "notes.csv", "--restore", "--json");
    expect(restored.json).toMatchObject({ written: 2, deleted: 0 });
    expect((await rows()).map(({ name }) => name)).toEqual(["a", "b"]);
  });

  test("D-14.2.6 `tables stamp` adds the time and the deletes to the registry file and to the table, and keeps all else", async () => {
    const folder = makeTempFolder();
    const env = { ...serviceEnv(folder, {}), STORAGE_URL: await backend.makeUrl() };
    const path = join(folder, "tables.json");
    const registry = `{
  // Where we fly
  "tables": {
    "airports": {
      "upsert_key": ["code"], // IATA
      "update_columns": ["city"],
      "columns": {
        "code": { "type": "text" },
        "city": { "type": "text" }
      }
    }
  }
}
`;
    writeFileSync(path, registry);
    const cli = (...args: string[]) =>
      runCli(args, { folder, env: { ...env, SYNC_TABLES: "tables.json" } });
    writeFileSync(join(folder, "airports.csv"), "code,city\n00M,Bay Springs\n");
    expect((await cli("import", "airports", "airports.csv")).code).toBe(0);
    const stamped = await cli("tables", "stamp", "airports", "--json");
    expect(stamped.json).toMatchObject({ timestamp_column: "updated_at", deletes: true });
    const text = readFileSync(path, "utf8");
    expect(text).toContain("// Where we fly");
    expect(text).toContain("// IATA");
    const { tables } = JSON.parse(text.replaceAll(/\/\/.*/g, ""));
    expect(tables.airports).toEqual({
      ...{ upsert_key: ["code"], update_columns: ["city", "updated_at"] },
      ...{ timestamp_column: "updated_at", stamped: true, deletes: true },
      columns: {
        ...{ code: { type: "text" }, city: { type: "text" } },
        updated_at: { type: "datetime" },
      },
    });
    const { stdout } = await cli("export", "airports", "-", "--format", "csv");
    expect(stdout).toBe("code,city,updated_at\n00M,Bay Springs,1970-01-01T00:00:00Z\n");
    expect((await cli("tables", "stamp", "airports")).stdout).toBe(
      'airports: repsync keeps "updated_at", and its deletes travel. Do the same at the other end\n',
    );
    expect(readFileSync(path, "utf8")).toBe(text);
    for (const [name, code] of [
      ["profiles", 2],
      ["airport", 2],
    ] as const) {
      expect((await cli("tables", "stamp", name)).code).toBe(code);
    }
    writeFileSync(
      path,
      registry.replace('"upsert_key"', '"timestamp_column": "code", "upsert_key"'),
    );
    const refused = await cli("tables", "stamp", "airports");
    expect([refused.code, refused.stderr.includes("timestamp_column")]).toEqual([2, true]);
  });

  test("D-14.2.7 infer proposes a time that repsync keeps where the file has none, and --timestamp none does not", async () => {
    const folder = makeTempFolder();
    const env = { ...serviceEnv(folder, {}), STORAGE_URL: await backend.makeUrl() };
    const cli = (...args: string[]) =>
      runCli(args, { folder, env: { ...env, SYNC_TABLES: "tables.json" } });
    writeFileSync(join(folder, "airports.csv"), "code,updated_at\n00M,soon\n");
    const inferred = await cli("tables", "infer", "airports.csv", "--into", "tables.json");
    expect([inferred.code, inferred.stderr.includes("written at one end only")]).toEqual([
      0,
      false,
    ]);
    expect(inferred.stderr).toContain(
      "\n  timestamp column: changed_at, added and kept by repsync, and deletes travel, as updated_at is named as a time, but 1 of 1 ",
    );
    const { airports } = JSON.parse(readFileSync(join(folder, "tables.json"), "utf8")).tables;
    expect(airports).toEqual({
      ...{ timestamp_column: "changed_at", upsert_key: ["code"], stamped: true, deletes: true },
      columns: {
        ...{ code: { type: "text", nullable: false }, updated_at: { type: "text" } },
        changed_at: { type: "datetime" },
      },
    });
    const imported = await cli("import", "airports", "airports.csv");
    expect([imported.code, imported.stderr]).toEqual([0, ""]);
    const again = ["tables", "infer", "airports.csv", "--into", "tables.json", "--update"];
    const updated = await cli(...again);
    expect([updated.code, updated.stderr.includes("  airports: ")]).toEqual([0, false]);
    const none = await cli("tables", "infer", "airports.csv", "--timestamp", "none");
    expect(JSON.parse(none.stdout).tables.airports).not.toHaveProperty("stamped");
  });

  test("D-14.2.3 doctor says where other programs' rows get no time", async () => {
    const { cli } = await makeDeployment();
    const { stdout } = await cli("doctor");
    const line = "warn  stamps: what other programs write here gets no time: notes. ";
    expect(stdout.includes(line)).toBe(backend === MONGODB);
  });
});
