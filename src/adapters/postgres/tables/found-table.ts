// Finds what has the name of a table, and the changes of its indexes.
import { isInOrder, servingKey } from "../../../domain/sync/table/table-refusals.ts";
import { literal, nameText, quoted, textList } from "../driver/sql.ts";
import { isPrepared } from "../driver/store-facts.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import type { FoundTable, SeenTable, TableEntryKept } from "./found.ts";
import type { Layout } from "./layout.ts";
import { IS_OWN_TRIGGER } from "./triggers.ts";

/** The comment on tables of repsync: another program may have put its own table in the place of a dropped one. */
export const MARK = "Made by repsync";

/** In SQL, true where repsync may alter and index table `c`. */
const IS_OWNED =
  "(pg_has_role(c.relowner, 'USAGE') and has_schema_privilege(c.relnamespace, 'CREATE'))";
/** In SQL, the number of repsync's triggers on table `c` that fire as they should. */
export const FIRING = `(select count(*) from pg_trigger where tgrelid = c.oid and ${IS_OWN_TRIGGER} and (tgenabled = 'A' or tgenabled = 'O' and not ${IS_OWNED}))`;
const KEPT = "select name, entry, deletes from repsync._tables where name = any($1::text[])";
/** In SQL, true where column `a` orders texts by bytes, by its own collation or the database's. */
const IS_C = `a.attcollation = 'pg_catalog."C"'::regcollation or l.collname = 'default' and (d.datlocprovider = 'b' or d.datlocprovider = 'c' and d.datcollate in ('C', 'POSIX'))`;
const COLUMNS = `
select json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod), 'mayBeNull', not a.attnotnull or exists (select from pg_constraint where conrelid = c.oid and contype = 'n' and not convalidated and a.attnum = any(conkey)),
  'isGenerated', a.attgenerated <> '' or a.attidentity = 'a', 'isComputed', a.attgenerated <> '' and (select typtype <> 'd' from pg_type where oid = a.atttypid), 'isNumbered', has_sequence_privilege(pg_get_serial_sequence(asked.name, a.attname), 'USAGE') is true,
  'collation', coalesce(nullif(l.collname, 'default'), to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale', d.datcollate),
  'isOrderedByBytes', a.attcollation = 0 or ${IS_C}, 'isComparedByBytes', coalesce(l.collisdeterministic, true))
from pg_attribute as a left join pg_collation as l on l.oid = a.attcollation, pg_database as d
where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and d.datname = current_database()`;
const INDEX_COLUMNS = `
select a.attname
from unnest(i.indkey::int2[]) with ordinality as k(attnum, place) join pg_attribute as a on a.attrelid = c.oid and a.attnum = k.attnum
where k.place <= i.indnkeyatts order by k.place`;
const INDEXES = `
select json_build_object('name', n.relname, 'columns', array(${INDEX_COLUMNS}), 'isUnique', i.indisunique, 'isDeferrable', not i.indimmediate,
  'isAscending', 0 = all (i.indoption::int2[]))
from pg_index as i join pg_class as n on n.oid = i.indexrelid
where i.indrelid = c.oid and i.indisvalid and i.indpred is null and i.indexprs is null and not exists (
  select from unnest(i.indkey::int2[], i.indcollation::oid[], i.indclass::oid[]) as k(attnum, collated, class)
  join pg_attribute as a on a.attrelid = c.oid and a.attnum = k.attnum join pg_opclass as p on p.oid = k.class
  where k.collated <> a.attcollation or not p.opcdefault)`;
const OBSTACLES = `
select text from (values
  ('it shares rows with other tables: they are its partitions, or inherit from it, or it from them', exists (select from pg_inherits where inhrelid = c.oid or inhparent = c.oid)),
  ('a crash of the server empties it, as it is unlogged', c.relpersistence <> 'p'),
  ('rules rewrite what is written', exists (select from pg_rewrite where ev_class = c.oid)),
  ('policies hide rows of it', row_security_active(c.oid)),
  (format('the user may not read and write it: let its owner say grant select, insert, update, delete on %s to %I', asked.name, current_user),
    not (has_table_privilege(c.oid, 'SELECT') and has_table_privilege(c.oid, 'INSERT') and has_table_privilege(c.oid, 'UPDATE') and has_table_privilege(c.oid, 'DELETE')))
) as obstacle(text, is_there) where is_there`;
/** In SQL, true where triggers of the application may change a row of table `c` before it is written. */
const HAS_SETTERS = `exists (select from pg_trigger where tgrelid = c.oid and not ${IS_OWN_TRIGGER} and tgtype & 3 = 3 and tgtype & 20 > 0)`;
const LOOK = `
select asked.name, json_build_object(
  'kind', case c.relkind when 'r' then 'table' when 'p' then 'partitioned table' when 'v' then 'view' when 'm' then 'materialized view'
    when 'f' then 'foreign table' when 'S' then 'sequence' when 'c' then 'type' else 'index' end,
  'obstacles', array(${OBSTACLES}), 'columns', array(${COLUMNS}), 'indexes', array(${INDEXES}),
  'indexNames', array(select n.relname from pg_index as i join pg_class as n on n.oid = i.indexrelid where i.indrelid = c.oid),
  'isMarked', obj_description(c.oid, 'pg_class') is not distinct from ${literal(MARK)}, 'user', quote_ident(current_user), 'isOwned', ${IS_OWNED}, 'mayTrigger', has_table_privilege(c.oid, 'TRIGGER'),
  'hasSetters', ${HAS_SETTERS}, 'isReplicated', exists (select from pg_subscription_rel where srrelid = c.oid),
  'triggers', ${FIRING}, 'hasTriggers', exists (select from pg_trigger where tgrelid = c.oid and ${IS_OWN_TRIGGER}))::text
from unnest($1::text[]) as asked(name) join pg_class as c on c.oid = to_regclass(asked.name)`;

