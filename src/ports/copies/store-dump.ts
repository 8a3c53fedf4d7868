// A whole store in one form that every kind reads and writes: backups, restores and moves are made of it. D-10.7.
import type { ColumnType } from "../../domain/sync/table/column-types.ts";
import type { TableEntry } from "../../domain/sync/table/registry-schema.ts";
import { buildTable, type Row, type Table } from "../../domain/sync/table/table.ts";
import type { AnyCollection } from "../documents.ts";

export interface DumpedStore {
  readonly store: StoreKind;
  readonly deploymentId: string;
  /** Every table that was ever prepared, in the order of their names. */
  readonly tables: readonly DumpedTable[];
  /** About how many items come. */
  readonly items: number;
}

/** Such as `sqlite`. Only stores of one kind understand each other's `rest` of rows. */
export type StoreKind = string;

export interface DumpedTable {
  readonly name: string;
  /** With columns that the registry has dropped since, as rows may have values there. */
  readonly entry: Pick<TableEntry, "upsert_key" | "timestamp_column" | "columns">;
  /** True for a table that another program made. */
  readonly isForeign: boolean;
  /** The last number that a row got, 0 before the first or where rows get none. */
  readonly lastNumber: number;
  /** Null where deletes were never recorded. */
  readonly deletes: DumpedDeletes | null;
  /** The result of `TableWrites.takeCommitted`; absent for none. */
  readonly told?: string;
}

/** D-7.6. */
export interface DumpedDeletes {
  /** The id of its list of tombstones, with which their cursors begin. */
  readonly list: string;
  /** The last place that a tombstone got. */
  readonly lastPlace: number;
  /** Since when the record is complete; canonical. */
  readonly completeSince: string;
}

export interface DumpedRow {
  /** Every column of the table, in the order of its entry. */
  readonly row: Row;
  /** What else the store keeps of the row, for stores of its kind. */
  readonly rest?: string;
  /** In place of the row: why a store of that kind could not have it back as it is. A clause without a full stop. */
  readonly unkept?: string;
}

/** Its fields come in this order: copies compare texts. */
export interface DumpedTombstone {
  readonly place: number;
  /** In the order of `upsert_key`. */
  readonly key: Row;
  readonly deletedAt: string;
  readonly takenAtMs: number;
}

/** Consecutive items of one sort and name, about 8 MiB at most. */
export type DumpedPart =
  | { readonly of: "documents"; readonly name: string; readonly items: readonly object[] }
  | { readonly of: "rows"; readonly name: string; readonly items: readonly DumpedRow[] }
  | {
      readonly of: "tombstones";
      readonly name: string;
      readonly items: readonly DumpedTombstone[];
    };

export interface Dump {
  readonly about: DumpedStore;
  /** Documents of copied collections in the order of keys; rows; tombstones. The dump closes behind the last, or with its reader. */
  readonly parts: AsyncIterable<DumpedPart>;

  /** Ends the dump, whether its parts were read or not. Idempotent. */
  close(): Promise<void>;
}

export interface DumpedSource {
  /** The whole store of one moment; others go on using it. Throws `store_unavailable`. */
  dump(): Promise<Dump>;
}

/** The table by which a store reads and writes the rows. */
export function tableOf({ name, entry, deletes }: DumpedTable): Table {
  return buildTable(name, { ...entry, deletes: deletes !== null });
}

/** The collection or table of a part. A dump and the store that takes it have the same. */
export function named<Item extends { readonly name: string }>(
  items: readonly Item[],
  name: string,
): Item {
  const found = items.find((item) => item.name === name);
  if (found === undefined) throw new Error(`Nothing of the name "${name}" was dumped`);
  return found;
}

/** The table without columns that another program has renamed or dropped since it left the registry; none without one of its key. */
export function asThere(
  dumped: DumpedTable,
  isThere: (column: string) => boolean,
): readonly DumpedTable[] {
  const { columns, timestamp_column: time = null, upsert_key } = dumped.entry;
  if (!upsert_key.every(isThere)) return [];
  const there = Object.entries(columns).filter(([name]) => isThere(name));
  const entry = { ...dumped.entry, columns: Object.fromEntries(there) };
  if (time === null || isThere(time)) return [{ ...dumped, entry }];
  return [{ ...dumped, entry: { ...entry, timestamp_column: null }, deletes: null }];
}

interface KeptColumns {
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly key: readonly string[];
  readonly timestamp: string | null;
  /** True where rows get a number as their `id`. */
  readonly numbered: boolean;
}

export function dumpedEntry(kept: KeptColumns): DumpedTable["entry"] {
  const { columns, key, timestamp, numbered } = kept;
  const entries = Object.entries(columns).map(([name, type]) => {
    const isNumbered = numbered && name === "id" && !key.includes(name);
    return [name, isNumbered ? { type, auto_increment: true } : { type }];
  });
  const described: TableEntry["columns"] = Object.fromEntries(entries);
  return { upsert_key: [...key], timestamp_column: timestamp, columns: described };
}

type Items<Item> = Iterable<Item> | AsyncIterable<Item>;

export interface DumpReader {
  documents(from: AnyCollection): Items<object>;
  rows(table: Table): Items<DumpedRow>;
  tombstones(table: Table): Items<DumpedTombstone>;
  /** The error of the dump for an error of reading. */
  failure(error: unknown): unknown;
  /** Gives the moment up; called once. */
  end(): Promise<void> | void;
}

/** The dump of what a reader gives, with the documents of these collections. */
export function dumpOf(
  about: DumpedStore,
  collections: readonly AnyCollection[],
  reader: DumpReader,
): Dump {
  let ended: Promise<void> | null = null;
  const close = () => {
    ended ??= Promise.resolve(reader.end());
    return ended;
  };
  const tables = about.tables.map(tableOf);
  async function* parts(): AsyncGenerator<DumpedPart> {
    try {
      for (const from of collections) {
        for await (const items of inParts(reader.documents(from))) {
          yield { of: "documents", name: from.name, items };
        }
      }
      for (const table of tables) {
        for await (const items of inParts(reader.rows(table))) {
          yield { of: "rows", name: table.name, items };
        }
      }
      for (const table of tables.filter(({ deletes }) => deletes)) {
        for await (const items of inParts(reader.tombstones(table))) {
          yield { of: "tombstones", name: table.name, items };
        }
      }
    } catch (error) {
      throw reader.failure(error);
    } finally {
      await close();
    }
  }
  return { about, parts: parts(), close };
}

/** About the size of a part. */
const MOST_ITEMS = 1_000;
const MOST_BYTES = 4 * 1024 * 1024;

async function* inParts<Item>(items: Items<Item>): AsyncGenerator<readonly Item[]> {
  let part: Item[] = [];
  let bytes = 0;
  for await (const item of items) {
    part.push(item);
    bytes += estimatedBytes(item);
    if (part.length < MOST_ITEMS && bytes < MOST_BYTES) continue;
    yield part;
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield part;
}

/** Counts texts and bytes, however deep; other values are small. */
function estimatedBytes(value: unknown): number {
  if (typeof value === "string" || value instanceof Uint8Array) return value.length;
  if (typeof value !== "object" || value === null) return 8;
  let bytes = 8;
  for (const name in value) bytes += estimatedBytes(value[name as keyof typeof value]);
  return bytes;
}
