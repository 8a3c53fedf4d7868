// Other requests while a large push is written. D-7.9.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { SystemTimer } from "../../../src/adapters/system/system.ts";
import { keepResource } from "../../support/resources.ts";
import { HurriedClock } from "../../support/time/fake-clock.ts";
import { SQLITE_FILE } from "../support/backends.ts";
import { startApp } from "../support/sync-app.ts";

const ROWS = 20_000;

/** Waits for others, but not for the millisecond that a timer takes at least. */
class HurriedTimer extends SystemTimer {
  override sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    if (durationMs > 0) return super.sleep(durationMs, signal);
    return new Promise((resolve) => setImmediate(resolve));
  }
}

/** True while somebody holds the right to write the file. */
function isBeingWritten(other: Database): boolean {
  try {
    other.run("BEGIN IMMEDIATE");
    other.run("ROLLBACK");
    return false;
  } catch {
    return true;
  }
}

test("D-7.9.2 health, status and pages answer while a large push is written, with the state before it", async () => {
  const url = await SQLITE_FILE.makeUrl();
  const backend = { ...SQLITE_FILE, makeUrl: async () => url };
  // By this clock every record takes a turn.
  const app = await startApp({
    backend,
    time: { clock: new HurriedClock(), timer: new HurriedTimer() },
  });
  await app.push("notes", { records: [{ name: "first", body: "before" }] });
  const other = new Database(url.slice("sqlite:".length));
  keepResource(() => other.close());
  let isPushed = false;
  const names = Array.from({ length: ROWS }, (_, i) => `n-${i}`);
  const pushing = app
    .pushGzip("notes", JSON.stringify({ records: names.map((name) => ({ name })) }))
    .finally(() => {
      isPushed = true;
    });
  const seen: unknown[] = [];
  while (!isPushed) {
    const wasWritten = isBeingWritten(other);
    const health = await app.send("/v1/health");
    const [page, status] = [await app.pull("notes"), await app.send("/api/v1/sync/status")];
    if (!wasWritten || !isBeingWritten(other)) continue;
    seen.push([health.json["status"], page.json["total"], page.json["records"], status.status]);
  }
  expect((await pushing).json["upserted"]).toBe(ROWS);
  const before = ["ok", 1, [{ name: "first", body: "before" }], 200];
  expect(seen.length).toBeGreaterThan(0);
  expect(seen).toEqual(seen.map(() => before));
  expect((await app.pull("notes")).json["total"]).toBe(ROWS + 1);
});
