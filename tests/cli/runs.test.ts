// The list of runs, in pipes and on terminals.
import { describe, expect, test } from "bun:test";
import { runsTable } from "../../src/cli/commands/sync/runs.ts";
import type { Line } from "../../src/cli/output.ts";
import { type ListedRun, NO_ROWS, NO_TABLE_RESULT } from "../../src/domain/sync/run/run.ts";
import { makeComparison } from "../repositories/support/runs.ts";
import { startInTerminal } from "./support/cli-process.ts";
import { fill, startPair } from "./support/running-pair.ts";

const PUSHED: ListedRun = {
  ...{
    kind: "sync",
    runId: "3f9c2a1b-0000-4000-8000-000000000001",
    trigger: "cli",
    direction: "push",
  },
  ...{
    status: "success",
    startedAt: "2026-01-31T12:00:00.123Z",
    finishedAt: "2026-01-31T12:00:00.523Z",
  },
  ...{ durationMs: 400, tables: { listings: NO_TABLE_RESULT }, fullSync: false },
  ...{ totalPushed: 1_234, totalPulled: 0, errorCount: 0 },
  ...{ ...NO_ROWS, changed: 1_200, deletedHere: 1, deletedThere: 2 },
};
const FAILED: ListedRun = {
  ...{
    ...PUSHED,
    runId: "3f9c2a1b-9999-4000-8000-000000000002",
    status: "failed",
    direction: "both",
  },
  ...{
    trigger: "schedule",
    durationMs: 185_000,
    tables: { listings: NO_TABLE_RESULT, shops: NO_TABLE_RESULT },
  },
  error: "The remote did not answer within 15 s, though it was asked eight times",
};

/** A line without its colours. */
const textOf = (line: Line) =>
  [line]
    .flat()
    .map((part) => (typeof part === "string" ? part : part.text))
    .join("");

describe("the list of runs", () => {
  test("D-10.13.4 in a pipe every column, id and error is whole", () => {
    const ids = "                                 ";
    expect(runsTable([FAILED, PUSHED], {}).map(textOf)).toEqual([
      `run ${ids} started                   by        direction  table     status     duration  pushed  pulled  changed  kept  deleted  rejected  error`,
      "3f9c2a1b-9999-4000-8000-000000000002  2026-01-31T12:00:00.123Z  schedule  both       2 tables  failed   3 min 05 s   1,234       0    1,200     0        3         0  The remote did not answer within 15 s, though it was asked eight times",
      "3f9c2a1b-0000-4000-8000-000000000001  2026-01-31T12:00:00.123Z  cli       push       listings  success       0.4 s   1,234       0    1,200     0        3         0",
    ]);
  });

  test("D-10.13.4 a comparison has its table, its differences and its repairs, and moves nothing", () => {
    const compared = {
      ...{ ...makeComparison("c".repeat(36)), durationMs: 1_000, table: "listings" },
      ...{ different: 2, missingHere: 3, missingThere: 1_000, repaired: 4, kept: 5 },
    };
    const [, line] = runsTable([compared, PUSHED], {}).map(textOf);
    expect(line?.split(/ {2,}/)).toEqual([
      ...["c".repeat(36), "2024-01-01T00:00:00Z", "api", "compare", "listings", "success"],
      ...["1.0 s", "1,005 differ", "4", "5"],
    ]);
  });

  test.each([200, 140, 100, 80, 60, 40])(
    "D-10.13.4 in %p columns no line is longer, and ids tell runs apart",
    (columns) => {
      const lines = runsTable([FAILED, PUSHED], { columns }).map(textOf);
      expect(lines.filter((line) => line.length > columns)).toEqual([]);
      expect(lines[1]).toStartWith("3f9c2a1b-9  ");
      expect(lines[2]).toStartWith("3f9c2a1b-0  ");
      for (const name of columns < 80
        ? ["table", "status"]
        : ["table", "status", "duration", "error"]) {
        expect(lines[0]).toContain(name);
      }
    },
  );

  test("D-10.13.4 an error that does not fit is cut where the line ends", () => {
    const [, line = ""] = runsTable([FAILED, PUSHED], { columns: 80 }).map(textOf);
    expect(line).toEndWith("…");
    expect(line.length).toBe(80);
    expect(line).toMatch(/ {2}The remote did not answer/);
  });

  test("D-10.13.4, D-14.9.1 a short id finds the run that the list shows, and the JSON has it whole", async () => {
    const { local, cli, folder, env } = await startPair();
    await fill(local, ["a"]);
    const { json: pushed } = await cli("sync push notes --json");
    const id: string = pushed.run_id;
    const listed = startInTerminal(["runs"], { folder, env: { ...env, LOG_LEVEL: "" } });
    await listed.waitFor(`${id.slice(0, 8)} `);
    expect(listed.shown()).not.toContain(id);
    expect(listed.shown()).toMatch(/ notes .*success.* \d+\.\d s /);
    const one = await cli(`runs ${id.slice(0, 4)} --json`);
    expect([one.code, one.json.run_id, one.json.duration_ms]).toEqual([0, id, pushed.duration_ms]);
    const text = await cli(`runs ${id.slice(0, 8)}`);
    expect(text.stdout).toContain(id);
    expect((await cli("runs 0")).stderr).toBe(
      '"0" is too short for the beginning of an id\nGive 4 characters at least\n',
    );
    const { json: again } = await cli("sync push notes --json");
    const same = [...again.run_id].findIndex((char, i) => char !== id[i]);
    const unknown = await cli(`runs ${"z".repeat(4 + same)}`);
    expect([unknown.code, unknown.stdout]).toEqual([1, ""]);
  });
});
