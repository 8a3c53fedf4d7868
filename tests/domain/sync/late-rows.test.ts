import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formatMs } from "../../../src/domain/shared/time.ts";
import {
  addLateTimes,
  type LateNotes,
  lateAndFreshAfter,
  lateBefore,
  markOf,
  noLateNotes,
} from "../../../src/domain/sync/run/late-rows.ts";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import { checkProperty } from "../../support/seed.ts";

const EMPTY = noLateNotes("a1");

/** The mark before anything was noted. */
const FIRST = markOf(EMPTY);

const minute = (n: number) => formatMs(Date.UTC(2024, 0, 1) + n * 60_000);

/** Notes one time of each kind, in minutes; null for none. */
function noted(notes: LateNotes, byOwnRuns: number | null, byOthers: number | null): LateNotes {
  const time = (n: number | null) => (n === null ? null : minute(n));
  return addLateTimes(notes, { byOwnRuns: time(byOwnRuns), byOthers: time(byOthers) });
}

const arbitraryTime = fc.option(fc.nat(30));
const arbitraryCommits = (maxLength: number) =>
  fc.array(fc.record({ byOwnRuns: arbitraryTime, byOthers: arbitraryTime }), { maxLength });

/** Plays commits; gives the notes after each, those before the first included. */
function play(
  commits: readonly { readonly byOwnRuns: number | null; readonly byOthers: number | null }[],
): LateNotes[] {
  const states = [EMPTY];
  for (const { byOwnRuns, byOthers } of commits) {
    states.push(noted(states.at(-1)!, byOwnRuns, byOthers));
  }
  return states;
}

describe("notes of late rows", () => {
  test("D-7.4 of any commits every mark gives the earliest time of those after it", () => {
    checkProperty(
      fc.property(arbitraryCommits(40), fc.boolean(), (commits, isForOwnPush) => {
        const states = play(commits);
        for (const [n, state] of states.entries()) {
          const since = commits.slice(n);
          const times = since
            .flatMap(({ byOwnRuns, byOthers }) => [byOthers, isForOwnPush ? null : byOwnRuns])
            .filter((time) => time !== null);
          const expected = times.length === 0 ? null : minute(Math.min(...times));
          expect(lateAndFreshAfter(states.at(-1)!, markOf(state), isForOwnPush).from).toBe(
            expected,
          );
        }
      }),
    );
  });

  test("D-7.4 notes stay few, and old marks then give a time that is never too late, and too early by a part of their age", () => {
    let notes = EMPTY;
    const marks: string[] = [];
    for (let n = 0; n < 1000; n++) {
      marks.push(markOf(notes));
      notes = noted(notes, 2 * n + 1, 2 * n);
    }
    expect(notes.byOwnRuns.length).toBe(50);
    expect(notes.byOthers.length).toBe(50);
    for (const [n, mark] of marks.entries()) {
      const given =
        Date.parse(lateAndFreshAfter(notes, mark, true).from ?? "") - Date.parse(minute(0));
      const early = 2 * n - given / 60_000;
      expect(early).toBeGreaterThanOrEqual(0);
      expect(early).toBeLessThanOrEqual(0.25 * 2 * (1000 - n));
    }
  });

  test("D-7.4 a mark grows with each commit that notes something, and with no other", () => {
    const one = noted(EMPTY, null, 5);
    expect([FIRST, markOf(one), markOf(noted(one, null, 5))]).toEqual(["a1-0", "a1-1", "a1-2"]);
    expect(noted(one, null, null)).toBe(one);
  });

  test("D-7.4 a mark that was never given gives the start", () => {
    const notes = noted(noted(EMPTY, null, 5), 3, null);
    for (const mark of ["a1-0", "a1-1", "a1-2"]) {
      expect(lateAndFreshAfter(notes, mark, false).from).not.toBe("");
    }
    const others = [
      "a1-3",
      "a1--1",
      "a1-0.5",
      "a1-1e0",
      "a1-01",
      "a1-",
      "a1",
      "b1-1",
      "",
      "1",
      "a1-1 ",
    ];
    for (const mark of others) expect(lateAndFreshAfter(notes, mark, false).from).toBe("");
  });
});

describe("when a time is late", () => {
  const entry: TableEntry = {
    timestamp_column: "at",
    upsert_key: ["k"],
    lag_seconds: 60,
    columns: { k: { type: "text" }, at: { type: "datetime" } },
  };
  const nowMs = Date.UTC(2024, 0, 5, 0, 0, 30);

  test("D-7.4 a datetime is late when it is further back than the lag", () => {
    expect(lateBefore(makeTable(entry), nowMs)).toBe("2024-01-04T23:59:30Z");
  });

  test("D-7.4 a date is late when its day has ended further back than the lag", () => {
    const days = makeTable({ ...entry, columns: { ...entry.columns, at: { type: "date" } } });
    expect(lateBefore(days, nowMs)).toBe("2024-01-04T00:00:00Z");
    expect(lateBefore(days, nowMs + 30_000)).toBe("2024-01-05T00:00:00Z");
  });
});
