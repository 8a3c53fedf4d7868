// Rows that an application does not let go: each delete of one is a failed record, and all else goes on. D-4.6, D-7.6.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { jsonBody } from "../../reputation/people.ts";
import { connectSql, onBackends, POSTGRESQL, SQLITE_FILE } from "../../support/backends.ts";
import { startRunApp } from "../support/run-apps.ts";

const ITEMS: TableEntry = {
  ...{ timestamp_column: "at", upsert_key: ["k"], deletes: true },
  columns: { k: { type: "text" }, at: { type: "datetime" } },
};
const AT = "2026-01-01T00:00:00Z";
const GONE = "2026-01-02T00:00:00Z";
const HELD = "It is on loan";
const ROWS = ["a", "held", "z"].map((k) => ({ k, at: AT }));

/** A rule by which the row "held" stays, as a foreign key or a trigger has it. */
async function hold(url: string): Promise<void> {
  if (url.startsWith("sqlite:")) {
    const file = new Database(url.replace("sqlite:", ""));
    file.run(
      `CREATE TRIGGER holds BEFORE DELETE ON items WHEN OLD.k = 'held' BEGIN SELECT RAISE(ABORT, '${HELD}'); END`,
    );
    file.close();
    return;
  }
  const sql = connectSql(url);
  await sql.unsafe(`create function public.hold() returns trigger language plpgsql as
    $$ begin if old.k = 'held' then raise exception '${HELD}'; end if; return old; end $$;
    create trigger holds before delete on items for each row execute function public.hold()`);
}

onBackends([SQLITE_FILE, POSTGRESQL], "a row that an application does not let go", (backend) => {
  async function start(remote: string | null = null) {
    const url = await backend.makeUrl();
    const env = { STORAGE_URL: url, ...(remote === null ? {} : { SYNC_REMOTE_URL: remote }) };
    const app = await startRunApp({ tables: { items: ITEMS }, env });
    await app.push("items", { records: ROWS });
    return { app, url };
  }

  test("D-4.6, D-7.6 its delete fails in a push, with what the application says, and the others are done", async () => {
    const { app, url } = await start();
    await hold(url);
    const deleted = ROWS.map(({ k }) => ({ key: { k }, deleted_at: GONE }));
    const { status, json } = await app.push("items", { deleted });
    expect([status, json]).toMatchObject([200, { deleted: 2, error_count: 1 }]);
    expect(json["errors"]).toEqual([expect.stringContaining(HELD)]);
    expect(await app.rows("items")).toEqual([{ k: "held", at: AT }]);
    const listed = await app.ask("/rows/items");
    expect(listed.json).toMatchObject({ total: 1 });
  });

  test("D-4.6, D-7.6 a run that pulls its delete removes the others, is partial, and asks again", async () => {
    const there = await start();
    const { app, url } = await start(there.app.url);
    expect((await app.trigger({ direction: "both" })).json).toMatchObject({ status: "success" });
    await hold(url);
    const deleted = ROWS.map(({ k }) => ({ key: { k }, deleted_at: GONE }));
    await there.app.push("items", { deleted });
    for (const removed of [2, 0]) {
      expect((await app.trigger({ direction: "pull" })).json).toMatchObject({
        status: "partial",
        tables: { items: { deleted_here: removed, error_count: 1 } },
      });
      expect(await app.rows("items")).toEqual([{ k: "held", at: AT }]);
    }
  });

  test("D-14.3 nor is it removed by hand: 409 says why", async () => {
    const { app, url } = await start();
    await hold(url);
    const { k, at } = ROWS[1] as (typeof ROWS)[0];
    const { status, json } = await app.ask(
      "/rows/items/delete",
      jsonBody({ key: { k }, expected: { k, at } }),
    );
    expect([status, json]).toEqual([409, { error: `The row stays: ${HELD}` }]);
    expect(await app.rows("items")).toHaveLength(3);
  });
});
