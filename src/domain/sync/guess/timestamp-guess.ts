// Which column says when a row changed last.
import { wordsOfName } from "../table/names.ts";
import type { ColumnType } from "../table/table.ts";

const CHANGE =
  /^(?:last_)?(?:updated?|modified|changed?|edited|modification)(?:_(?:at|on|date|time|timestamp|utc|ts))*$/;
const DATE_OF_CHANGE =
  /^(?:date|time|ts|timestamp)_(?:of_)?(?:last_)?(?:updated?|modified|changed?|edited)$/;
const RECORDED =
  /^(?:timestamp|ts|mtime|at|(?:event|recorded|measured|logged|occurred)_(?:at|on|time))$/;

/** The most believed of the columns with times; null when no name says so. A time of creation does not change. */
export function timestampColumnOf(
  columns: readonly { readonly name: string; readonly type: ColumnType }[],
): string | null {
  const times = columns.filter(({ type }) => type === "datetime" || type === "date");
  for (const type of ["datetime", "date"]) {
    for (const pattern of [CHANGE, DATE_OF_CHANGE, RECORDED]) {
      const found = times.find((c) => c.type === type && pattern.test(wordsOfName(c.name)));
      if (found !== undefined) return found.name;
    }
  }
  return null;
}
