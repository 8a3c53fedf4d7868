import { expect, test } from "bun:test";
import { quotaSteps } from "../../../../src/domain/reputation/accounts/call-meter.ts";

const stepsOf = (used: number, admitted: number, callsPerMonth: number | null) =>
  quotaSteps({ admitted, month: { month: "2026-03", used } }, { callsPerMonth }).map(
    ({ type, used: at }) => `${type} at ${at}`,
  );

test.each<[used: number, admitted: number, limit: number | null, steps: readonly string[]]>([
  [799, 1, 1_000, []],
  [800, 1, 1_000, ["quota.80 at 800"]],
  [805, 7, 1_000, ["quota.80 at 800"]],
  [805, 1, 1_000, ["quota.80 at 805"]],
  [1_000, 1, 1_000, ["quota.80 at 1000", "quota.100 at 1000"]],
  [1_000, 300, 1_000, ["quota.80 at 800", "quota.100 at 1000"]],
  [1, 1, 1, ["quota.80 at 1", "quota.100 at 1"]],
  [2, 1, 3, []],
  [3, 1, 3, ["quota.80 at 3", "quota.100 at 3"]],
  [1_000, 0, 1_000, []],
  [1_000, 1, null, []],
])("D-10.12 with %d calls, %d of them new, of %p", (used, admitted, limit, steps) => {
  expect(stepsOf(used, admitted, limit)).toEqual([...steps]);
});
