// Problems of documents that other programs wrote, for a table that is to be prepared.
import type { Collection, Document, IndexDescriptionInfo } from "mongodb";
import type { Column, Table } from "../../../domain/sync/table/table.ts";
import { findIndex } from "./table-indexes.ts";
import { hasNumbers, KEY_TIME_FIELD, layoutOf, PLACELESS_TYPES } from "./table-layout.ts";

/** Keys that occur twice, where no unique index keeps them out. */
export async function keyProblems(
  collection: Collection,
  found: { readonly table: Table; readonly indexes: readonly IndexDescriptionInfo[] },
): Promise<string[]> {
  const { keyIndex } = layoutOf(found.table);
  if (findIndex(found, keyIndex) !== undefined) return [];
  const names = Object.keys(keyIndex);
  const key = Object.fromEntries(names.map((name) => [name, `$${name}`]));
  const stages = [
    { $group: { _id: key, rows: { $sum: 1 } } },
    { $match: { rows: { $gt: 1 } } },
    { $limit: 1 },
  ];
  const isRepeated = await collection.aggregate(stages, { allowDiskUse: true }).hasNext();
  if (!isRepeated) return [];
  return [`several rows have the same upsert key (${names.join(", ")}): remove all but one`];
}

/** Values that columns cannot have. */
export async function valueProblems(collection: Collection, table: Table): Promise<string[]> {
  const problems: string[] = [];
  for (const column of table.columns) {
    const { name, nullable, isKey } = column;
    const mustHave = isKey || !nullable;
    if (mustHave && (await collection.findOne({ [name]: null })) !== null) {
      problems.push(`its column "${name}" may not be null but is in some rows: fill it in`);
    }
    if (isKey) problems.push(...(await keyFormProblems(collection, column)));
    else if (name === table.timestampColumn) {
      problems.push(...(await placeProblems(collection, column)));
    }
  }
  return problems;
}

/** Fields that repsync would have to add to another program's documents. D-11.4. */
export async function foreignProblems(
  collection: Collection,
  table: Table,
  hadNumbers: boolean,
): Promise<string[]> {
  const problems: string[] = [];
  if (layoutOf(table).timeField === KEY_TIME_FIELD) {
    problems.push(
      `its timestamp column "${table.timestampColumn}" is part of its upsert key, which takes a field more in every document`,
    );
  }
  const isNew = hasNumbers(table) && !hadNumbers;
  if (isNew && (await collection.findOne({ id: null })) !== null) {
    problems.push('its column "id" is missing in some rows, and nothing is numbered there');
  }
  return problems;
}

/** The greatest distance of a `Date` from 1970. */
const MAX_DATE_MS = 8_640_000_000_000_000;

/** Values of a timestamp column after which a read cannot continue. */
async function placeProblems(collection: Collection, { name }: Column): Promise<string[]> {
  const isUnplaced = [
    { [name]: { $type: [...PLACELESS_TYPES] } },
    { [name]: { $lt: new Date(-MAX_DATE_MS) } },
    { [name]: { $gt: new Date(MAX_DATE_MS) } },
  ];
  if ((await collection.findOne({ $or: isUnplaced })) === null) return [];
  return [
    `its timestamp column "${name}" holds lists, undefined, or times beyond the year 275760: store times, or null`,
  ];
}

/**
 * Values of a key column in other forms than writes keep. They look the same on pages, but a write does not find them and would add a
 * second row.
 */
async function keyFormProblems(collection: Collection, column: Column): Promise<string[]> {
  const { name } = column;
  const verbatim = { [`${name}.json`]: { $type: "string" } };
  const isOther = { [name]: { $ne: null }, $nor: [...formsOf(column), verbatim] };
  const stages = [
    { $match: { $or: [isOther, { [name]: { $type: "array" } }] } },
    { $group: { _id: { $type: `$${name}` } } },
    { $sort: { _id: 1 } },
  ];
  const found = await collection.aggregate<{ readonly _id: string }>(stages).toArray();
  if (found.length === 0) return [];
  const types = found.map(({ _id: type }) => type);
  return [
    `its key column "${name}" holds ${nameTypes(types, column)}: store ${toStore(types, column)}`,
  ];
}

const LEAP_YEAR = "(\\d\\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)";
/** Texts that look like days and are not in the calendar. */
const NO_DAY = `0000|.{4}-(02-3|(0[469]|11)-31)|(?!${LEAP_YEAR}).{4}-02-29`;
const DAY = `(?!${NO_DAY})\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])`;
/** With no, three or six fraction digits, the last three of which are not all zero. */
const TIME = "([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.(?!000$)\\d{3}|\\.\\d{3}(?!000$)\\d{3})?";
/** Pages show larger floating-point numbers with other digits. */
const MAX_EXACT = Number.MAX_SAFE_INTEGER;

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
