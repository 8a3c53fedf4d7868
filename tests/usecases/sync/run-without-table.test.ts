import { expect, test } from "bun:test";
import { startRun } from "../../../src/usecases/sync/start-run.ts";
import { makeTwoEnds } from "./two-ends.ts";

test("S-6.1 a failure of a run that names no table has the table ?, and its full message", async () => {
  const ends = await makeTwoEnds();
  const started = startRun(
    { ...ends.deps, isSyncEnabled: false },
    { direction: "pull", tableName: null, isFull: false, isDryRun: false, trigger: "stream" },
  );
  const events: unknown[] = [];
  for await (const event of started.events()) events.push(event);
  const error = "Sync is disabled: set SYNC_ENABLED to true";
  expect(events).toEqual([
    { type: "error", table: "?", direction: "pull", error },
    { type: "finished" },
  ]);
});
