// What a run keeps of its remote, and what of it holds for another one. D-11.10.

import { expect, test } from "bun:test";
import { MEMORY } from "../../../src/repositories/run-collections.ts";
import {
  makeTwoEnds,
  manyRows,
  put,
  rowsOf,
  runOf,
  statusError,
  type TwoEnds,
} from "./two-ends.ts";

/** The same ends, of which the one there has another address. */
function movedTo(ends: TwoEnds, remoteUrl: string): TwoEnds {
  return { ...ends, deps: { ...ends.deps, remoteUrl } };
}

test("D-11.10.1 the first commit with another remote drops the memory of the one before, of this table only", async () => {
  for (const direction of ["push", "pull"] as const) {
    const ends = await makeTwoEnds();
    put(ends.there, ends.table, manyRows(3));
    put(ends.here, ends.table, [["timeless", "v", null]]);
    await runOf(ends, { direction: "both" });
    const others = { table: "others", direction: "push", remote: "https://there.example" } as const;
    await ends.parts.here.documents.transact({ name: "test.others" }, async (tx) =>
      tx.put(MEMORY, { ...others, marker: "2026-01-01T00:00:00Z" }),
    );
    const before = ends.kept.memory();
    const moved = movedTo(ends, "https://elsewhere.example");
    ends.intercept = ({ kind }, send) =>
      kind === direction ? Promise.reject(statusError(404)) : send();
    expect((await runOf(moved, { direction })).run.status).toBe("failed");
    expect(ends.kept.memory()).toEqual(before);
    ends.intercept = (_, send) => send();
    const { run } = await runOf(moved, { direction });
    expect(run).toMatchObject({ totalPushed: direction === "push" ? 4 : 0 });
    expect(run).toMatchObject({ totalPulled: direction === "pull" ? 4 : 0 });
    expect(ends.kept.of(direction)).toMatchObject({ remote: "https://elsewhere.example" });
    expect(ends.kept.memory()).toContainEqual({ ...others, marker: "2026-01-01T00:00:00Z" });
    const left = ends.kept.of(direction === "push" ? "pull" : "push");
    for (const name of ["marker", "remote", "columns"]) expect(left).not.toHaveProperty(name);
    const warned = ends.logger.lines.filter(({ level }) => level === "warn");
    expect(warned.map(({ message }) => message)).toContain(run.tables["items"]?.warnings[0] ?? "");
  }
});

test("D-11.10.1 full does not make another remote's memory this one's", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(3));
  await runOf(ends, { direction: "both" });
  const moved = movedTo(ends, "https://elsewhere.example");
  const { run } = await runOf(moved, { direction: "pull", isFull: true });
  expect(run.tables["items"]?.warnings).toHaveLength(1);
  const left = ends.kept.of("push");
  for (const name of ["marker", "remote", "columns"]) expect(left).not.toHaveProperty(name);
});

test("D-11.10.1 a remote is known by the id that it tells, and by its address while it tells none", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(3));
  let deploymentId: string | null = null;
  ends.intercept = async ({ kind }, send) => {
    const reply = (await send()) as object;
    return kind === "status" && deploymentId !== null ? { ...reply, deploymentId } : reply;
  };
  const warnings = async (told: string | null, remoteUrl: string) => {
    deploymentId = told;
    const { run } = await runOf(movedTo(ends, remoteUrl), { direction: "both" });
    expect(run.status).toBe("success");
    return run.tables["items"]?.warnings.length;
  };
  expect(await warnings(null, "https://there.example")).toBe(0);
  // It tells an id from now on.
  expect(await warnings("one", "https://there.example")).toBe(0);
  expect(await warnings("one", "https://moved.example")).toBe(0);
  // It was restored from a backup.
  expect(await warnings("two", "https://moved.example")).toBe(1);
  expect(await warnings("two", "https://moved.example")).toBe(0);
  expect(await warnings(null, "https://moved.example")).toBe(1);
});

test("D-11.10.1 a run both ways with a new remote keeps the newest rows of both ends", async () => {
  const ends = await makeTwoEnds();
  put(ends.there, ends.table, manyRows(2));
  await runOf(ends, { direction: "pull" });
  put(ends.there, ends.table, [["k", "there", "2026-03-01T09:00:00Z"]]);
  put(ends.here, ends.table, [["k", "here", "2026-03-01T08:00:00Z"]]);
  const there = rowsOf(ends.there, ends.table);
  const { run } = await runOf(movedTo(ends, "https://elsewhere.example/"), { direction: "both" });
  expect(run).toMatchObject({ status: "success", totalPushed: 3, totalPulled: 3, kept: 1 });
  expect(rowsOf(ends.there, ends.table)).toEqual(there);
  expect(rowsOf(ends.here, ends.table)).toEqual(there);
});
