import { expect, test } from "bun:test";
import { cutBatches } from "../../../../src/adapters/mongodb/driver/collections.ts";

const ofItself = (item: number) => item;

test("batches hold as many items, and as many bytes, as they may, in order", () => {
  const byItems = { maxItems: 2, maxBytes: 100, bytesOf: ofItself };
  expect(cutBatches([1, 2, 3, 4, 5], byItems)).toEqual([[1, 2], [3, 4], [5]]);
  const byBytes = { maxItems: 9, maxBytes: 10, bytesOf: ofItself };
  expect(cutBatches([4, 6, 5, 6, 1, 1, 3], byBytes)).toEqual([[4, 6], [5], [6, 1, 1], [3]]);
  expect(cutBatches([], byItems)).toEqual([]);
});

test("an item that is larger than a batch is one by itself", () => {
  const limits = { maxItems: 9, maxBytes: 10, bytesOf: ofItself };
  expect(cutBatches([11, 1, 12, 13, 9], limits)).toEqual([[11], [1], [12], [13], [9]]);
});
