// Makes collections and indexes, after all tables were examined.
import { type Collection, type Db, type Document, Long, MinKey, type WithId } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import { isByDay } from "../../../domain/sync/rows/row-time.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { START_CALLS } from "../../../ports/documents.ts";
import { COUNTERS, makeCollections, reserveNumbers, takeNumbers } from "../driver/collections.ts";
import { Deadline, retry, type Stopwatch } from "../driver/deadline.ts";
import { asAppErrors, DUPLICATE_KEY, hasCode, orNull } from "../driver/errors.ts";
import { VERSIONS } from "../driver/versions.ts";
import {
  collectionProblems,
  type ExaminedTable,
  examineTables,
  saveDefinition,
  TABLE_DEFINITIONS,
} from "./table-fit.ts";
import { findIndex, hintOf, neededIndexes, noteIndexName, ownIndexName } from "./table-indexes.ts";
import {
  hasNumbers,
  type IndexKeys,
  KEY_TIME_FIELD,
  layoutOf,
  UNPARSED_FIELD,
} from "./table-layout.ts";

const INDEX_NOT_FOUND = 27;
/** Server codes where another index or the shard key is in the way. */
const IN_THE_WAY = [
  67, // CannotCreateIndex
  85, // IndexOptionsConflict
  86, // IndexKeySpecsConflict
];

const NUMBERED_AT_ONCE = 1_000;

/** Throws `schema_conflict` that names each table that cannot be prepared, and `store_unavailable`. */
export async function prepareTables(
  db: Db,
  clock: Stopwatch,
  tables: readonly Table[],
): Promise<void> {
  // An election repeats the work, so every step may happen twice.
  const prepared = retry(new Deadline(clock, START_CALLS), async () => {
    const examinedTables = await examineTables(db, tables);
    await makeCollections(db, [TABLE_DEFINITIONS, VERSIONS, COUNTERS]);
    for (const examined of examinedTables) await prepareTable(db, examined);
  });
  await asAppErrors(prepared);
}

/** Tables whose collection lacks an index that was noted, or is one that a start would refuse. */
export async function findDisturbed(db: Db, tables: readonly Table[]): Promise<readonly Table[]> {
  const name = { $in: tables.map((table) => table.name) };
  const there = await db.listCollections({ name }).toArray();
  const lacks = await Promise.all(
    tables.map(async (table) => {
      const found = there.find((one) => one.name === table.name);
      if (found === undefined || collectionProblems(found).length > 0) return found !== undefined;
      const indexes = await db.collection(table.name).indexes();
      return neededIndexes(table).some(
        (keys) => findIndex({ table, indexes }, keys)?.name !== hintOf(db, table, keys),
      );
    }),
  );
  return tables.filter((_, i) => lacks[i]);
}

async function prepareTable(db: Db, examined: ExaminedTable): Promise<void> {
  const { table, definition } = examined;
  const collection = db.collection(table.name);
  for (const name of examined.formerIndexes) {
    await orNull(collection.dropIndex(name), INDEX_NOT_FOUND);
  }
  for (const keys of neededIndexes(table)) {
    await makeIndex(db, examined, keys);
    // Before the index of the order is made.
    if (keys === layoutOf(table).keyIndex) await alignTimes(collection, examined);
  }
  const isNumbered = definition?.has_numbers === true && !examined.isNew;
  if (hasNumbers(table) && examined.hasRows && !isNumbered) {
    await reserveIds(db, collection);
    await numberRows(db, collection);
  }
  await saveDefinition(db, examined);
}

/** Keeps stored numbers from being given again: other tools may have written some, or repsync before the store numbered rows. */
async function reserveIds(db: Db, collection: Collection): Promise<void> {
  const stages = [
    { $match: { id: { $type: ["int", "long"] } } },
    { $group: { _id: null, id: { $max: { $toLong: "$id" } } } },
  ];
  const [greatest] = await collection.aggregate(stages, { promoteLongs: false }).toArray();
  const last = (greatest?.["id"] as Long | undefined) ?? Long.ZERO;
  await reserveNumbers(db, collection.collectionName, last);
}

