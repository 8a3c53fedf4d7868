// Runs by the beginning of their ids.
import { expect, test } from "bun:test";
import type { CompareRun } from "../../../src/domain/sync/run/run.ts";
import { findRunByPrefix } from "../../../src/usecases/sync/runs/find-run-by-prefix.ts";
import type { SyncDeps } from "../../../src/usecases/sync/shared/sync-deps.ts";
import { MemoryRunStore } from "../../support/memory/runs.ts";

const RUN: Omit<CompareRun, "runId"> = {
  ...{ kind: "compare", trigger: "cli", status: "success", table: "items", repair: null },
  ...{ startedAt: "2026-01-01T00:00:00Z", finishedAt: "2026-01-01T00:00:01Z", durationMs: 1_000 },
  ...{ matched: 0, different: 0, missingHere: 0, missingThere: 0 },
};

/** A store with ended runs of these ids. */
async function makeDeps(ids: readonly string[]): Promise<SyncDeps> {
  const runs = new MemoryRunStore();
  for (const runId of ids) await runs.save({ ...RUN, runId });
  // Runs that have ended need nothing else.
  return { runs } as unknown as SyncDeps;
}

test("D-10.13.4 the beginning of an id finds its run among all that are kept", async () => {
  const ids = Array.from({ length: 900 }, (_, i) => `${String(i).padStart(6, "0")}-0000-run`);
  const deps = await makeDeps(ids);
  for (const id of ["000000-0000-run", "000199-0000-run", "000200-0000-run", "000899-0000-run"]) {
    expect((await findRunByPrefix(deps, id.slice(0, 7))).runId).toBe(id);
    expect((await findRunByPrefix(deps, id)).runId).toBe(id);
  }
});

test("D-10.13.4 a whole id is found, though another one begins with it", async () => {
  const deps = await makeDeps(["abcd", "abcde"]);
  expect((await findRunByPrefix(deps, "abcd")).runId).toBe("abcd");
});

test("D-10.13.4 a beginning that several ids have names them, at most ten", async () => {
  const deps = await makeDeps(["abcd-1", "abcd-2", "abce-3"]);
  expect(findRunByPrefix(deps, "abcd")).rejects.toMatchObject({
    kind: "invalid_request",
    message: 'Several runs have an id that begins with "abcd": abcd-2, abcd-1',
  });
  const many = await makeDeps(Array.from({ length: 13 }, (_, i) => `same-${i}`));
  expect(findRunByPrefix(many, "same")).rejects.toThrow(
    'begins with "same": same-12, same-11, same-10, same-9, same-8, same-7, same-6, same-5, same-4, same-3 and 3 more',
  );
});

test("D-10.13.4 what begins no id is not found, and less than four characters is too short", async () => {
  const deps = await makeDeps(["abcd-1"]);
  expect(findRunByPrefix(deps, "abcx")).rejects.toMatchObject({ kind: "not_found" });
  expect(findRunByPrefix(deps, "bcd-")).rejects.toMatchObject({ kind: "not_found" });
  expect(findRunByPrefix(deps, "abc")).rejects.toMatchObject({
    kind: "invalid_request",
    message: '"abc" is too short for the beginning of an id: give 4 characters at least',
  });
});
