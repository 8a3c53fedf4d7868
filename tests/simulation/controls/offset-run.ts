// The naive pull, kept as a control: it carries an offset over rows that move. Everything else is as it should be, so
// that only the offset can be at fault.

import { dateTimeMs, parseDateTime } from "../../../src/domain/shared/time.ts";
import { convertRecord } from "../../../src/domain/sync/rows/convert.ts";
import { NO_ROWS, type SyncRun } from "../../../src/domain/sync/run/run.ts";
import { markerBehind } from "../../../src/domain/sync/run/transfer-markers.ts";
import type { SyncDeps } from "../../../src/usecases/sync/shared/sync-deps.ts";
import { writeRows } from "../../../src/usecases/sync/shared/write-rows.ts";
import type { StartWorldRun, World } from "../world.ts";

/** Pulls with a growing offset, and moves the marker when all is here. For fair weather only. */
export const startOffsetRun: StartWorldRun = (world, process) => ({
  outcome: pull(world, world.makeDeps(process)),
});

async function pull(world: World, deps: SyncDeps) {
  const { table, scenario } = world;
  const peer = deps.connectPeer({ baseUrl: "https://there.example", key: "key" });
  const { serverTime } = await peer.readStatus();
  const since = (await deps.memory.read("items")).pull.marker || null;
  let seenUpTo = since;
  for (let offset: number | null = 0; offset !== null; ) {
    const { page } = await peer.pullPage("items", { since, offset, limit: deps.maxPageRows });
    const writes = page.records.map((record, index) => {
      const { row, problem } = convertRecord(table, record);
      if (row === null) throw new Error(problem);
      return { index, row };
    });
    await writeRows(deps, table, { writes });
    const last = page.records.at(-1)?.[table.timestampColumn ?? ""];
    if (typeof last === "string") seenUpTo = last;
    offset = page.nextOffset;
  }
  if (seenUpTo !== null) {
    const atMs = dateTimeMs(parseDateTime(serverTime) ?? "");
    const marker = markerBehind(table, seenUpTo, atMs - scenario.lagSeconds * 1_000);
    world.kept.set("pull", { marker });
  }
  return { run: SUCCESS, error: null };
}

const SUCCESS: SyncRun = {
  runId: "control",
  kind: "sync",
  trigger: "api",
  status: "success",
  direction: "pull",
  tables: {},
  totalPushed: 0,
  totalPulled: 0,
  errorCount: 0,
  ...NO_ROWS,
  startedAt: "",
  finishedAt: "",
  durationMs: 0,
  fullSync: false,
};
