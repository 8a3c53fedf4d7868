import { expect, test } from "bun:test";
import {
  countBlock,
  ExchangedRows,
  exchangedBlock,
} from "../../../src/domain/sync/run/exchanged-rows.ts";
import type { Row } from "../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../support/rows/make-table.ts";

const TABLE = makeTable({
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
});

const row = (k: string, v: string, at: string | null): Row => ({ k, v, at });
const early = row("early", "v", "2026-03-01T09:59:59.999999Z");
const onTime = row("on time", "v", "2026-03-01T10:00:00Z");
const timeless = row("timeless", "v", null);
const MARKER = "2026-03-01T10:00:00Z";

/** Exchanged rows with every block read. */
function exchangedWith(...blocks: readonly (Uint8Array | null)[]): ExchangedRows {
  const exchanged = new ExchangedRows(
    TABLE,
    blocks.filter((block) => block !== null),
  );
  readAll(exchanged);
  return exchanged;
}

function readAll(exchanged: ExchangedRows): number {
  return [...exchanged.readFor([row("last", "v", "9999-12-31T00:00:00Z")])].length;
}

test("D-7.1 a row is exchanged as it last went or came, and not once anything of it has changed", () => {
  const exchanged = exchangedWith(exchangedBlock(TABLE, [onTime], null));
  expect(exchanged.has(onTime)).toBe(true);
  expect(exchanged.has({ ...onTime, v: "w" })).toBe(false);
  expect(exchanged.has({ ...onTime, at: "2026-03-01T10:00:00.000001Z" })).toBe(false);
  expect(exchanged.has({ ...onTime, k: "other" })).toBe(false);
});

test("D-7.1 of two versions of a row the one that was added last is exchanged", () => {
  const first = exchangedBlock(TABLE, [onTime], null);
  const second = exchangedBlock(TABLE, [{ ...onTime, v: "w" }], null);
  const exchanged = exchangedWith(first, second);
  expect(exchanged.blocks(null).map(countBlock)).toEqual([1]);
  expect(exchanged.has(onTime)).toBe(false);
  expect(exchanged.has({ ...onTime, v: "w" })).toBe(true);
});

test("D-7.1 a block holds what a push from the marker on can meet: rows at or after it, and those without a time", () => {
  const block = exchangedBlock(TABLE, [early, onTime, timeless], MARKER);
  expect(countBlock(block ?? new Uint8Array())).toBe(2);
  const exchanged = exchangedWith(block);
  expect([early, onTime, timeless].map((each) => exchanged.has(each))).toEqual([false, true, true]);
  expect(exchangedBlock(TABLE, [early], MARKER)).toBeNull();
  expect(exchangedBlock(TABLE, [], null)).toBeNull();
});

test("D-7.1 a row that goes again as an older version replaces what was exchanged of it", () => {
  const exchanged = exchangedWith(exchangedBlock(TABLE, [onTime], MARKER));
  const older = { ...onTime, at: early["at"] ?? null };
  const block = exchanged.note([older, early], MARKER);
  expect(countBlock(block ?? new Uint8Array())).toBe(1);
  expect(exchanged.has(onTime)).toBe(false);
  expect(exchanged.has(older)).toBe(true);
  // In whichever order they are met.
  const unread = new ExchangedRows(TABLE, exchangedWith(block).blocks(null));
  unread.note([onTime], null);
  readAll(unread);
  expect(unread.has(onTime)).toBe(true);
});

test("D-7.1 blocks read back hold each row once, without those behind the marker", () => {
  const exchanged = exchangedWith(exchangedBlock(TABLE, [early, onTime, timeless], null));
  exchanged.note([{ ...onTime, v: "w" }], null);
  const read = exchangedWith(...exchanged.blocks(MARKER));
  expect(read.blocks(null).map(countBlock)).toEqual([2]);
  expect(read.has({ ...onTime, v: "w" })).toBe(true);
  expect(read.has(timeless)).toBe(true);
  expect(exchanged.blocks("2026-03-01T10:00:01Z").map(countBlock)).toEqual([1]);
});

test("D-7.1 many rows make blocks of a bounded size, 20 bytes a row", () => {
  const rows = manyRows(120_001);
  const exchanged = exchangedWith(exchangedBlock(TABLE, rows, null));
  const blocks = exchanged.blocks(null);
  expect(blocks.map(countBlock)).toEqual([50_000, 50_000, 20_001]);
  expect(blocks[0]?.byteLength).toBe(1_000_000);
  const again = exchangedWith(...blocks);
  expect(rows.every((each) => again.has(each))).toBe(true);
});

test("D-7.1 blocks are read as a push comes to their times, and of two of one row the later kept counts", () => {
  const blocks = [
    exchangedBlock(TABLE, [row("b", "first", "2026-03-01T12:00:00Z")], null),
    exchangedBlock(TABLE, [row("c", "v", "2026-03-01T13:00:00Z")], null),
    exchangedBlock(
      TABLE,
      [row("a", "v", "2026-03-01T11:00:00Z"), row("b", "second", "2026-03-01T12:00:00Z")],
      null,
    ),
  ];
  const exchanged = new ExchangedRows(
    TABLE,
    blocks.filter((block) => block !== null),
  );
  const a = row("a", "v", "2026-03-01T11:00:00Z");
  expect([...exchanged.readFor([a])]).toHaveLength(1);
  expect(exchanged.has(a)).toBe(true);
  const b = row("b", "second", "2026-03-01T12:00:00Z");
  expect([...exchanged.readFor([b])]).toHaveLength(1);
  expect(exchanged.has(b)).toBe(true);
  expect(exchanged.has({ ...b, v: "first" })).toBe(false);
  expect(exchanged.blocks(null).map(countBlock)).toEqual([3]);
});

test("D-7.1 what a push has passed is not held when there is much of it", () => {
  const rows = manyRows(150_000);
  const exchanged = exchangedWith(exchangedBlock(TABLE, rows, null));
  const [first, last] = [rows[0] ?? {}, rows.at(-1) ?? {}];
  exchanged.note([], String(last["at"]));
  expect([first, last].map((each) => exchanged.has(each))).toEqual([false, true]);
  expect(exchanged.blocks(null).map(countBlock)).toEqual([1]);
});

/** Rows a millisecond apart. */
function manyRows(count: number): Row[] {
  const startMs = Date.parse("2026-03-01T10:00:00Z");
  return Array.from({ length: count }, (_, i) =>
    row(`k-${i}`, "v", new Date(startMs + i).toISOString().replace(".000Z", "Z")),
  );
}

test("D-7.1 a table without a timestamp column has no exchanged rows", () => {
  const table = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } });
  const exchanged = new ExchangedRows(table);
  expect(exchanged.note([{ k: "a" }], null)).toBeNull();
  expect(exchangedBlock(table, [{ k: "a" }], null)).toBeNull();
  expect(exchanged.has({ k: "a" })).toBe(false);
});