/** Numbers the rows that have no number yet, in the order in which they came. */
async function numberRows(db: Db, collection: Collection): Promise<void> {
  for (let last: Document | null = null; ; ) {
    const rows: readonly WithId<Document>[] = await collection
      .find({ id: null }, { projection: { _id: 1 }, limit: NUMBERED_AT_ONCE })
      .sort({ _id: 1 })
      .hint({ _id: 1 })
      .min(last ?? { _id: new MinKey() })
      .toArray();
    if (rows.length === 0) return;
    last = rows.at(-1) ?? null;
    const first = await takeNumbers(db, collection.collectionName, rows.length);
    const updates = rows.map(({ _id }, n) => ({
      updateOne: { filter: { _id, id: null }, update: { $set: { id: first.add(n) } } },
    }));
    await collection.bulkWrite(updates, { ordered: false });
  }
}

/** Makes an index where it is missing. */
async function makeIndex(db: Db, examined: ExaminedTable, keys: IndexKeys): Promise<void> {
  const { table } = examined;
  const make = () =>
    db.collection(table.name).createIndex(keys, {
      name: ownIndexName(keys),
      unique: keys === layoutOf(table).keyIndex,
      // The default waits for every member, even one that is down.
      commitQuorum: "majority",
    });
  try {
    const name = findIndex(examined, keys)?.name ?? (await make());
    noteIndexName(db, table, keys, name);
  } catch (error) {
    if (!hasCode(error, ...IN_THE_WAY, DUPLICATE_KEY)) throw error;
    const text = hasCode(error, DUPLICATE_KEY)
      ? "several rows have the same key: remove all but one"
      : "another index or the shard key is in the way: a shard key has to begin the upsert key";
    const names = Object.keys(keys).join(", ");
    const message = `Table "${table.name}": its index on (${names}) cannot be made, ${text}`;
    throw new AppError("schema_conflict", message, { cause: error });
  }
}

/** Brings stored timestamps into the form that a new timestamp column needs. */
async function alignTimes(collection: Collection, examined: ExaminedTable): Promise<void> {
  const { table, definition, hasRows } = examined;
  if (!hasRows) return;
  const { timeField } = layoutOf(table);
  const time = table.timestampColumn;
  const former = definition?.timestamp_column ?? null;
  if (timeField === KEY_TIME_FIELD && time !== null) {
    const text = timeTextExpression(table, `$${time}`);
    const isOther = former === time ? { [KEY_TIME_FIELD]: { $exists: false } } : {};
    await collection.updateMany(isOther, [{ $set: { [KEY_TIME_FIELD]: text } }]);
  }
  if (former === time) return;
  if (former !== null) await restoreTimes(collection, former);
  if (time !== null && timeField === time) await hideUnparsedTimes(collection, time);
}

/** The text of a time that may be a BSON date; null for any other value. */
function timeTextExpression(table: Table, field: string): Document {
  const inFormat = (format: string) => ({ $dateToString: { date: field, format } });
  const seconds = "%Y-%m-%dT%H:%M:%S";
  const isWhole = { $eq: [{ $millisecond: field }, 0] };
  const dateTime = { $cond: [isWhole, inFormat(seconds), inFormat(`${seconds}.%L`)] };
  const dateText = isByDay(table) ? inFormat("%Y-%m-%d") : dateTime;
  const isOf = (type: string) => ({ $eq: [{ $type: field }, type] });
  return { $cond: [isOf("string"), field, { $cond: [isOf("date"), dateText, null] }] };
}

/** Gives a column that no longer orders rows its unparsed texts back. */
async function restoreTimes(collection: Collection, former: string): Promise<void> {
  const hidden = `${UNPARSED_FIELD}.${former}`;
  const stages = [{ $set: { [former]: { json: `$${hidden}` } } }, { $unset: UNPARSED_FIELD }];
  const filter = { [hidden]: { $type: "string" }, [former]: null };
  await collection.updateMany(filter, stages);
  // A document with a parsed time no longer needs the text beside it.
  const isLeft = { [hidden]: { $exists: true } };
  await collection.updateMany(isLeft, { $unset: { [UNPARSED_FIELD]: "" } });
}

/** Moves text that is no time out of the new timestamp column. */
async function hideUnparsedTimes(collection: Collection, time: string): Promise<void> {
  const text = `${time}.json`;
  const stages = [
    { $set: { [UNPARSED_FIELD]: { [time]: `$${text}` } } },
    { $set: { [time]: null } },
  ];
  await collection.updateMany({ [text]: { $type: "string" } }, stages);
}
