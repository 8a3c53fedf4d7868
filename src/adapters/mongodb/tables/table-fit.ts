// Looks at a table's collection before it is prepared: what is there, and what a changed registry would break.
import type { Collection, Db, Document, IndexDescriptionInfo } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import { DROPPED_NAME, hasDroppedName } from "../../../domain/sync/people/name-facts.ts";
import type { ColumnType } from "../../../domain/sync/table/column-types.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { refuseTables } from "../../../domain/sync/table/table-refusals.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { COMMITTED } from "../driver/operations.ts";
import { foreignProblems, keyProblems, valueProblems } from "./row-problems.ts";
import {
  findIndex,
  indexProblems,
  isOfFormerKey,
  neededIndexes,
  widthProblems,
} from "./table-indexes.ts";
import { hasNumbers, layoutOf } from "./table-layout.ts";

export const TABLE_DEFINITIONS: InternalCollection = { name: "repsync_tables" };

/** A table as last prepared. Dropped columns stay, as documents keep their values. */
export interface TableDefinition {
  readonly _id: string;
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly upsert_key: readonly string[];
  readonly timestamp_column: string | null;
  /** The answer of `hasNumbers()`. */
  readonly has_numbers: boolean;
  /** True for a collection that another program had filled. */
  readonly is_foreign: boolean;
}

/** Keeps a definition durably. Without rows nothing of an earlier one stays. */
export async function saveDefinition(
  db: Db,
  { table, definition, hasRows, isForeign }: ExaminedTable,
): Promise<void> {
  const earlier = hasRows ? definition : null;
  const columns = table.columns.map(({ name, type }) => [name, type] as const);
  const kept = {
    columns: { ...earlier?.columns, ...Object.fromEntries(columns) },
    upsert_key: table.keyColumns.map(({ name }) => name),
    timestamp_column: table.timestampColumn,
    has_numbers: hasNumbers(table),
    is_foreign: isForeign,
  };
  await definitionsOf(db).updateOne({ _id: table.name }, { $set: kept }, { upsert: true });
}

function definitionsOf(db: Db): Collection<TableDefinition> {
  return db.collection(TABLE_DEFINITIONS.name);
}

export interface ExaminedTable {
  readonly table: Table;
  /** How the table was last prepared; null before the first time. */
  readonly definition: TableDefinition | null;
  /** True where another program's documents came first: they and their fields stay as they are. */
  readonly isForeign: boolean;
  /** True where it was never prepared, or another program has made the collection anew since, without the index on the key. */
  readonly isNew: boolean;
  readonly hasRows: boolean;
  /** The indexes that stay. */
  readonly indexes: readonly IndexDescriptionInfo[];
  /** Names of the indexes of a former upsert key, which are dropped first. */
  readonly formerIndexes: readonly string[];
  /** Why the table must not be prepared, and what to do. */
  readonly problems: readonly string[];
}

/** MongoDB 6.0, for tables with `deletes`. */
const MIN_WIRE_VERSION = 17;

/** Changes nothing. */
async function examineTable(db: Db, table: Table, rights: Rights): Promise<ExaminedTable> {
  const collection = db.collection(table.name);
  const [info] = await db.listCollections({ name: table.name }).toArray();
  const exists = info !== undefined;
  // Rows first: an instance that begins now keeps the definition before it writes a row.
  const hasRows = exists && (await collection.findOne({}, { projection: { _id: 1 } })) !== null;
  const definition = await definitionsOf(db).findOne({ _id: table.name }, COMMITTED);
  const isForeign = exists && (definition?.is_foreign ?? hasRows);
  const all = exists && info.type === "collection" ? await collection.indexes() : [];
  const former = all.filter((index) => isOfFormerKey(index, table));
  const indexes = all.filter((index) => !former.includes(index));
  const formerIndexes = former.flatMap(({ name }) => name ?? []);
  const hasIndex = findIndex({ table, indexes }, layoutOf(table).keyIndex) !== undefined;
  const isNew = definition === null || !hasIndex;
  const found = { table, definition, isForeign, isNew, hasRows, indexes, formerIndexes };
  const kindProblems = collectionProblems(info);
  const problems = [...widthProblems(table), ...kindProblems, ...indexProblems(found)];
  const makesIndexes = neededIndexes(table).some((keys) => findIndex(found, keys) === undefined);
  const work = { table, info, makesIndexes, dropsIndexes: former.length > 0 };
  problems.push(...rightsProblems(db, rights, work));
  if (hasRows && kindProblems.length === 0) {
    problems.push(...definitionProblems(table, definition));
    const isDropped = hasDroppedName(table, definition?.columns);
    if (isDropped && (await collection.findOne({ username: { $ne: null } })) !== null) {
      problems.push(DROPPED_NAME);
    }
    problems.push(...(await keyProblems(collection, found)));
    if (isNew) problems.push(...(await valueProblems(collection, table)));
    const hadNumbers = definition?.has_numbers === true;
    if (isForeign) problems.push(...(await foreignProblems(collection, table, hadNumbers)));
  }
  return { ...found, problems };
}

