import { expect, test } from "bun:test";
import { markerName } from "../../../src/domain/sync/run/remote-memory.ts";
import { SYNC_DIRECTIONS } from "../../../src/domain/sync/run/run.ts";
import { markerBehind } from "../../../src/domain/sync/run/transfer-markers.ts";
import { makeTable } from "../../support/rows/make-table.ts";

const BY_TIME = {
  ...{ timestamp_column: "at", upsert_key: ["k"] },
  columns: { k: { type: "text" }, at: { type: "datetime" } },
} as const;
const BY_DAY = { ...BY_TIME, columns: { k: { type: "text" }, at: { type: "date" } } } as const;

test("S-2.5, S-4.4.2 markerName() is sync_last_<direction>_<table>", () => {
  expect(markerName("push", "profiles")).toBe("sync_last_push_profiles");
  expect(markerName("pull", "platform_accounts")).toBe("sync_last_pull_platform_accounts");
});

test("S-2.5 the directions of markers are push and pull", () => {
  expect(SYNC_DIRECTIONS).toEqual(["push", "pull"]);
});

const LATEST_MS = Date.parse("2026-03-01T11:58:30Z");

test("D-4.5 a marker is capped at the run's start without the allowance, written as the rows are", () => {
  const table = makeTable(BY_TIME);
  const behind = (seenUpTo: string) => markerBehind(table, seenUpTo, LATEST_MS);
  expect(behind("2026-03-02T00:00:00.123456")).toBe("2026-03-01T11:58:30");
  expect(behind("2026-03-01T11:58:30.000001Z")).toBe("2026-03-01T11:58:30Z");
});

test.each([
  ["2026-03-02", "2026-03-01"],
  ["2026-03-02T00:00:00Z", "2026-03-01T00:00:00Z"],
])("D-4.5 a table by days that has %p is capped at the start of the day", (seenUpTo, cap) => {
  expect(markerBehind(makeTable(BY_DAY), seenUpTo, LATEST_MS)).toBe(cap);
});

test("D-4.5 a marker is the text that was seen, as long as it is not later than its cap", () => {
  const seenUpTo = "2026-03-01T13:58:30+02:00";
  expect(markerBehind(makeTable(BY_TIME), seenUpTo, LATEST_MS)).toBe(seenUpTo);
});
