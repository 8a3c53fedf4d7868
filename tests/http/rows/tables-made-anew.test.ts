// Tables that another program makes anew while a service goes on serving. D-14.6.
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { isPostgres } from "../stores/support/raw-store.ts";
import { onBackends, POSTGRESQL, SQLITE_FILE } from "../support/backends.ts";
import { keepResource, releaseResources } from "../support/resources.ts";
import { startRunApp } from "../sync-runs/support/run-apps.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

const VERSIONS: TableEntry = {
  ...{ upsert_key: ["name"], timestamp_column: "at", stamped: true },
  columns: { name: { type: "text" }, at: { type: "datetime" } },
};

onBackends([SQLITE_FILE, POSTGRESQL], "a table that a migration makes anew", (backend) => {
  test("D-14.6, D-14.2.3 is prepared anew, and goes on being stamped; one that is missing is not made", async () => {
    const STORAGE_URL = await backend.makeUrl();
    const tables = { versions: VERSIONS };
    const app = await startRunApp({ tables, env: { STORAGE_URL } });
    const sql = new SQL(STORAGE_URL, { max: 1 });
    keepResource(() => sql.close());
    const [made, text, time] = isPostgres(STORAGE_URL)
      ? ["public.versions_new", 'text collate "C"', "timestamptz"]
      : ["versions_new", "text", "text"];
    await sql.unsafe("insert into versions (name) values ('before')");
    await sql.unsafe(`create table ${made} (name ${text} not null, at ${time});
      insert into ${made} select name, at from versions; drop table versions`);
    await app.lookAtRegistry();
    await sql.unsafe(`alter table ${made} rename to versions`);
    await app.lookAtRegistry();
    await sql.unsafe("insert into versions (name) values ('after')");
    const rows = await app.rows("versions");
    expect(rows).toEqual(["after", "before"].map((name) => ({ name, at: expect.any(String) })));
    const pushed = await app.push("versions", { records: [{ name: "before" }] });
    expect(pushed.json).toMatchObject({ upserted: 1 });
  });
});
