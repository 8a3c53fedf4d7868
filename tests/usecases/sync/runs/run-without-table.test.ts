import { expect, test } from "bun:test";
import { StartedRun } from "../../../../src/usecases/sync/runs/start-run.ts";
import { repsyncServer } from "../../../simulation/sim-servers.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { BY_TIME, makeTwoEnds, manyRows, put, rowsOf, runOf, statusError } from "../two-ends.ts";

const FLAGS = { isFull: false, isDryRun: false, isForced: false, maxDeletes: null };

test("S-6.1 a failure of a run that names no table has the table ?, and its full message", async () => {
  const ends = await makeTwoEnds();
  const started = new StartedRun(
    { ...ends.deps, isSyncEnabled: false },
    { direction: "pull", tableName: null, ...FLAGS, trigger: "stream" },
  );
  const events: unknown[] = [];
  for await (const event of started.news()) events.push(event);
  const error = "Sync is disabled; set SYNC_ENABLED=true to enable it";
  expect(events).toEqual([
    { type: "error", table: "?", direction: "pull", error },
    { type: "finished" },
  ]);
});

test("S-4.1.1 an unknown table is refused at once", async () => {
  const ends = await makeTwoEnds();
  const request = { direction: "pull", ...FLAGS, trigger: "api" } as const;
  expect(() => new StartedRun(ends.deps, { ...request, tableName: "nope" })).toThrow(
    'Unknown table "nope"; tables here: items',
  );
});

test.each([
  [400, "POST there was answered 400; check both registries"],
  [404, "POST there was answered 404; check the address (SYNC_REMOTE_URL)"],
])(
  "D-4.2 a table that the remote answers with %d fails the run, which goes on with the next table",
  async (status, message) => {
    const items = makeTable(BY_TIME, "items");
    const others = makeTable(BY_TIME, "others");
    const registry = new Map(Object.entries({ items, others }));
    const ends = await makeTwoEnds({ server: (parts) => repsyncServer({ ...parts, registry }) });
    for (const storage of [ends.here, ends.there]) await storage.prepare([others]);
    put(ends.here, ends.table, manyRows(2));
    put(ends.here, others, manyRows(3));
    let pushes = 0;
    ends.intercept = ({ kind }, send) => {
      if (kind === "push" && ++pushes === 1) throw statusError(status);
      return send();
    };
    const both = { ...ends, deps: { ...ends.deps, registry } };
    const { run, error } = await runOf(both, { direction: "push", tableName: null });
    expect(run).toMatchObject({
      status: "failed",
      tables: { items: { pushed: 0 }, others: { pushed: 3 } },
    });
    expect(error?.text).toBe(message);
    expect(rowsOf(ends.there, others)).toEqual(manyRows(3));
  },
);
