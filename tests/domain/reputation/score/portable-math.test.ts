import { expect, test } from "bun:test";
import {
  expMinus,
  halvingPower,
  naturalLog,
} from "../../../../src/domain/reputation/score/score.ts";

// Expected values: Python, decimal with 40 digits.
test.each([
  [0, 1],
  [0.5, 0.6065306597126334],
  [1, 0.3678794411714423],
  [3.21875, 0.04000503331137926],
  [9.21875, 9.91625633981915e-5],
  [30, 9.357622968840175e-14],
  [60, 8.75651076269652e-27],
])("D-6.6 expMinus() of %d is %d", (x, expected) => {
  expect(Math.abs(expMinus(x) / expected - 1)).toBeLessThan(1e-14);
});

test("D-6.6 expMinus() is 0 beyond 60, of infinity too", () => {
  expect(expMinus(60.001)).toBe(0);
  expect(expMinus(Number.POSITIVE_INFINITY)).toBe(0);
});

test.each([
  [0, 1],
  [1, 0.5],
  [0.5, 0.7071067811865475],
  [10, 0.0009765625],
])("D-6.6 halvingPower() of %d is %d", (x, expected) => {
  expect(Math.abs(halvingPower(x) / expected - 1)).toBeLessThan(1e-14);
});

test.each([
  [1, 0],
  [3, 1.0986122886681098],
  [51, 3.9318256327243257],
  [2001, 7.601402334583733],
  [9007199254740992, 36.7368005696771],
])("D-6.6 naturalLog() of %d is %d", (x, expected) => {
  expect(Math.abs(naturalLog(x) - expected)).toBeLessThan(1e-13);
});