/** Looks at all tables without a change. Throws `schema_conflict` that names each refused one, and MongoDB's errors. */
export async function examineTables(db: Db, tables: readonly Table[]): Promise<ExaminedTable[]> {
  await checkVersion(db, tables);
  const rights = await readRights(db);
  const examinedTables: ExaminedTable[] = [];
  for (const table of tables) examinedTables.push(await examineTable(db, table, rights));
  refuseTables(
    examinedTables.map(({ table: { name: tableName }, isForeign, problems }) => {
      return { tableName, isForeign, problems };
    }),
  );
  return examinedTables;
}

/** Throws `schema_conflict` when the server is too old for tables with `deletes`. D-7.6. */
async function checkVersion(db: Db, tables: readonly Table[]): Promise<void> {
  const recorded = tables.filter(({ deletes }) => deletes);
  if (recorded.length === 0) return;
  const { maxWireVersion } = await db.command({ hello: 1 });
  const problem = versionProblem(Number(maxWireVersion), recorded);
  if (problem !== null) throw new AppError("schema_conflict", problem);
}

/** Null for a server that is new enough. */
export function versionProblem(wireVersion: number, tables: readonly Table[]): string | null {
  if (wireVersion >= MIN_WIRE_VERSION) return null;
  const names = tables.map(({ name }) => `Table "${name}"`).join(", ");
  return `${names}: "deletes" needs MongoDB 6.0 or later: upgrade MongoDB, or remove "deletes" from the registry`;
}

export function collectionProblems(info: Document | undefined): string[] {
  if (info === undefined) return [];
  if (info["type"] !== "collection" || info["options"]?.capped === true) {
    return [
      "its name belongs to a view, time series or capped collection: rename that, or the table",
    ];
  }
  if (info["options"]?.collation !== undefined) {
    return ["its collection has a collation of its own: copy the documents into one without"];
  }
  return [];
}

/** Changes of the registry that stored documents cannot follow. */
function definitionProblems(table: Table, definition: TableDefinition | null): string[] {
  if (definition === null) return [];
  const problems: string[] = [];
  const columns = new Map(Object.entries(definition.columns));
  for (const { name, type, nullable } of table.columns) {
    const storedType = columns.get(name);
    if (storedType === undefined && !nullable) {
      problems.push(
        `its new column "${name}" may not be null but its rows have no value: make it nullable`,
      );
    } else if (storedType !== undefined && storedType !== type) {
      problems.push(
        `its column "${name}" has rows of type ${storedType}, not ${type}: keep the type, or add a column with another name`,
      );
    }
  }
  const storedKey = definition.upsert_key.join(", ");
  const key = table.keyColumns.map(({ name }) => name).join(", ");
  if (storedKey !== key) {
    problems.push(
      `its rows have the upsert key (${storedKey}), not (${key}): keep the key, or empty the table`,
    );
  }
  return problems;
}

// The rights of the URL's user to a table's collection. A server without logins tells nothing.

interface Privilege {
  readonly resource: {
    readonly db?: string;
    readonly collection?: string;
    readonly anyResource?: boolean;
  };
  readonly actions: readonly string[];
}

/** Null where everybody may do everything. */
type Rights = readonly Privilege[] | null;

interface Work {
  readonly table: Table;
  readonly makesIndexes: boolean;
  readonly dropsIndexes: boolean;
  /** The collection as the server lists it; undefined when it does not exist. */
  readonly info: Document | undefined;
}

async function readRights(db: Db): Promise<Rights> {
  const { authInfo } = await db.command({ connectionStatus: 1, showPrivileges: true });
  const isAnybody = (authInfo?.authenticatedUsers ?? []).length === 0;
  return isAnybody ? null : (authInfo.authenticatedUserPrivileges ?? []);
}

/** Names missing privileges before a start changes anything. */
function rightsProblems({ databaseName }: Db, rights: Rights, work: Work): string[] {
  const { table, makesIndexes, dropsIndexes, info } = work;
  const hasPreImages = info?.["options"]?.["changeStreamPreAndPostImages"]?.enabled === true;
  const needed = ["find", "insert", "update", "remove", "collStats"];
  if (makesIndexes) needed.push("createIndex");
  if (dropsIndexes) needed.push("dropIndex");
  // An empty name stands for every database or collection.
  const isAt = (place: string | undefined, name: string) => place === "" || place === name;
  const may = (action: string, name = table.name) =>
    rights === null ||
    rights.some(({ actions, resource: { anyResource, db, collection } }) => {
      const isThere = anyResource === true || (isAt(db, databaseName) && isAt(collection, name));
      return isThere && actions.includes(action);
    });
  const lacking = needed.filter((action) => !may(action));
  // The change stream is that of the database.
  if (table.deletes && !may("changeStream", "")) lacking.push("changeStream");
  const roles = lacking.length === 0 ? [] : [`${lacking.join(", ")} (role readWrite)`];
  if (table.deletes && !hasPreImages && !may("collMod")) roles.push("collMod (role dbAdmin)");
  if (roles.length === 0) return [];
  return [`the user of STORAGE_URL lacks privileges there: ${roles.join(", ")}`];
}
