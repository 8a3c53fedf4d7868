// docs/architecture.md has every folder of src, and every table and collection of a new deployment with its columns.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { MongoClient } from "mongodb";
import { COLLECTIONS as DECLARED_COLLECTIONS } from "../../src/repositories/collections.ts";
import { jsonBody, lookUp, Person } from "../http/reputation/people.ts";
import { connectSql, MONGODB, POSTGRESQL, SQLITE_FILE } from "../http/support/backends.ts";
import { startApp } from "../http/support/sync-app.ts";
import { startRunApp } from "../http/sync-runs/support/run-apps.ts";

const ROOT = join(import.meta.dir, "../..");
const DOCUMENT = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
/** Documents of the service, on both stores: their fields by name. */
const COLLECTIONS = documented("Collections");
const DECLARED = DECLARED_COLLECTIONS.map(({ name, fields }) => [`repsync_${name}`, fields]);
/** What MongoDB keeps beside the fields of a document. */
const OF_EVERY_DOCUMENT = ["_id", "_at", "_locks"];
/** Folders of src in the order of the document. */
const LISTED = [...DOCUMENT.matchAll(/^\| `(src[\w/-]*)` \|/gm)].map(([, folder = ""]) => folder);
/** A layer that has rooms, and a folder in it: of the console the first one alone, as its list of pages names all others. */
const ROOM =
  /^src\/(?:(domain|ports|repositories|usecases|adapters\/(?:sqlite|mongodb|postgres))\/[\w/-]+|(console)\/[\w-]+)(?=\/)/;
/** The built-in registry. */
const BUILT_IN = { SYNC_TABLES: "" };

test("no folder of src has more than 20 files", () => {
  const files = readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true });
  const byFolder = Map.groupBy(
    files.filter((entry) => entry.isFile()),
    ({ parentPath }) => parentPath.slice(ROOT.length + 1),
  );
  const crowded = [...byFolder].filter(([, { length }]) => length > 20).map(([folder]) => folder);
  expect(crowded).toEqual([]);
});

test("docs/architecture.md has a line for every folder of src", () => {
  const files = readdirSync(join(ROOT, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath }) => parentPath.slice(ROOT.length + 1));
  expect(LISTED.toSorted()).toEqual([...new Set(files)].sort());
});

test("rooms import only those before them in docs/architecture.md", () => {
  const importing = [...new Glob("src/**/*.{ts,tsx}").scanSync(ROOT)].flatMap((file) =>
    [...readFileSync(join(ROOT, file), "utf8").matchAll(/(?:from|import) \(?"(\.[^"]+)"/g)].map(
      ([, path = ""]) => [file, join(dirname(file), path)] as const,
    ),
  );
  const upwards = importing.filter(([from, to]) => {
    const [room, other] = [roomOf(from), roomOf(to)];
    return room.layer === other.layer && room.place < other.place;
  });
  expect(importing.length).toBeGreaterThan(1_000);
  expect(upwards).toEqual([]);
});

test("docs/architecture.md has every collection with the fields that are declared", () => {
  expect(COLLECTIONS).toEqual(Object.fromEntries(DECLARED));
});

test("docs/architecture.md has every table of SQLite with its columns", async () => {
  const url = await SQLITE_FILE.makeUrl();
  await startApp({ env: { ...BUILT_IN, STORAGE_URL: url } });
  const database = new Database(url.slice("sqlite:".length), { readonly: true });
  const tables = database
    .query<{ name: string; columns: string }, []>(
      `SELECT t.name, json_group_array(c.name ORDER BY c.cid) AS columns
       FROM sqlite_schema t, pragma_table_xinfo(t.name) c
       WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite!_%' ESCAPE '!' GROUP BY t.name`,
    )
    .all();
  database.close();
  const columns: [string, readonly string[]][] = tables.map(({ name, columns }) => [
    name,
    JSON.parse(columns),
  ]);
  const isCollection = (name: string) => name in COLLECTIONS;
  const native = columns.filter(([name]) => !isCollection(name));
  expect(Object.fromEntries(native)).toEqual(documented("SQLite"));
  const made = columns.filter(([name]) => isCollection(name));
  expect(made.map(([name]) => name).sort()).toEqual(Object.keys(COLLECTIONS).sort());
  for (const [name, [key, doc, ...others]] of made) {
    const rest = others.filter((column) => !/^(at|bytes)_/.test(column));
    expect([name, key, doc, rest]).toEqual([name, "key", "doc", []]);
  }
});

