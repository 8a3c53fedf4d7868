// Checks that a found table can be the registry's, before anything is written. D-2.4, D-11.4. Another program's table fits where the
// columns are as repsync would make them; other declarations refuse single records at most.
import {
  DROPPED_NAME,
  hasDroppedName,
  isOfPeople,
} from "../../../domain/sync/people/name-facts.ts";
import { type Column, isNumberedByStore, type Table } from "../../../domain/sync/table/table.ts";
import {
  CHANGE_ADVICE,
  GENERATED,
  NOT_ADDED,
  onUpsertKey,
  otherLetters,
  refuseTables,
  sharedKey,
  takenName,
  WAS_THERE,
} from "../../../domain/sync/table/table-refusals.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { castType } from "./columns.ts";
import type { FoundColumn, FoundTable, TableEntryKept } from "./found.ts";
import {
  findTables,
  hasDuplicates,
  hasOwnKeyIndex,
  indexChanges,
  lookAt,
  servingIndex,
} from "./found-table.ts";
import type { Layout } from "./layout.ts";

/** Names that every table of the server has. */
const SYSTEM_COLUMNS = ["tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"];
const MAX_INDEX_COLUMNS = 32;
/** The columns of a tombstone beside its key. */
const TOMBSTONE_COLUMNS = ["deleted_at", "taken_ms", "repsync_xact", "place", "made"];

/** Throws `schema_conflict` where the database cannot have all tables. */
export async function examineTables(
  tx: ServerTransaction,
  layouts: readonly Layout[],
  isServed = false,
): Promise<void> {
  await findTables(tx, layouts);
  const refusals = [];
  for (const layout of layouts) {
    const { table } = layout.found;
    // An empty table of repsync may be made anew, but for one that is served.
    if (table !== null && isServed)
      layout.found = { ...layout.found, table: { ...table, hasRows: true } };
    const problems = await problemsOf(tx, layout);
    refusals.push({ tableName: layout.table.name, isForeign: layout.isForeign, problems });
  }
  refuseTables(refusals);
}

/**
 * Throws `schema_conflict` where the table has changed since it was examined, so that values would be rounded, or rows missed, in silence:
 * a column has another type, or there are obstacles, such as rows that came to be shared.
 */
export async function requireSame(tx: ServerTransaction, layout: Layout): Promise<void> {
  const { name, table, isForeign } = layout;
  const there = (await lookAt(tx, [layout])).get(name);
  const problems = table.columns.flatMap((column) => {
    const found = there?.columns.find((one) => one.name === column.name);
    const problem = found === undefined ? null : typeProblem(column, found);
    return problem === null ? [] : [`column "${column.name}" ${problem}`];
  });
  problems.push(...(there?.obstacles ?? []));
  refuseTables([{ tableName: table.name, isForeign, problems }]);
}

/** What names the version of the table's entry in the catalog, which changes where its rows are rewritten, and whether it may have heirs. */
const CATALOG_ENTRY = `
select concat_ws(' ', oid, xmin), relhassubclass from pg_class where oid = to_regclass($1::text)`;

/** `requireSame`, which a push of one row would feel, only where the table may have changed since that was asked. */
export async function requireSameSince(tx: ServerTransaction, layout: Layout): Promise<void> {
  const [[entry, mayHaveHeirs] = []] = await tx.query(CATALOG_ENTRY, [layout.name]);
  if (entry === layout.looked && mayHaveHeirs === false) return;
  await requireSame(tx, layout);
  layout.looked = entry;
}

/** True for a table of repsync that can be the registry's as it is. */
export function fits({ table, found: { kept, table: there } }: Layout): boolean {
  return kept !== null && there !== null && ownProblems(table, kept, there).length === 0;
}

/** The columns that a table of repsync gets. */
export function lackingColumns({ columns }: Table, there: FoundTable | null): readonly Column[] {
  return columns.filter(({ name }) => !there?.columns.some((column) => column.name === name));
}

/** Changes, by the registry or other hands, that stored rows cannot follow. */
function ownProblems(table: Table, kept: TableEntryKept, there: FoundTable): readonly string[] {
  const columns = table.columns.flatMap((column) => ownColumnProblem(column, kept, there) ?? []);
  return [...keyProblems(table, kept), ...columns];
}

function ownColumnProblem(column: Column, kept: TableEntryKept, there: FoundTable): string | null {
  const { name, type, nullable } = column;
  const known = Object.hasOwn(kept.columns, name) ? kept.columns[name] : undefined;
  const found = there.columns.find((one) => one.name === name);
  if (found === undefined) {
    if (known !== undefined) return `column "${name}" ${WAS_THERE}`;
    return nullable ? null : `the new column "${name}" must be nullable, as the table has rows`;
  }
  if (known !== undefined && known !== type) {
    return `column "${name}" is of type ${known}, not ${type}`;
  }
  const problem = typeProblem(column, found);
  return problem === null ? null : `column "${name}" ${problem}`;
}

function keyProblems({ keyColumns }: Table, kept: TableEntryKept): string[] {
  const key = keyColumns.map(({ name }) => name).join(", ");
  const before = kept.key.join(", ");
  return before === key ? [] : [`its rows have the upsert key ${before}, not ${key}`];
}

