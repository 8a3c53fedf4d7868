import { expect, test } from "bun:test";
import { halves, rowsThatFit, startBatchSize } from "../../../src/domain/sync/run/batch-size.ts";

test("D-4.6 batches start at 1,000 rows and double up to the configured maximum", () => {
  const size = startBatchSize(5000);
  const sizes = [size.rows()];
  for (let i = 0; i < 4; i++) {
    size.grow();
    sizes.push(size.rows());
  }
  expect(sizes).toEqual([1000, 2000, 4000, 5000, 5000]);
});

test("D-4.6 a smaller maximum is where they start", () => {
  expect(startBatchSize(300).rows()).toBe(300);
  expect(startBatchSize(0).rows()).toBe(1);
});

test("D-4.6 a batch that took too long is halved, and grows again by an eighth at a time", () => {
  const size = startBatchSize(5000);
  size.shrink(1000);
  expect(size.rows()).toBe(500);
  size.grow();
  expect(size.rows()).toBe(563);
  for (let i = 0; i < 100; i++) size.grow();
  expect(size.rows()).toBe(5000);
});

test("D-4.6 a batch that is too large is halved for good", () => {
  const size = startBatchSize(5000);
  size.limit(1000);
  for (let i = 0; i < 100; i++) size.grow();
  expect(size.rows()).toBe(500);
});

test("D-4.6 halves of halves end at one row", () => {
  const size = startBatchSize(5000, 4);
  for (const [tooMany, left] of [
    [4, 2],
    [2, 1],
    [1, 1],
  ] as const) {
    size.shrink(tooMany);
    expect(size.rows()).toBe(left);
  }
});

test("D-4.6 a batch is cut by its bytes, but has a row at least", () => {
  const rows = [{ a: "x".repeat(86) }, { a: "x".repeat(86) }, { a: "x".repeat(86) }];
  expect(rowsThatFit(rows, 1000)).toBe(3);
  expect(rowsThatFit(rows, 200)).toBe(2);
  expect(rowsThatFit(rows, 10)).toBe(1);
  expect(rowsThatFit([], 10)).toBe(0);
});

test("D-4.6 rows with deep values count with all of them", () => {
  const rows = [{ a: { b: ["x".repeat(500), "x".repeat(500)] } }, { a: null }];
  expect(rowsThatFit(rows, 1000)).toBe(1);
});

test("D-4.6 the first half is not the shorter one", () => {
  expect(halves([1, 2, 3])).toEqual([[1, 2], [3]]);
  expect(halves([1])).toEqual([[1], []]);
});
