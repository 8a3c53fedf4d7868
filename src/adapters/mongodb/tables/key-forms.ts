// The forms in which writes keep keys. A key that another program keeps in another form looks the same on pages, but a write does not
// find it and would add a second row.
import type { Collection, Document } from "mongodb";
import type { Column } from "../../../domain/sync/table/table.ts";
import { PLACELESS_TYPES } from "./table-layout.ts";

const LEAP_YEAR = "(\\d\\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)";
/** Texts that look like days and are not in the calendar. */
const NO_DAY = `0000|.{4}-(02-3|(0[469]|11)-31)|(?!${LEAP_YEAR}).{4}-02-29`;
const DAY = `(?!${NO_DAY})\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])`;
/** With no, three or six fraction digits, the last three of which are not all zero. */
const TIME = "([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.(?!000$)\\d{3}|\\.\\d{3}(?!000$)\\d{3})?";
/** Pages show larger floating-point numbers with other digits. */
const MAX_EXACT = Number.MAX_SAFE_INTEGER;

/** The greatest distance of a `Date` from 1970. */
const MAX_DATE_MS = 8_640_000_000_000_000;

/** The problem of a timestamp column with values after which a read cannot continue; null for none. */
export async function placeProblem(
  collection: Collection,
  { name }: Column,
): Promise<string | null> {
  const isUnplaced = [
    { [name]: { $type: [...PLACELESS_TYPES] } },
    { [name]: { $lt: new Date(-MAX_DATE_MS) } },
    { [name]: { $gt: new Date(MAX_DATE_MS) } },
  ];
  if ((await collection.findOne({ $or: isUnplaced })) === null) return null;
  return `its timestamp column "${name}" holds lists, undefined, or times beyond the year 275760: store times, or null`;
}

/** The problem of a key column, with what to store; null where all values have their form or are missing. */
export async function keyFormProblem(
  collection: Collection,
  column: Column,
): Promise<string | null> {
  const { name } = column;
  const verbatim = { [`${name}.json`]: { $type: "string" } };
  const isOther = { [name]: { $ne: null }, $nor: [...formsOf(column), verbatim] };
  const stages = [
    { $match: { $or: [isOther, { [name]: { $type: "array" } }] } },
    { $group: { _id: { $type: `$${name}` } } },
    { $sort: { _id: 1 } },
  ];
  const found = await collection.aggregate<{ readonly _id: string }>(stages).toArray();
  if (found.length === 0) return null;
  const types = found.map(({ _id: type }) => type);
  return `its key column "${name}" holds ${nameTypes(types, column)}: store ${toStore(types, column)}`;
}

function formsOf({ name, type }: Column): Document[] {
  switch (type) {
    case "integer":
    case "bigint":
      return [{ [name]: { $type: ["int", "long"] } }, isWholeDouble(name)];
    case "boolean":
      return [{ [name]: { $type: "bool" } }];
    case "date":
      return [{ [name]: { $regex: `^${DAY}$` } }];
    case "datetime":
      return [{ [name]: { $regex: `^${DAY}T${TIME}$` } }];
    case "text":
    case "numeric":
    case "real":
    case "json":
      return [{ [name]: { $type: "string" } }];
  }
}

function isWholeDouble(name: string): Document {
  const isWhole = {
    $eq: [`$${name}`, { $cond: [{ $isNumber: `$${name}` }, { $trunc: `$${name}` }, null] }],
  };
  return { [name]: { $type: "double", $gte: -MAX_EXACT, $lte: MAX_EXACT }, $expr: isWhole };
}

function nameTypes(types: readonly string[], { type }: Column): string {
  const [only] = types;
  if (types.length === 1 && only === "date") return "BSON dates";
  const isTime = type === "date" || type === "datetime";
  if (types.length === 1 && only === "string" && isTime) return "texts in another form";
  return `values of other BSON types (${types.join(", ")})`;
}

function toStore(types: readonly string[], { type }: Column): string {
  if (type === "date") return "texts like 2024-05-01";
  if (type === "datetime" || types.includes("date")) {
    return "texts like 2024-05-01T10:00:00.123 (UTC, no zone)";
  }
  if (type === "boolean") return "true or false";
  return type === "integer" || type === "bigint" ? "whole numbers of type int or long" : "texts";
}
