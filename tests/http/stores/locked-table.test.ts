// A table that another program has locked in PostgreSQL, as VACUUM FULL and many an ALTER TABLE do.
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { SQL } from "bun";
import { onBackends, POSTGRESQL } from "../support/backends.ts";
import { keepResource, releaseResources } from "../support/resources.ts";
import { TABLES } from "../support/tables.ts";
import { notes, SYNC, startRunApp } from "../sync-runs/support/run-apps.ts";

afterEach(releaseResources);
setDefaultTimeout(120_000);

/** Far below the 15 s for which a run waits for a status. D-4.6. */
const SOON_MS = 9_000;

onBackends([POSTGRESQL], "a locked table", (backend) => {
  test("D-3.10, D-4.6 a table that another program has locked is -1 in the status, and hurts no run of another table", async () => {
    const url = await backend.makeUrl();
    const { notes: NOTES, versions, events } = TABLES;
    const tables = { notes: NOTES, versions, events };
    const remote = await startRunApp({ tables, env: { STORAGE_URL: url } });
    const sql = new SQL({ url, max: 1 });
    keepResource(() => sql.close());
    await remote.push("notes", { records: notes(2) });
    await sql`begin`;
    await sql`lock table versions, events in access exclusive mode`;
    const beganMs = performance.now();
    const { status, json } = await remote.send(`${SYNC}/status`);
    expect([status, json["table_counts"]]).toMatchObject([
      200,
      { notes: 2, versions: -1, events: -1 },
    ]);
    expect(performance.now() - beganMs).toBeLessThan(SOON_MS);
    const local = await startRunApp({ tables, env: { SYNC_REMOTE_URL: remote.url } });
    const run = await local.trigger({ direction: "pull", table: "notes" });
    expect([run.status, run.json]).toMatchObject([200, { status: "success", total_pulled: 2 }]);
    await sql`rollback`;
  });
});
