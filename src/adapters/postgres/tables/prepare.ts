// Makes the tables of the registry, and changes them where it has changed. D-2.4, D-7.6.
import { randomBytes } from "node:crypto";

import { hashHex } from "../../../domain/shared/hash.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type { Column, Table } from "../../../domain/sync/table/table.ts";
import { CHANGE_ADVICE, refuseTables } from "../../../domain/sync/table/table-refusals.ts";
import { PreparedTables } from "../../../ports/tables/table-store.ts";
import type { PostgresDatabase } from "../driver/database.ts";
import { literal, nameText, quoted } from "../driver/sql.ts";
import { isPrepared } from "../driver/store-facts.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { serverType } from "./columns.ts";
import type { Layout } from "./layout.ts";
import { triggersText } from "./triggers.ts";

/** What is kept of a table that was prepared. */
export interface TableEntryKept {
  /** Every column that it ever had, in the order of coming; the types are those of the registry. */
  readonly columns: Readonly<Record<string, Column["type"]>>;
  readonly key: readonly string[];
  readonly timestamp: string | null;
  readonly deletes: boolean;
  readonly numbered: boolean;
  /** A digest of its triggers: another version of repsync may make others. */
  readonly triggers: string;
}

interface Found {
  readonly kept: TableEntryKept | null;
  readonly isThere: boolean;
  readonly hasRows: boolean;
  readonly list: string | null;
  /** Triggers of repsync that always fire. */
  readonly triggers: number;
}

/** Names that every table of the server has. */
const SYSTEM_COLUMNS = ["tableoid", "ctid", "xmin", "xmax", "cmin", "cmax"];
/** The server's own limit. */
const MAX_INDEX_COLUMNS = 32;
/** What a tombstone has beside its key. */
const TOMBSTONE_COLUMNS = ["deleted_at", "taken_ms", "place", "made"];

const COUNT_TRIGGERS = `
select count(*)::int4 from pg_trigger where tgrelid = to_regclass($1::text) and tgname like 'repsync\\_%' and tgenabled = 'A'`;
const KEPT = "select entry, deletes from repsync._tables where name = $1::text";
const KEEP = `
insert into repsync._tables as t (name, entry, deletes, complete_since) values ($1::text, $2::text, $3::text, $4::text)
on conflict (name) do update set entry = excluded.entry, deletes = excluded.deletes, complete_since = coalesce(excluded.complete_since, t.complete_since),
  last_place = case when t.deletes is not distinct from excluded.deletes then t.last_place else 0 end`;

export async function prepareTables(
  database: PostgresDatabase,
  schema: string,
  layouts: readonly Layout[],
): Promise<PreparedTables> {
  await database.makeSchema();
  const tables = layouts.map(({ table }) => table);
  await database.change("tables.prepare", async (tx) => {
    for (const { layout, found } of await examineTables(tx, schema, layouts)) {
      await prepare(tx, layout, found);
    }
  });
  return new PreparedTables(tables);
}

/** What is there of tables. Throws `schema_conflict` where the database cannot have all of them. */
export async function examineTables(
  tx: ServerTransaction,
  schema: string,
  layouts: readonly Layout[],
): Promise<readonly { readonly layout: Layout; readonly found: Found }[]> {
  const isUsed = await isPrepared(tx);
  const examined: { layout: Layout; found: Found }[] = [];
  for (const layout of layouts) {
    examined.push({ layout, found: await find(tx, schema, layout, isUsed) });
  }
  const described = examined.map(({ layout, found }) => ({
    tableName: layout.table.name,
    isForeign: found.isThere && found.kept === null,
    problems: problemsOf(layout, found),
  }));
  refuseTables(described);
  return examined;
}

async function find(
  tx: ServerTransaction,
  schema: string,
  layout: Layout,
  isUsed: boolean,
): Promise<Found> {
  const [[entry, list] = []] = isUsed ? await tx.query(KEPT, [layout.table.name]) : [];
  const name = `${quoted(schema)}.${quoted(layout.table.name)}`;
  const [[isThere] = []] = await tx.query("select to_regclass($1::text) is not null", [name]);
  const [[triggers] = []] = await tx.query(COUNT_TRIGGERS, [name]);
  const rows = isThere === true ? await tx.query(`select exists (select from ${layout.name})`) : [];
  return {
    kept: typeof entry === "string" ? (JSON.parse(entry) as TableEntryKept) : null,
    isThere: isThere === true,
    hasRows: rows[0]?.[0] === true,
    list: typeof list === "string" ? list : null,
    triggers: Number(triggers),
  };
}

