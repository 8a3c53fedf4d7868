const FORMULA_START = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * The text of a field as a spreadsheet may open it: with `'` before what it would take for a formula and run. Numbers as
 * JSON writes them, with `+` too, stay. D-11.3.
 */
export function spreadsheetField(text: string): string {
  return FORMULA_START.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}
