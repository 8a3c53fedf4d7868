import { expect, test } from "bun:test";
import { nearestWord } from "../../../src/domain/shared/text.ts";

const WORDS = ["push", "pull", "both", "status", "listings", "HOST"];

test.each([
  ["pul", "pull"],
  ["pulll", "pull"],
  ["plul", "pull"],
  ["PULL", "pull"],
  ["puhs", "push"],
  ["botj", "both"],
  ["statsu", "status"],
  ["sttaus", "status"],
  ["lisings", "listings"],
  ["listing", "listings"],
  ["host", "HOST"],
])("D-14.9.2 %p is probably %p", (typed, meant) => {
  expect(nearestWord(typed, WORDS)).toBe(meant);
});

test.each(["", "p", "down", "full-sync", "lists", "xx", "x".repeat(100_000)])(
  "D-14.9.2 %p resembles none",
  (typed) => {
    expect(nearestWord(typed, WORDS)).toBeNull();
  },
);

test("D-14.9.2 of equally near words it is the first, and of none there is none", () => {
  expect(nearestWord("puxh", ["puch", "push"])).toBe("puch");
  expect(nearestWord("push", [])).toBeNull();
});
