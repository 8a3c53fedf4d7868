import { expect, test } from "bun:test";
import { spreadsheetField } from "../../../src/domain/shared/text.ts";

test.each([
  ...[
    "=1+2",
    '=HYPERLINK("http://x")',
    "@SUM(A1)",
    "+cmd",
    "-2+3",
    "\t=1",
    "\r=1",
    "+",
    "-",
    "--1",
  ],
  ...["-01", "-1.", "+.5", "-1e", "-1 ", "-1\n", "-Infinity", "-1,5", "+0x1"],
])("D-11.3 a spreadsheet would run %j, so ' goes before it", (text) => {
  expect(spreadsheetField(text)).toBe(`'${text}`);
});

test.each([
  ...["", "a", "1", "-1", "+1", "-0", "-0.5", "+12.50", "-1e5", "-1.5E+10", "+2e-3"],
  ...["a=1", "'=1", " =1", "\n=1", "1+2", "2026-11-20T08:00:00Z", "－1"],
])("D-11.3 %j stays as it is", (text) => {
  expect(spreadsheetField(text)).toBe(text);
});
