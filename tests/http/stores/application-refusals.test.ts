// What a trigger of an application says to whoever breaks its rule.
import { Database } from "bun:sqlite";
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { onBackends, POSTGRESQL, SQLITE_FILE } from "../support/backends.ts";
import { releaseResources } from "../support/resources.ts";
import { startApp } from "../support/sync-app.ts";
import { TABLES } from "../support/tables.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

const CLOSED = "The books of 2025 are closed";
/** The text that a trigger refuses a name with. */
const TEXTS: Readonly<Record<string, string>> = { a: CLOSED, b: "é".repeat(300), c: "" };
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
  const sql = new SQL({ url, max: 1 });
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
  await sql.close();
}

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
  test("S-4.2.11 a push that a deferred trigger refuses is answered with what that says", async () => {
    const url = await backend.makeUrl();
    const { notes } = TABLES;
    const app = await startApp({ tables: { notes }, env: { STORAGE_URL: url } });
    await refuse(url, TEXTS, true);
    const { status, text } = await app.push("notes", RECORDS);
    expect([status, text]).toEqual([500, `{"table":"notes","upserted":0,"error":"${CLOSED}"}`]);
  });
});