async function problemsOf(tx: ServerTransaction, layout: Layout): Promise<readonly string[]> {
  const problems = [...limitProblems(layout)];
  const { kept, table } = layout.found;
  if (table === null) return problems;
  if (table.kind !== "table") return [...problems, takenName(table.kind)];
  problems.push(...watchProblems(layout), ...table.obstacles);
  const isThere = table.columns.some(({ name }) => name === "username");
  if (isThere && hasDroppedName(layout.table, kept?.columns)) {
    const named = `select 1::int4 from ${layout.name} where username is not null limit 1`;
    if ((await tx.query(named)).length > 0) problems.push(DROPPED_NAME);
  }
  if (layout.isForeign) {
    const foreign = foreignProblems(layout, table);
    const changes = kept !== null && table.hasRows ? keyProblems(layout.table, kept) : [];
    problems.push(...foreign, ...changes);
    const isUnique = servingIndex(layout, table) !== undefined || hasOwnKeyIndex(layout, table);
    if (problems.length === 0 && !isUnique && (await hasDuplicates(tx, layout))) {
      problems.push(sharedKey(layout.table.keyColumns.map(({ name }) => name)));
    }
    return problems;
  }
  const changes = kept !== null && table.hasRows ? ownProblems(layout.table, kept, table) : [];
  if (changes.length > 0) problems.push(`${changes.join("; ")}. ${CHANGE_ADVICE}`);
  return problems;
}

/** Problems of names and keys that are too long for the server, or taken. */
function limitProblems(layout: Layout): readonly string[] {
  const { columns, deletes, keyColumns } = layout.table;
  const width = layout.order().length;
  const ofSystem = columns.filter(({ name }) => SYSTEM_COLUMNS.includes(name));
  const ofRecord = keyColumns.filter(({ name }) => deletes && TOMBSTONE_COLUMNS.includes(name));
  const tooWide = `its order has ${width} columns, the timestamp and the upsert key, and PostgreSQL's indexes at most ${MAX_INDEX_COLUMNS}: shorten the key`;
  return [
    ...ofSystem.map(
      ({ name }) =>
        `its column "${name}" has a name that PostgreSQL keeps for itself: give it another one`,
    ),
    ...(width > MAX_INDEX_COLUMNS ? [tooWide] : []),
    ...ofRecord.map(
      ({ name }) =>
        `its key column "${name}" has the name of one in its record of deletes: give it another one`,
    ),
  ];
}

/** Problems of writes that only triggers would notice. */
function watchProblems({ grant, isWatched, table }: Layout): readonly string[] {
  if (isWatched || !(table.deletes || isOfPeople(table))) return [];
  const what = table.deletes ? "its deletes are" : "what lookups answer from is";
  const why =
    grant === null
      ? ", and what comes by a subscription fires none"
      : `: let its owner say ${grant}`;
  return [`${what} noticed by triggers${why}`];
}

function foreignProblems(layout: Layout, there: FoundTable): string[] {
  const { table } = layout;
  const columns = table.columns.flatMap((column) => {
    const problem = columnProblem(column, there);
    return problem === null ? [] : [`column "${column.name}" ${problem}`];
  });
  const deferrable = there.indexes.filter(({ isDeferrable }) => isDeferrable);
  const makes = indexChanges(layout).filter((text) => text.startsWith("create"));
  const lacking = there.isOwned || columns.length > 0 ? [] : makes;
  return [
    ...columns,
    ...lacking.map((text) => `it lacks an index: let its owner say ${text.slice(0, -1)}`),
    ...onUpsertKey(table, deferrable).map(
      ({ name }) => `its key "${name}" is deferrable, so nothing can be upserted`,
    ),
  ];
}

function columnProblem(column: Column, { columns }: FoundTable): string | null {
  const there = columns.find(({ name }) => name === column.name);
  if (there === undefined) {
    const names = columns.map(({ name }) => name);
    return otherLetters(column.name, names) ?? NOT_ADDED;
  }
  const problem = typeProblem(column, there);
  if (problem !== null || !isNumberedByStore(column) || there.isNumbered) return problem;
  return "has no sequence of its own in the database that numbers rows, or none for this user";
}

/** True where the table has every column of the registry, of its type. */
export function hasColumns({ columns }: Table, there: readonly FoundColumn[]): boolean {
  return columns.every((column) => {
    const found = there.find(({ name }) => name === column.name);
    return found !== undefined && typeProblem(column, found) === null;
  });
}

function typeProblem(column: Column, there: FoundColumn): string | null {
  if (there.isGenerated) return GENERATED;
  const needed = castType(column);
  if (there.type !== needed) {
    return `is ${there.type} in the database, where ${column.type} is kept as ${needed}`;
  }
  if (column.isKey && there.mayBeNull) return "is of the key, and may be null in the database";
  if (there.isComparedByBytes && (there.isOrderedByBytes || !column.isKey)) return null;
  return `has the collation ${there.collation} in the database, where it is compared by bytes (collation "C")`;
}
