// Makes the tables of the registry, and changes them with it. D-2.4, D-7.6.
import { randomBytes } from "node:crypto";
import { hashHex } from "../../../domain/shared/text.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import type { Column } from "../../../domain/sync/table/table.ts";
import type { PostgresDatabase } from "../driver/database.ts";
import { WRITES_OWN } from "../driver/schema.ts";
import { literal, nameText, quoted } from "../driver/sql.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { serverType } from "./columns.ts";
import type { FoundTable, SeenTable, TableEntryKept } from "./found.ts";
import {
  FIRING,
  identityText,
  indexChanges,
  keyIndexTexts,
  MARK,
  orderIndexTexts,
  servingIndex,
} from "./found-table.ts";
import type { Layout } from "./layout.ts";
import { examineTables, fits, hasColumns, lackingColumns } from "./table-fit.ts";
import { MAKES_TRIGGER, triggersText } from "./triggers.ts";

const KEEP = `
insert into repsync._tables as t (name, entry, deletes, complete_since) values ($1::text, $2::text, $3::text, $4::text)
on conflict (name) do update set entry = excluded.entry, deletes = excluded.deletes, complete_since = coalesce(excluded.complete_since, t.complete_since),
  last_place = case when t.deletes is not distinct from excluded.deletes then t.last_place else 0 end`;

export async function prepareTables(
  database: PostgresDatabase,
  layouts: readonly Layout[],
  isServed: boolean,
): Promise<void> {
  await database.change("tables.prepare", async (tx) => {
    await examineTables(tx, layouts, isServed);
    for (const layout of layouts) await prepare(tx, layout);
  });
}

async function prepare(tx: ServerTransaction, layout: Layout, isLocked = false): Promise<void> {
  const { isForeign, table } = layout;
  const { kept, table: there } = layout.found;
  const indexes = indexChanges(layout);
  const entryNow = JSON.stringify(entryOf(layout, kept));
  const isSame = there !== null && JSON.stringify(kept) === entryNow;
  const hasAll = indexes.length === 0 && there !== null && hasColumns(table, there.columns);
  if (isSame && hasAll && wasWatched(layout)) return;
  const staysThere = there !== null && (there.hasRows || isForeign || fits(layout));
  if (there !== null && !staysThere && !isLocked) {
    // Somebody may be writing its first row.
    await tx.script(`lock table ${layout.name} in access exclusive mode`);
    await examineTables(tx, [layout]);
    return await prepare(tx, layout, true);
  }
  if (staysThere) {
    if (!isForeign) await changeTable(tx, layout, there);
    await tx.script(indexes.join("\n"));
    if (!isForeign && indexes.length > 0) await tx.script(identityText(layout));
  } else await makeTable(tx, layout);
  const entry = entryOf(layout, staysThere ? kept : null);
  const { list, completeSince } = await makeDeletes(tx, layout);
  await tx.script(triggersText(layout));
  await tx.query(KEEP, [table.name, JSON.stringify(entry), list, completeSince]);
}

/** False where the table or a trigger was dropped, or one switched off: nothing has recorded the writes since. */
function wasWatched(layout: Layout): boolean {
  const { kept, table } = layout.found;
  if (table === null) return false;
  if (kept?.triggers !== hashHex(triggersText(layout))) return table.hasTriggers;
  return table.triggers === triggerCount(layout);
}

function triggerCount(layout: Layout): number {
  return triggersText(layout).split(MAKES_TRIGGER).length - 1;
}

const TRIGGERS = `
select ${FIRING}
from pg_class as c where c.oid = to_regclass($1::text) and not exists (select from pg_inherits where c.oid in (inhrelid, inhparent))`;

/** True where all triggers of a prepared table fire: false for no table, and one that shares its rows. */
export async function watchedNow(tx: ServerTransaction, layout: Layout): Promise<boolean> {
  return Number(await tx.first(TRIGGERS, [layout.name])) >= triggerCount(layout);
}

/**
 * False where a table lacks columns, or any of its type, an index, or triggers that fire, where an obstacle is in the way, and where triggers
 * of the application came or went.
 */