describe.skipIf(!MONGODB.isAvailable)("MongoDB", () => {
  test("docs/architecture.md has every collection of MongoDB, and every field that comes up", async () => {
    const url = await MONGODB.makeUrl();
    await useEverything(url);
    const fields = { ...COLLECTIONS, ...documented("MongoDB") };
    const client = new MongoClient(url);
    try {
      const collections = await client.db().listCollections({}, { nameOnly: true }).toArray();
      const names = collections.map(({ name }) => name).filter((name) => !/^system\./.test(name));
      expect(Object.keys(fields).sort()).toEqual(names.sort());
      for (const name of names) {
        const documents = await client.db().collection(name).find().toArray();
        const used = new Set(documents.flatMap((document) => Object.keys(document)));
        const known = [...(fields[name] ?? []), ...(name in COLLECTIONS ? OF_EVERY_DOCUMENT : [])];
        const unknown = [...used].filter((field) => !known.includes(field));
        expect([name, unknown]).toEqual([name, []]);
      }
    } finally {
      await client.close();
    }
  });
});

describe.skipIf(!POSTGRESQL.isAvailable)("PostgreSQL", () => {
  test("docs/architecture.md has every table of PostgreSQL with its columns", async () => {
    const url = await POSTGRESQL.makeUrl();
    await startApp({ env: { ...BUILT_IN, STORAGE_URL: url } });
    const sql = connectSql(url);
    const tables: [string, string][] = await sql
      .unsafe(
        `select table_name, string_agg(column_name, ' ' order by ordinal_position)
         from information_schema.columns where table_schema = 'repsync' group by table_name`,
      )
      .values();
    const columns: [string, readonly string[]][] = tables.map(([name, columns]) => [
      name,
      columns.split(" "),
    ]);
    const own = columns.filter(([name]) => name.startsWith("_"));
    expect(Object.fromEntries(own)).toEqual(documented("PostgreSQL"));
    const made = columns.filter(([name]) => !name.startsWith("_"));
    const names = made.map(([name]) => `repsync_${name}`);
    expect(names.sort()).toEqual(Object.keys(COLLECTIONS).sort());
  });
});

/** The layer of a file, and the place of its room in the document; neither for a file in no room. */
function roomOf(file: string) {
  const [folder = "", ...layers] = ROOM.exec(file) ?? [];
  return { layer: layers.find(Boolean), place: LISTED.indexOf(folder) };
}

/** A run, a lookup and a failed sign-in, so that most collections have a document. */
async function useEverything(url: string): Promise<void> {
  const remote = await startApp();
  const env = { ...BUILT_IN, STORAGE_URL: url, SYNC_REMOTE_URL: remote.url };
  const app = await startRunApp({ env });
  const ana = await Person.signUp(app, "ana");
  const key = await ana.issueKey();
  await ana.consent();
  expect((await lookUp(app, key, { username: "ana" })).status).toBe(200);
  await app.push("platform_accounts", { records: [{ username: "ana", platform: "github" }] });
  const wrong = jsonBody({ username: "ana", password: "not the password" });
  expect((await app.send("/v1/sessions", wrong)).status).toBe(401);
  await app.trigger({ direction: "push" });
}

/** Columns by table, as a section lists them: `| `name` | `a`, `b` | text |`. */
function documented(heading: string): Readonly<Record<string, readonly string[]>> {
  const [, section = ""] = DOCUMENT.split(`\n### ${heading}\n`);
  const [rows = ""] = section.split("\n#");
  return Object.fromEntries(
    [...rows.matchAll(/^\| `(\w+)` \| (.*?) \|/gm)].map(([, name = "", columns = ""]) => [
      name,
      [...columns.matchAll(/`([^`]+)`/g)].map(([, column = ""]) => column),
    ]),
  );
}
