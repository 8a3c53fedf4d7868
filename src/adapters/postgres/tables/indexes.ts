// The indexes by which rows are found: one on the upsert key, and one on the order where a table has times.
import { isInOrder, servingKey } from "../../../domain/sync/table/table-refusals.ts";
import { nameText, quoted } from "../driver/sql.ts";
import { type Found, type FoundTable, isForeign } from "./found-table.ts";
import type { Layout } from "./layout.ts";

/** Statements that make what a table lacks, and drop what it does not need any more. */
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

/** The unique index of another program on the upsert key, whatever the order of its columns; undefined without one. */
export function servingIndex({ table, keyIndex }: Layout, { indexes }: FoundTable) {
  const others = indexes.filter(({ name, isUnique }) => isUnique && name !== keyIndex);
  return servingKey(table, others);
}

/** True where the table has the unique index on the key that repsync makes. */
export function hasOwnKeyIndex({ keyIndex, table }: Layout, { indexes }: FoundTable): boolean {
  const own = indexes.find(({ name }) => name === keyIndex);
  return own?.isUnique === true && isInOrder(own, table);
}

/** Makes it anew. */
export function keyIndexTexts(layout: Layout, how: "unique" | "plain"): readonly string[] {
  const { keyIndex, name, table } = layout;
  const index = how === "unique" ? "unique index" : "index";
  return [
    dropText(layout, keyIndex),
    `create ${index} ${quoted(keyIndex)} on ${name} (${nameText(table.keyColumns)});`,
  ];
}

/** Sets the index by which a publication tells rows apart, where a table has no primary key. */
export function identityText({ keyIndex, name }: Layout): string {
  return `alter table ${name} replica identity using index ${quoted(keyIndex)};`;
}

/** Makes it anew; without a time that of the key is enough. */
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