function problemsOf(layout: Layout, { kept, isThere, hasRows }: Found): readonly string[] {
  const problems = [...limitProblems(layout)];
  if (isThere && kept === null) {
    problems.push("tables of other programs are not used in PostgreSQL yet");
  }
  const changes = kept !== null && hasRows ? changeProblems(layout.table, kept) : [];
  if (changes.length > 0) problems.push(`${changes.join("; ")}. ${CHANGE_ADVICE}`);
  return problems;
}

/** What the server has no room or another use for. */
function limitProblems(layout: Layout): readonly string[] {
  const { columns, deletes, keyColumns } = layout.table;
  const problems = columns.flatMap(({ name }) =>
    SYSTEM_COLUMNS.includes(name)
      ? [`its column "${name}" has a name that PostgreSQL keeps for itself: give it another one`]
      : [],
  );
  const width = layout.order().length;
  if (width > MAX_INDEX_COLUMNS) {
    problems.push(
      `its order has ${width} columns, the timestamp and the upsert key, and PostgreSQL's indexes at most ${MAX_INDEX_COLUMNS}: shorten the key`,
    );
  }
  for (const { name } of deletes ? keyColumns : []) {
    if (!TOMBSTONE_COLUMNS.includes(name)) continue;
    problems.push(
      `its key column "${name}" has the name of one in its record of deletes: give it another one`,
    );
  }
  return problems;
}

/** Changes of the registry that the rows of a table cannot follow. */
function changeProblems(table: Table, kept: TableEntryKept): readonly string[] {
  const problems: string[] = [];
  const key = table.keyColumns.map(({ name }) => name);
  if (kept.key.join() !== key.join()) {
    problems.push(`its rows have the upsert key ${kept.key.join(", ")}, not ${key.join(", ")}`);
  }
  for (const { name, type, nullable } of table.columns) {
    const known = Object.hasOwn(kept.columns, name) ? kept.columns[name] : undefined;
    if (known === undefined && !nullable) {
      problems.push(`the new column "${name}" must be nullable, as the table has rows`);
    }
    if (known !== undefined && known !== type) {
      problems.push(`column "${name}" is of type ${known}, not ${type}`);
    }
  }
  return problems;
}

async function prepare(tx: ServerTransaction, layout: Layout, found: Found): Promise<void> {
  const { table } = layout;
  const before = found.kept;
  const isWhole = isWatched(layout, found);
  const isSame = before !== null && found.isThere && isSameEntry(before, entryOf(layout, before));
  if (isSame && isWhole && (found.list !== null || !table.deletes)) return;
  const isKept =
    before !== null &&
    found.isThere &&
    (found.hasRows || changeProblems(table, before).length === 0);
  const known = isKept ? before : null;
  if (known === null) await makeTable(tx, layout);
  else await changeTable(tx, layout, known);
  const entry = entryOf(layout, known);
  const { list, completeSince } = await makeDeletes(tx, layout, found, before);
  await tx.script(triggersText(layout));
  await tx.query(KEEP, [table.name, JSON.stringify(entry), list, completeSince]);
}

/** False where somebody has dropped or switched off a trigger: what was written since nobody has recorded. */
function isWatched(layout: Layout, { kept, isThere, triggers }: Found): boolean {
  const text = triggersText(layout);
  if (!isThere || kept?.triggers !== hashHex(text)) return true;
  return triggers === text.split("create trigger ").length - 1;
}

function entryOf(layout: Layout, before: TableEntryKept | null): TableEntryKept {
  const { table } = layout;
  const columns = [
    ...Object.entries(before?.columns ?? {}),
    ...table.columns.map(({ name, type }) => [name, type] as const),
  ];
  return {
    columns: Object.fromEntries(columns),
    key: table.keyColumns.map(({ name }) => name),
    timestamp: table.timestampColumn,
    deletes: table.deletes,
    numbered: layout.numbered !== null,
    triggers: hashHex(triggersText(layout)),
  };
}

