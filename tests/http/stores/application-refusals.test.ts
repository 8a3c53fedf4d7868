// Rules of an application in the tables of the registry: what they judge, and what a trigger says to whoever breaks them.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { MongoClient } from "mongodb";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { dataOf, jsonBody, Person } from "../reputation/people.ts";
import {
  connectSql,
  onBackends,
  onEveryBackend,
  POSTGRESQL,
  SQLITE_FILE,
} from "../support/backends.ts";
import { startApp } from "../support/sync-app.ts";
import { TABLES } from "../support/tables.ts";
import { startRunApp } from "../sync-runs/support/run-apps.ts";

const CLOSED = "The books of 2025 are closed";
/** The text that a trigger refuses a name with. */
const TEXTS: Readonly<Record<string, string>> = { a: CLOSED, b: "é".repeat(300), c: "" };
const TIMED: TableEntry = {
  upsert_key: ["name"],
  timestamp_column: "at",
  columns: { name: { type: "text" }, value: { type: "text" }, at: { type: "datetime" } },
};
const RECORDS = { records: [..."abcd"].map((name) => ({ name })) };

/** Makes a trigger that refuses these names, as an application does. */
async function refuse(url: string, texts: typeof TEXTS, isDeferred = false): Promise<void> {
  if (url.startsWith("sqlite:")) {
    const file = new Database(url.replace("sqlite:", ""));
    for (const [name, text] of Object.entries(texts)) {
      file.run(
        `CREATE TRIGGER no_${name} BEFORE INSERT ON notes WHEN NEW.name = '${name}' BEGIN SELECT RAISE(ABORT, '${text}'); END`,
      );
    }
    file.close();
    return;
  }
  const sql = connectSql(url);
  const cases = Object.entries(texts).map(
    ([name, text]) => `if new.name = '${name}' then raise exception '${text}'; end if;`,
  );
  await sql.unsafe(
    `create function refuse() returns trigger language plpgsql as $$ begin ${cases.join(" ")} return new; end $$`,
  );
  const when = isDeferred ? "constraint trigger refuse after" : "trigger refuse before";
  const until = isDeferred ? "deferrable initially deferred" : "";
  await sql.unsafe(
    `create ${when} insert on notes ${until} for each row execute function refuse()`,
  );
}

/** Makes a rule of a table that no value of a column is "bad". */
async function refuseBad(url: string, table = "settings", column = "value"): Promise<void> {
  if (url.startsWith("sqlite:")) {
    const file = new Database(url.replace("sqlite:", ""));
    for (const event of ["INSERT", "UPDATE"]) {
      file.run(
        `CREATE TRIGGER no_${event} BEFORE ${event} ON ${table} WHEN NEW.${column} = 'bad' BEGIN SELECT RAISE(ABORT, 'bad'); END`,
      );
    }
    file.close();
  } else if (url.startsWith("postgres:")) {
    const sql = connectSql(url);
    await sql.unsafe(`alter table public.${table} add check (${column} is distinct from 'bad')`);
  } else {
    const client = new MongoClient(url);
    await client.db().command({ collMod: table, validator: { [column]: { $ne: "bad" } } });
    await client.close();
  }
}

onEveryBackend("a rule of an application", (backend) => {
  test("D-3.6 judges each of several records of one key, as if they were written one by one", async () => {
    const url = await backend.makeUrl();
    const { settings } = TABLES;
    const app = await startApp({ tables: { settings }, env: { STORAGE_URL: url } });
    await refuseBad(url);
    const values = ["a bad", "b good", "a 1", "c 1", "b bad", "a bad", "a 2", "b 2", "d bad"];
    const records = values.map((text, i) => {
      const [name, value] = text.split(" ");
      return { name, value, note: String(i) };
    });
    const { status, json } = await app.push("settings", { records });
    expect([status, json]).toMatchObject([200, { upserted: 5, error_count: 4 }]);
    const failed = (json["errors"] as readonly string[]).map((text) => text.slice(0, 6));
    expect(failed).toEqual(["name=a", "name=b", "name=a", "name=d"]);
    expect(await app.records("settings")).toEqual([
      { name: "a", value: "2", note: "2" },
      { name: "b", value: "2", note: "1" },
      { name: "c", value: "1", note: "3" },
    ]);
  });

  test("D-14.3 refuses a row that is changed by hand, which gets another time with each try", async () => {
    const url = await backend.makeUrl();
    const app = await startRunApp({ tables: { settings: TIMED }, env: { STORAGE_URL: url } });
    await refuseBad(url);
    await app.push("settings", {
      records: [{ name: "a", value: "1", at: "2026-01-01T00:00:00Z" }],
    });
    const { records } = (await app.pull("settings")).json as { records: readonly object[] };
    const body = { row: { value: "bad" }, expected: records[0] };
    const { status, json } = await app.ask("/rows/settings", jsonBody(body, "PUT"));
    expect([status, json["errors"]]).toMatchObject([400, [{ column: "name" }]]);
    expect((await app.pull("settings")).json["records"]).toEqual(records);
  });

  test("D-5.5.1 refuses a change of one's own profile, which stays as it was", async () => {
    const url = await backend.makeUrl();
    const app = await startRunApp({ env: { STORAGE_URL: url } });
    const ana = await Person.signUp(app, "ana");
    await refuseBad(url, "profiles", "bio");
    const change = (fields: object) => ana.send("/v1/me/profile", jsonBody(fields, "PATCH"));
    expect((await change({ bio: "good" })).status).toBe(200);
    const { status, json } = await change({ bio: "bad", location: "Ulm" });
    expect([status, json]).toMatchObject([400, { code: "invalid_request" }]);
    expect(dataOf(await ana.send("/v1/me/profile"))).toMatchObject({ bio: "good", location: "" });
  });
});

onBackends([SQLITE_FILE, POSTGRESQL], "a trigger of an application", (backend) => {
  test("S-2.4 a record that a trigger refuses fails with what that says, cut to 100 characters", async () => {
    const url = await backend.makeUrl();
    const { notes } = TABLES;
    const app = await startApp({ tables: { notes }, env: { STORAGE_URL: url } });
    await refuse(url, TEXTS);
    const { status, json } = await app.push("notes", RECORDS);
    expect([status, json]).toMatchObject([200, { upserted: 1, error_count: 3 }]);
    const [a, b, c] = json["errors"] as readonly string[];
    expect([a, b]).toEqual([`name=a: ${CLOSED}`, `name=b: ${"é".repeat(100)}`]);
    expect(c?.length).toBeGreaterThan("name=c: ".length);
  });
});

onBackends([POSTGRESQL], "a trigger of an application at the commit", (backend) => {
  test("S-4.2.11, D-4.6 a record that a deferred trigger refuses fails alone as well", async () => {
    const url = await backend.makeUrl();
    const { notes } = TABLES;
    const app = await startApp({ tables: { notes }, env: { STORAGE_URL: url } });
    await refuse(url, TEXTS, true);
    const { status, json } = await app.push("notes", RECORDS);
    expect([status, json]).toMatchObject([200, { upserted: 1, error_count: 3 }]);
    expect((json["errors"] as readonly string[])[0]).toBe(`name=a: ${CLOSED}`);
  });
});
