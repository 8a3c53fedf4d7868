// Pages of a remote that cost much to read.
import { expect, setDefaultTimeout, test } from "bun:test";
import { startPeer } from "../adapters/fetch/sync-client-support.ts";
import { ADMIN_ENV, Person } from "../http/reputation/people.ts";
import { gzip } from "../http/support/bytes.ts";
import { HealthWatch } from "../support/health-watch.ts";
import { startService } from "./support/service-process.ts";

setDefaultTimeout(120_000);

const TABLES = {
  items: {
    upsert_key: ["id"],
    timestamp_column: "updated_at",
    columns: {
      id: { type: "integer" },
      extra: { type: "json" },
      updated_at: { type: "datetime" },
    },
  },
};
const ROWS = 500;
const PUSHED_ROWS = 100;

/** A row with 4,000 objects, of which one has a number that a JS number would change. */
function rowText(id: number): string {
  const objects = Array.from({ length: 4_000 }, (_, k) => (k === 7 ? '{"a":1e+20}' : `{"a":${k}}`));
  return `{"id":${id},"extra":[${objects.join()}],"updated_at":"2026-01-01T00:00:00Z"}`;
}

test("D-11.1 a table arrives whole whose pages have many values and numbers of many digits, and health answers meanwhile", async () => {
  const remote = await startService({ tables: TABLES });
  for (let from = 0; from < ROWS; from += PUSHED_ROWS) {
    const rows = Array.from({ length: PUSHED_ROWS }, (_, i) => rowText(from + i));
    const { json } = await remote.pushGzip("items", `{"records":[${rows.join()}]}`);
    expect(json["upserted"]).toBe(PUSHED_ROWS);
  }
  const { result, health, local } = await pull(remote.url);
  expect(result).toMatchObject({ status: "success" });
  // It was 6 s and more, and the lease was lost.
  expect(health).toBeLessThan(1_000);
  const page = await local.pull("items", "?offset=499&limit=1");
  expect(page.json["total"]).toBe(ROWS);
  expect(page.text).toContain(rowText(499));
});

test.each([
  ["4 MB of brackets", () => ["[".repeat(2_000_000), "]".repeat(2_000_000)].join("")],
  ["a gzip of 0.1 MB that is 109 MB", () => `{"server_time":"${"x".repeat(109_000_000)}"}`],
  ["35 million values", () => `{"tables":[${"{},".repeat(35_000_000)}{}]}`],
])("D-11.1 a remote that answers with %s holds nobody up", async (_what, body) => {
  const zipped = gzip(body());
  const headers = { "Content-Type": "application/json", "Content-Encoding": "gzip" };
  const remote = startPeer(() => new Response(zipped, { headers }));
  const { result, health } = await pull(remote.baseUrl);
  expect(result).toMatchObject({ type: "sync_error" });
  expect(health).toBeLessThan(1_000);
});

/** Pulls from a remote. The result, the longest time that health took meanwhile, in milliseconds, and the service. */
async function pull(remoteUrl: string) {
  const env = { ...ADMIN_ENV, SYNC_REMOTE_URL: remoteUrl };
  const local = await startService({ tables: TABLES, env });
  const { token } = await Person.signIn(local, "root");
  const watch = new HealthWatch(local);
  const reply = await local.send("/api/v1/sync/trigger", {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify({ direction: "pull", table: "items" }),
  });
  return { result: reply.json, health: await watch.stop(), local };
}