function isSameEntry(a: TableEntryKept, b: TableEntryKept): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

async function makeTable(tx: ServerTransaction, layout: Layout): Promise<void> {
  const { name, table, short } = layout;
  const keys = nameText(table.keyColumns);
  const columns = table.columns.map(columnText);
  await tx.script(`drop table if exists ${name};
create table ${name} (${columns.join(", ")});
create unique index ${quoted(`repsync_key_${short}`)} on ${name} (${keys});`);
  await orderRows(tx, layout);
  await numberRows(tx, layout);
}

async function changeTable(
  tx: ServerTransaction,
  layout: Layout,
  before: TableEntryKept,
): Promise<void> {
  for (const column of layout.table.columns) {
    if (Object.hasOwn(before.columns, column.name)) continue;
    await tx.script(`alter table ${layout.name} add column ${columnText(column)}`);
  }
  if (before.timestamp !== layout.table.timestampColumn) await orderRows(tx, layout);
  await numberRows(tx, layout);
}

function columnText(column: Column): string {
  return `${quoted(column.name)} ${serverType(column)}${column.isKey ? " not null" : ""}`;
}

/** The index of the table's order; without a time that of the key is enough. */
async function orderRows(tx: ServerTransaction, layout: Layout): Promise<void> {
  const { name, table, short } = layout;
  const schema = name.slice(0, name.length - quoted(table.name).length);
  const index = quoted(`repsync_order_${short}`);
  const order = layout.order().map(({ text }) => text.replaceAll("t.", ""));
  const make =
    table.timestampColumn === null ? "" : `create index ${index} on ${name} (${order.join(", ")});`;
  await tx.script(`drop index if exists ${schema}${index}; ${make}`);
}

/** Rows without a number get one, in the order of the key, and so do those that other programs add. */
async function numberRows(tx: ServerTransaction, layout: Layout): Promise<void> {
  const { name, numbered, numbers, table } = layout;
  if (numbered === null) return;
  const id = quoted(numbered.name);
  const keys = nameText(table.keyColumns);
  await tx.script(`create sequence if not exists ${numbers};
alter table ${name} alter column ${id} set default nextval(${literal(numbers)}::regclass);
update ${name} as t set ${id} = n.number from (
  select k.ctid, nextval(${literal(numbers)}::regclass) as number
  from (select ctid from ${name} where ${id} is null order by ${keys}) as k
) as n where t.ctid = n.ctid;`);
}

/** The record of deletes begins, goes on or is interrupted, as the registry says. */
async function makeDeletes(
  tx: ServerTransaction,
  layout: Layout,
  found: Found,
  before: TableEntryKept | null,
): Promise<{ readonly list: string | null; readonly completeSince: string | null }> {
  const { deleted, table, short } = layout;
  const types = (names: readonly string[]) =>
    names.map((name) => `${name} ${before?.columns[name]}`).join();
  const key = table.keyColumns.map(({ name, type }) => `${name} ${type}`).join();
  const isSameKey = before !== null && types(before.key) === key;
  const known = isSameKey ? found.list : null;
  if (!table.deletes) return { list: known, completeSince: null };
  const completeSince = formatMs(tx.nowMs);
  const goesOn = before?.deletes === true && isWatched(layout, found);
  if (known !== null) return { list: known, completeSince: goesOn ? null : completeSince };
  const keys = nameText(table.keyColumns);
  const columns = table.keyColumns.map(columnText).join(", ");
  await tx.script(`drop table if exists ${deleted};
create table ${deleted} (${columns}, deleted_at timestamptz not null, taken_ms int8 not null, place int8, made bigserial, primary key (${keys}));
create index ${quoted(`_deleted_place_${short}`)} on ${deleted} (place);
comment on table ${deleted} is ${literal(`The rows that were deleted of ${layout.name}`)};`);
  return { list: randomBytes(6).toString("hex"), completeSince };
}
