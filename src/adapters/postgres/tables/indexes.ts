// The indexes that find rows: on the upsert key, and on the order where a table has times.
import { isInOrder, servingKey } from "../../../domain/sync/table/table-refusals.ts";
import { nameText, quoted } from "../driver/sql.ts";
import { type Found, type FoundTable, isForeign } from "./found-table.ts";
import type { Layout } from "./layout.ts";

/** Statements that make missing indexes and drop needless ones. */
export function indexChanges(layout: Layout, found: Found): readonly string[] {
  const { kept, table: there } = found;
  if (there === null) return [];
  const { table, keyIndex, orderIndex } = layout;
  const changes: string[] = [];
  const serving = isForeign(found) ? servingIndex(layout, there) : undefined;
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
export function servingIndex({ table, keyIndex }: Layout, { indexes }: FoundTable) {
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