export function isWhole(layout: Layout, there: SeenTable): boolean {
  const { keyIndex, orderIndex, table } = layout;
  const { indexNames, kind, obstacles, triggers } = there;
  const hasKey = indexNames.includes(keyIndex) || servingIndex(layout, there) !== undefined;
  const hasOrder = table.timestampColumn === null || indexNames.includes(orderIndex);
  const isUsable = kind === "table" && obstacles.length === 0;
  const isSound = isUsable && hasKey && hasOrder && triggers >= triggerCount(layout);
  const isTold = !layout.isWatched || there.hasSetters === layout.hasSetters;
  return isSound && isTold && hasColumns(table, there.columns);
}

/** Columns that the registry has dropped stay while they exist. */
function entryOf(layout: Layout, before: TableEntryKept | null): TableEntryKept {
  const { found, table } = layout;
  const names = found.table?.columns.map(({ name }) => name) ?? [];
  const columns = [
    ...Object.entries(before?.columns ?? {}).filter(([name]) => names.includes(name)),
    ...table.columns.map(({ name, type }) => [name, type] as const),
  ];
  return {
    columns: Object.fromEntries(columns),
    key: table.keyColumns.map(({ name }) => name),
    timestamp: table.timestampColumn,
    deletes: table.deletes,
    numbered: layout.numbered !== null,
    triggers: hashHex(triggersText(layout)),
    ...(layout.isForeign ? { isForeign: true } : {}),
    schema: layout.schema,
  };
}

async function makeTable(tx: ServerTransaction, layout: Layout): Promise<void> {
  const { name, table } = layout;
  const columns = table.columns.map(columnText);
  await tx.script(`drop table if exists ${name};
create table ${name} (${columns.join(", ")});
comment on table ${name} is ${literal(MARK)};
${[...keyIndexTexts(layout, "unique"), ...orderIndexTexts(layout)].join("\n")}
${identityText(layout)}`);
  await numberRows(tx, layout);
}

async function changeTable(
  tx: ServerTransaction,
  layout: Layout,
  there: FoundTable,
): Promise<void> {
  if (!there.isMarked) {
    await tx.script(`comment on table ${layout.name} is ${literal(MARK)}`);
  }
  for (const column of lackingColumns(layout.table, there)) {
    await tx.script(`alter table ${layout.name} add column ${columnText(column)}`);
  }
  await numberRows(tx, layout);
}

function columnText(column: Column): string {
  return `${quoted(column.name)} ${serverType(column)}${column.isKey ? " not null" : ""}`;
}

/** Numbers rows, and has the server number the rows of other programs. */
async function numberRows(tx: ServerTransaction, layout: Layout): Promise<void> {
  const { name, numbered, numbers } = layout;
  if (numbered === null) return;
  const id = quoted(numbered.name);
  const next = `nextval(${literal(numbers)}::regclass)`;
  await tx.query(WRITES_OWN, [String(layout.slot)]);
  await tx.script(`create sequence if not exists ${numbers};
alter table ${name} alter column ${id} set default ${next};
update ${name} set ${id} = ${next} where ${id} is null;`);
}

/** Begins, continues or interrupts the record of deletes, by the registry. */
async function makeDeletes(
  tx: ServerTransaction,
  layout: Layout,
): Promise<{ readonly list: string | null; readonly completeSince: string | null }> {
  const { deleted, table, short } = layout;
  const { kept: before, list } = layout.found;
  const types = (names: readonly string[]) =>
    names.map((name) => `${name} ${before?.columns[name]}`).join();
  const key = table.keyColumns.map(({ name, type }) => `${name} ${type}`).join();
  const isSameKey = before !== null && types(before.key) === key;
  const known = isSameKey ? list : null;
  if (!table.deletes) return { list: known, completeSince: null };
  const completeSince = formatMs(tx.nowMs);
  const goesOn = before?.deletes === true && wasWatched(layout);
  if (known !== null) {
    // Stores of former versions lack it. Not `xmin`: that differs between the savepoints of a transaction.
    await tx.script(`alter table ${deleted} add column if not exists repsync_xact xid8`);
    return { list: known, completeSince: goesOn ? null : completeSince };
  }
  const keys = nameText(table.keyColumns);
  const columns = table.keyColumns.map(columnText).join(", ");
  await tx.script(`drop table if exists ${deleted};
create table ${deleted} (${columns}, deleted_at timestamptz not null, taken_ms int8 not null, repsync_xact xid8, place int8, made bigserial, primary key (${keys}));
create index ${quoted(`_deleted_place_${short}`)} on ${deleted} (place);
comment on table ${deleted} is ${literal(`The rows that were deleted of ${layout.name}`)};`);
  return { list: randomBytes(6).toString("hex"), completeSince };
}