/** Finds what has the names of tables. */
export async function findTables(tx: ServerTransaction, layouts: readonly Layout[]): Promise<void> {
  const isUsed = await isPrepared(tx);
  const names = textList(layouts.map(({ table }) => table.name));
  const kept = new Map<unknown, readonly unknown[]>();
  for (const [name, ...line] of isUsed ? await tx.query(KEPT, [names]) : []) kept.set(name, line);
  const looked = await lookAt(tx, layouts);
  await Promise.all(
    layouts.map(async (layout) => {
      const { name, schema, table } = layout;
      const [text, list] = kept.get(table.name) ?? [];
      const entry = typeof text === "string" ? (JSON.parse(text) as TableEntryKept) : null;
      const isOfSchema = entry !== null && (entry.schema ?? schema) === schema;
      const found = looked.get(name);
      layout.found = {
        kept: isOfSchema ? entry : null,
        list: isOfSchema && typeof list === "string" ? list : null,
        table: found === undefined ? null : await withRows(tx, name, found),
      };
    }),
  );
}

/** What has the names of tables, by name. */
export async function lookAt(
  tx: ServerTransaction,
  layouts: readonly Layout[],
): Promise<ReadonlyMap<unknown, SeenTable>> {
  const found = await tx.query(LOOK, [textList(layouts.map(({ name }) => name))]);
  return new Map(found.map(([name, text]) => [name, JSON.parse(String(text)) as SeenTable]));
}

async function withRows(
  tx: ServerTransaction,
  name: string,
  table: SeenTable,
): Promise<FoundTable> {
  const isReadable = table.kind === "table" && table.obstacles.length === 0;
  const hasRows = !isReadable || (await tx.first(`select exists (select from ${name})`)) === true;
  return { ...table, hasRows };
}

export async function hasDuplicates(
  tx: ServerTransaction,
  { name, table }: Layout,
): Promise<boolean> {
  const keys = nameText(table.keyColumns);
  const text = `select exists (select from ${name} group by ${keys} having count(*) > 1)`;
  return (await tx.first(text)) === true;
}

/** Statements that make missing indexes, on the upsert key and on the order where a table has times, and drop needless ones. */
export function indexChanges(layout: Layout): readonly string[] {
  const { kept, table: there } = layout.found;
  if (there === null) return [];
  const { table, keyIndex, orderIndex } = layout;
  const changes: string[] = [];
  const serving = layout.isForeign ? servingIndex(layout, there) : undefined;
  const own = there.indexes.find(({ name }) => name === keyIndex);
  if (serving === undefined) {
    if (!hasOwnKeyIndex(layout, there)) changes.push(...keyIndexTexts(layout, "unique"));
  } else if (isInOrder(serving, table)) {
    if (own !== undefined) changes.push(dropText(layout, keyIndex));
  } else if (own === undefined || !isInOrder(own, table)) {
    changes.push(...keyIndexTexts(layout, "plain"));
  }
  const hasOrder = there.indexNames.includes(orderIndex);
  const key = table.keyColumns.map(({ name }) => name);
  const isAnother =
    kept !== null &&
    (kept.timestamp !== table.timestampColumn || kept.key.join("\n") !== key.join("\n"));
  if (isAnother || hasOrder === (table.timestampColumn === null)) {
    changes.push(...orderIndexTexts(layout));
  }
  return changes;
}

/** Another program's unique index on the upsert key, in any order of columns; undefined without one. */
export function servingIndex({ table, keyIndex }: Layout, { indexes }: SeenTable) {
  const others = indexes.filter(({ name, isUnique }) => isUnique && name !== keyIndex);
  return servingKey(table, others);
}

/** True where the table has repsync's unique index on the key. */
export function hasOwnKeyIndex({ keyIndex, table }: Layout, { indexes }: FoundTable): boolean {
  const own = indexes.find(({ name }) => name === keyIndex);
  return own?.isUnique === true && isInOrder(own, table);
}

/** Statements that make the index anew. */
export function keyIndexTexts(layout: Layout, how: "unique" | "plain"): readonly string[] {
  const { keyIndex, name, table } = layout;
  const index = how === "unique" ? "unique index" : "index";
  return [
    dropText(layout, keyIndex),
    `create ${index} ${quoted(keyIndex)} on ${name} (${nameText(table.keyColumns)});`,
  ];
}

/** The index by which a publication tells rows apart, in a table without a primary key. */
export function identityText({ keyIndex, name }: Layout): string {
  return `alter table ${name} replica identity using index ${quoted(keyIndex)};`;
}

/** Statements that make the index anew. Without a time they only drop it, as the index on the key is enough. */
export function orderIndexTexts(layout: Layout): readonly string[] {
  const { name, orderIndex, table } = layout;
  const drop = dropText(layout, orderIndex);
  if (table.timestampColumn === null) return [drop];
  const order = layout.order().map(({ text }) => text.replaceAll("t.", ""));
  return [drop, `create index ${quoted(orderIndex)} on ${name} (${order.join(", ")});`];
}

function dropText(layout: Layout, index: string): string {
  return `drop index if exists ${layout.inSchema(index)};`;
}
