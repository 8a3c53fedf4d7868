// Digests by ranges of the key, as the other end asks for them. D-4.10.
import { expect, test } from "bun:test";
import {
  type DigestParameters,
  DigestSum,
} from "../../../../src/domain/sync/digest/digest-page.ts";
import type { Table } from "../../../../src/domain/sync/table/table.ts";
import type { TableStore } from "../../../../src/ports/tables/table-store.ts";
import { digestTable } from "../../../../src/usecases/sync/pages/table-pages.ts";
import { FakeClock } from "../../../support/time/fake-clock.ts";
import { makeTwoEnds, manyRows, put, type TestRow } from "../two-ends.ts";

async function tableOf(rows: number) {
  const ends = await makeTwoEnds();
  put(ends.here, ends.table, manyRows(rows));
  const clock = new FakeClock();
  const pauses: number[] = [];
  const timer = {
    async sleep(durationMs: number) {
      pauses.push(durationMs);
    },
  };
  const deps = { registry: ends.deps.registry, tables: ends.here as TableStore, clock, timer };
  const digest = (parameters: Partial<DigestParameters> = {}, tableName = "items") =>
    digestTable(deps, tableName, {
      ...{ after: null, through: null, segmentRows: null, records: null },
      ...parameters,
    });
  return { ...ends, clock, deps, digest, pauses };
}

/** The digest of some of the rows, summed here. */
function digestOf(table: Table, rows: readonly TestRow[]) {
  const sum = new DigestSum(table);
  for (const [k, v, at] of rows) sum.add({ k, v, at });
  return sum.result();
}

test("D-4.10 an empty table is one empty segment", async () => {
  const { digest } = await tableOf(0);
  expect(await digest()).toEqual({
    ...{ table: "items", format: "rows-1", columns: ["at", "k", "v"], hasMore: false },
    segments: [{ through: null, count: 0, digest: "00000000000000000000000000000000" }],
  });
});

test("D-4.10 segments follow on one another by key, and the last one is open", async () => {
  const { digest, table } = await tableOf(7);
  const page = await digest({ segmentRows: "3" });
  expect(page.segments).toEqual([
    { through: ["k-0002"], ...digestOf(table, manyRows(7).slice(0, 3)) },
    { through: ["k-0005"], ...digestOf(table, manyRows(7).slice(3, 6)) },
    { through: null, ...digestOf(table, manyRows(7).slice(6, 7)) },
  ]);
});

test("D-4.10 a number of rows that fills its segments leaves no empty one", async () => {
  const { digest } = await tableOf(6);
  const { segments } = await digest({ segmentRows: "3" });
  expect(segments.map(({ through, count }) => [through, count])).toEqual([
    [["k-0002"], 3],
    [null, 3],
  ]);
});

test("D-4.10 a range begins behind after and ends with through, whether there are such rows or not", async () => {
  const { digest, table } = await tableOf(9);
  const { segments } = await digest({ after: '["k-0002"]', through: '["k-0005x"]' });
  expect(segments).toEqual([{ through: ["k-0005x"], ...digestOf(table, manyRows(9).slice(3, 6)) }]);
});

test("D-4.10 a reply stops at 1,024 segments and says so", async () => {
  const { digest } = await tableOf(1100);
  const page = await digest({ segmentRows: "1" });
  expect(page.segments).toHaveLength(1024);
  expect(page).toMatchObject({ hasMore: true });
  expect(page.segments.at(-1)?.through).toEqual(["k-1023"]);
  const rest = await digest({ segmentRows: "1", after: '["k-1023"]' });
  expect([rest.segments.length, rest.hasMore]).toEqual([76, false]);
});

test("D-4.10 a reply stops after 3 s with the segments it has", async () => {
  const { digest, clock, deps } = await tableOf(20);
  const { tables } = deps;
  const slowPage: typeof tables.page = async (...args) => {
    clock.advance(3_000);
    return await tables.page(...args);
  };
  deps.tables = Object.assign(Object.create(tables), { page: slowPage });
  const page = await digest({ segmentRows: "4" });
  expect(page.segments).toHaveLength(1);
  expect(page.hasMore).toBe(true);
});

test("D-4.10 others have their turn between the reads of a long table", async () => {
  const { digest, pauses } = await tableOf(9000);
  const { segments } = await digest();
  expect(pauses).toEqual([0, 0]);
  expect(segments.map(({ count }) => count)).toEqual([4096, 4096, 808]);
});

test("D-4.10 rows themselves come in the order of the key, 1,024 at a time", async () => {
  const { digest } = await tableOf(1500);
  const page = await digest({ records: "true" });
  expect(page.records).toHaveLength(1024);
  expect(page.records?.[0]).toEqual({ k: "k-0000", v: "v", at: "2026-03-01T10:00:00Z" });
  expect(page).toMatchObject({ hasMore: true, segments: [{ through: ["k-1023"], count: 1024 }] });
  const rest = await digest({ records: "true", after: '["k-1023"]', through: '["k-1030"]' });
  expect(rest.records?.map(({ k }) => k)).toEqual(
    [1024, 1025, 1026, 1027, 1028, 1029, 1030].map((i) => `k-${i}`),
  );
  expect(rest).toMatchObject({ hasMore: false, segments: [{ through: ["k-1030"], count: 7 }] });
});

test.each([
  [{ segmentRows: "0" }, 'segment_rows must be a whole number from 1 to 999999999: "0"'],
  [{ segmentRows: "x" }, 'segment_rows must be a whole number from 1 to 999999999: "x"'],
  [{ after: "k" }, "after must be a JSON array of the key columns: k"],
  [{ after: '["a","b"]' }, "after must be a JSON array of the key columns: k"],
  [{ through: "[null]" }, "through must be a JSON array of the key columns: k"],
  [{ through: "[{}]" }, "through must be a JSON array of the key columns: k"],
])("D-4.10 %j is refused", async (parameters, message) => {
  const { digest } = await tableOf(1);
  await expect(digest(parameters)).rejects.toMatchObject({ kind: "invalid_request", message });
});

test("D-4.10 an unknown table is refused", async () => {
  const { digest } = await tableOf(1);
  await expect(digest({}, "nope")).rejects.toMatchObject({ kind: "unknown_table" });
});
