import { expect, test } from "bun:test";
import {
  cappedMarker,
  markerCap,
  markerName,
  SYNC_DIRECTIONS,
} from "../../../src/domain/sync/run/marker.ts";
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

const STARTED_AT_MS = Date.parse("2026-03-01T12:00:00Z");

test("D-4.5 a marker is capped at the run's start without the allowance, written as the rows are", () => {
  const table = makeTable(BY_TIME);
  const sample = "2026-02-28T00:00:00.123456";
  expect(markerCap(table, sample, STARTED_AT_MS, 90)).toBe("2026-03-01T11:58:30");
});

test.each([
  ["2026-02-28", "2026-03-01"],
  ["2026-02-28T00:00:00Z", "2026-03-01T00:00:00Z"],
])("D-4.5 a table by days that has %p is capped at the start of the day", (sample, cap) => {
  expect(markerCap(makeTable(BY_DAY), sample, STARTED_AT_MS, 90)).toBe(cap);
});

test("D-4.5 a marker is the text that was seen, as long as it is not later than its cap", () => {
  const cap = "2026-03-01T11:58:30Z";
  expect(cappedMarker("2026-03-01T13:58:30+02:00", cap)).toBe("2026-03-01T13:58:30+02:00");
  expect(cappedMarker("2026-03-01T11:58:30.000001Z", cap)).toBe(cap);
});
