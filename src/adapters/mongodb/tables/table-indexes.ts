// The indexes that a table needs, the indexes that serve in their place, and problems with making them.
import { BSON, type Db, type IndexDescriptionInfo } from "mongodb";
import { isOfPeople } from "../../../domain/sync/people/name-facts.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { type IndexKeys, layoutOf } from "./table-layout.ts";

const OWN_INDEX = "repsync_";
/** MongoDB's limits: of a collection's indexes, of an index's fields, and of their names as a document. */
const MAX_INDEXES = 64;
const MAX_INDEX_FIELDS = 32;
const MAX_INDEX_KEYS_BYTES = 2048;

interface FoundIndexes {
  readonly table: Table;
  readonly isForeign: boolean;
  readonly indexes: readonly IndexDescriptionInfo[];
}

/** The keys of every needed index, the one on the upsert key first. */
export function neededIndexes(table: Table): readonly IndexKeys[] {
  const { keyIndex, orderIndex } = layoutOf(table);
  const ofPeople = isOfPeople(table) && table.keyColumns[0]?.name !== "username";
  return [...new Set([keyIndex, orderIndex]), ...(ofPeople ? [{ username: 1 } as const] : [])];
}

/** Column names have no hyphen, so index names differ. */
export function ownIndexName(keys: IndexKeys): string {
  return `${OWN_INDEX}${Object.keys(keys).join("-")}`;
}

/** The index that serves for these keys. For the upsert key or the order it must have every row, and compare by bytes. */
export function findIndex(
  { table, indexes }: Pick<FoundIndexes, "table" | "indexes">,
  keys: IndexKeys,
): IndexDescriptionInfo | undefined {
  const { keyIndex, orderIndex } = layoutOf(table);
  const isOfRows = keys === keyIndex || keys === orderIndex;
  const serves = (index: IndexDescriptionInfo) => !isOfRows || isPlain(index, keys === keyIndex);
  return indexes.find((index) => hasKeys(index, keys) && serves(index));
}

function isPlain(index: IndexDescriptionInfo, isUnique: boolean): boolean {
  return (
    !index.sparse &&
    !index.hidden &&
    index["partialFilterExpression"] === undefined &&
    index["collation"] === undefined &&
    (!isUnique || index.unique === true)
  );
}

function hasKeys(index: IndexDescriptionInfo, keys: IndexKeys): boolean {
  return JSON.stringify(index.key) === JSON.stringify(keys);
}

/** True for an own index of a former upsert key: a unique one would refuse rows, a plain one on the new key would allow repeated keys. */
export function isOfFormerKey(index: IndexDescriptionInfo, table: Table): boolean {
  if (!index.name?.startsWith(OWN_INDEX)) return false;
  return hasKeys(index, layoutOf(table).keyIndex) !== (index.unique === true);
}

export function widthProblems(table: Table): string[] {
  const { orderIndex } = layoutOf(table);
  const widest = Object.keys(orderIndex).length;
  if (widest > MAX_INDEX_FIELDS) {
    return [
      `its order has ${widest} columns, the timestamp and the upsert key, and MongoDB's indexes at most ${MAX_INDEX_FIELDS}: shorten the key`,
    ];
  }
  const bytes = BSON.calculateObjectSize(orderIndex);
  if (bytes <= MAX_INDEX_KEYS_BYTES) return [];
  return [
    `the names of the columns of its order, the timestamp and the upsert key, take ${bytes} bytes in an index of MongoDB, ${MAX_INDEX_KEYS_BYTES} are allowed: shorten the names, or the key`,
  ];
}

/** Why missing indexes cannot be made; in a table of repsync also what to do. */
export function indexProblems(found: FoundIndexes): string[] {
  const { table, indexes, isForeign } = found;
  const missing = neededIndexes(table).filter((keys) => findIndex(found, keys) === undefined);
  const problems = missing.flatMap((keys) => {
    const names = Object.keys(keys).join(", ");
    const other = indexes.find((index) => hasKeys(index, keys));
    if (other !== undefined) {
      const needed = keys === layoutOf(table).keyIndex ? "a plain unique index" : "a plain index";
      return isForeign
        ? [`its index ${other.name} on (${names}) is in the way of ${needed} there`]
        : [`its index ${other.name} is not ${needed}: drop it, it is then made anew`];
    }
    const named = indexes.find(({ name }) => name === ownIndexName(keys));
    if (named === undefined) return [];
    return [`its index ${named.name} has the name of the index on (${names}) that is needed there`];
  });
  if (problems.length > 0 || indexes.length + missing.length <= MAX_INDEXES) return problems;
  const needed = missing.map((keys) => `(${Object.keys(keys).join(", ")})`).join(" and ");
  return [
    `it has ${indexes.length} indexes, MongoDB allows ${MAX_INDEXES}, and it needs one on ${needed}`,
  ];
}

/** Names of indexes of prepared tables, by database. */
const names = new WeakMap<Db, Map<string, string>>();

export function noteIndexName(db: Db, table: Table, keys: IndexKeys, name: string): void {
  names.getOrInsertComputed(db, () => new Map()).set(placeOf(table, keys), name);
}

/** An index as a hint. MongoDB takes no keys as a hint where another program has a second index on them. */
export function hintOf(db: Db, table: Table, keys: IndexKeys): string | IndexKeys {
  return names.get(db)?.get(placeOf(table, keys)) ?? keys;
}

function placeOf({ name }: Table, keys: IndexKeys): string {
  return `${name} ${Object.keys(keys).join(" ")}`;
}
