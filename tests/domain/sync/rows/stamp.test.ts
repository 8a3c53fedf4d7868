import { describe, expect, test } from "bun:test";
import { convertPulled, convertRecord } from "../../../../src/domain/sync/rows/convert.ts";
import { stampFate } from "../../../../src/domain/sync/rows/row-time.ts";
import { makeTable } from "../../../support/rows/make-table.ts";

const NOW = "2026-03-01T12:00:00Z";
const FILE = "2026-03-01T10:00:00Z";
const EARLIER = "2026-03-01T09:00:00Z";
const BETWEEN = "2026-03-01T11:00:00Z";
const AHEAD = "2026-03-01T12:04:59.999999Z";
const FAR = "2026-03-01T12:05:00.000001Z";

interface Case {
  /** Of the record; absent: it brings none. */
  readonly brings?: string;
  /** Of the row; absent: there is none. */
  readonly row?: string | null;
  readonly isSame?: true;
  readonly deleted?: string;
  readonly file?: string;
  readonly restores?: true;
}

const CASES: readonly (readonly [string, Case, string])[] = [
  ["a new row", {}, NOW],
  ["a row with an earlier time", { row: EARLIER }, NOW],
  ["a row of now", { row: NOW }, "2026-03-01T12:00:00.000001Z"],
  ["a row ahead", { row: AHEAD }, "2026-03-01T12:05:00Z"],
  ["a row more than 5 minutes ahead", { row: FAR }, NOW],
  ["a row without a time", { row: null }, NOW],
  ["a row that stays as it is", { row: EARLIER, isSame: true }, "same"],
  ["a record with a time", { brings: EARLIER, row: NOW }, "own"],
  ["one with a time that changes nothing else", { brings: EARLIER, row: NOW, isSame: true }, "own"],
  ["a key with a tombstone", { deleted: AHEAD }, "2026-03-01T12:05:00Z"],
  ["one with an old tombstone", { deleted: EARLIER }, NOW],
  ["a row with a later tombstone", { row: NOW, deleted: AHEAD }, "2026-03-01T12:05:00Z"],
  ["a row ahead with an old tombstone", { row: AHEAD, deleted: EARLIER }, "2026-03-01T12:05:00Z"],
  ["a row too far ahead, with a tombstone", { row: FAR, deleted: AHEAD }, "2026-03-01T12:05:00Z"],
  ["a new row of a file", { file: FILE }, FILE],
  ["a new row of a file from the future", { file: AHEAD }, NOW],
  ["a row that a file changes", { file: FILE, row: EARLIER }, NOW],
  ["a new row deleted before the file", { file: FILE, deleted: EARLIER }, FILE],
  ["a new row deleted with the file", { file: FILE, deleted: FILE }, NOW],
  ["a new row deleted after the file", { file: FILE, deleted: BETWEEN }, "deleted"],
  ["one with an older time", { file: FILE, deleted: BETWEEN, brings: EARLIER }, "deleted"],
  ["one with a later time", { file: FILE, deleted: BETWEEN, brings: NOW }, "own"],
  ["a row beside its tombstone", { file: FILE, deleted: BETWEEN, row: EARLIER }, NOW],
  ["one that is restored", { file: FILE, deleted: BETWEEN, restores: true }, NOW],
  [
    "one with an older time that is restored",
    { file: FILE, deleted: AHEAD, brings: EARLIER, restores: true },
    "2026-03-01T12:05:00Z",
  ],
];

describe("stampFate()", () => {
  test.each(CASES)(
    "D-14.2, D-14.2.1 %s",
    (_, { brings, row, isSame, deleted, ...of }, expected) => {
      const rule = { fileTime: of.file ?? null, restores: of.restores ?? false };
      const fate = stampFate(rule, {
        time: brings ?? null,
        bringsTime: brings !== undefined,
        here: row === undefined ? null : { time: row, isChanged: isSame !== true },
        deletedAt: deleted ?? null,
        nowMs: Date.parse(NOW),
      });
      expect(typeof fate === "string" ? fate : fate.time).toBe(expected);
    },
  );
});

describe("records without a time", () => {
  const table = makeTable({
    ...{ timestamp_column: "at", upsert_key: ["k"], stamped: true },
    columns: { k: { type: "text" }, at: { type: "datetime", nullable: false } },
  });
  const missing = "at is missing or null: runs and guarded pushes bring it";

  test("D-14.2.2 pass where they are stamped, whatever the column says of nulls, and fail elsewhere", () => {
    for (const record of [{ k: "a" }, { k: "a", at: null }]) {
      expect(convertRecord(table, record, true)).toEqual({
        ...{ row: { k: "a", at: null }, problem: null },
      });
      expect(convertRecord(table, record)).toEqual({ row: null, problem: missing });
      expect(convertPulled(table, record)).toEqual({ row: null, problem: missing });
    }
    expect(convertRecord(table, { k: "a", at: "soon" }).problem).toBeNull();
  });
});
