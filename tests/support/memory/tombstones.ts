import { AppError } from "../../../src/domain/shared/errors.ts";
import { compareDateTimes, formatMs } from "../../../src/domain/shared/time.ts";
import type { Tombstone } from "../../../src/domain/sync/rows/tombstone.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import type {
  TombstonePage,
  TombstoneQuery,
  Tombstones,
} from "../../../src/ports/tables/tombstones.ts";
import { keyText } from "./row-order.ts";

export interface KeptTombstone extends Tombstone {
  /** Its number in the order of becoming visible. */
  readonly place: number;
  /** Canonical time at which it was taken in, or listed anew. */
  readonly takenAt: string;
}

/** What is kept of the deletes of one table. */
export interface DeleteRecord {
  /** The id of the list, with which its cursors begin. */
  readonly list: string;
  /** The last place that a tombstone got. */
  lastPlace: number;
  /** The upsert key, by which it is known. */
  readonly keyNames: string;
  /** False while the table has not opted in. */
  isOn: boolean;
  earliestAvailable: string;
  /** By the text of the key, in the order of their places. */
  kept: Map<string, KeptTombstone>;
}

/** Tombstones in memory. What is not in the port is called by `MemoryTables`, in its commits. */
export class MemoryTombstones implements Tombstones {
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #records = new Map<string, DeleteRecord>();
  readonly #removes: (table: Table, tombstone: Tombstone) => boolean;
  #lists = 0;

  /** `removes` says whether a tombstone that arrives would remove a row. */
  constructor(
    clock: Pick<Clock, "nowMs">,
    removes: (table: Table, tombstone: Tombstone) => boolean,
  ) {
    this.#clock = clock;
    this.#removes = removes;
  }

  async list(table: Table, query: TombstoneQuery): Promise<TombstonePage> {
    const { earliestAvailable, list } = this.#record(table);
    const { after, sinceTime, limitRows } = query;
    const listed = this.#listedAfter(table, after).filter(
      ({ takenAt }) => sinceTime === null || compareDateTimes(takenAt, sinceTime) >= 0,
    );
    const page = listed.slice(0, limitRows);
    return {
      items: page.map(({ key, deletedAt }) => ({ key, deletedAt })),
      cursor: page.length === 0 && after !== null ? after : `${list}-${page.at(-1)?.place ?? 0}`,
      hasMore: listed.length > page.length,
      earliestAvailable,
    };
  }

  async end(table: Table): Promise<string> {
    const { list, lastPlace } = this.#record(table);
    return `${list}-${lastPlace}`;
  }

  async countAfter(table: Table, after: string | null): Promise<number> {
    return this.#listedAfter(table, after).length;
  }

  async countRemovable(table: Table, tombstones: readonly Tombstone[]): Promise<number> {
    const removable = tombstones.filter((tombstone) => this.#removes(table, tombstone));
    return new Set(removable.map(({ key }) => keyText(table, key))).size;
  }

  async forgetAfter(table: Table, after: string | null): Promise<number> {
    const listed = this.#listedAfter(table, after);
    for (const { key } of listed) this.forget(table, key);
    return listed.length;
  }

  async prune(table: Table, beforeTime: string): Promise<number> {
    const record = this.#record(table);
    const isOld = ({ takenAt }: KeptTombstone) => compareDateTimes(takenAt, beforeTime) < 0;
    const old = this.#listedAfter(table, null).filter(isOld);
    for (const { key } of old) this.forget(table, key);
    if (compareDateTimes(record.earliestAvailable, beforeTime) < 0) {
      record.earliestAvailable = beforeTime;
    }
    return old.length;
  }

  /** Begins, goes on or interrupts the record of a table, as its registry says. */
  prepare(table: Table): void {
    const before = this.#records.get(table.name);
    if (!table.deletes) {
      if (before !== undefined) before.isOn = false;
      return;
    }
    const keyNames = keyNamesOf(table);
    const isSameKey = before?.keyNames === keyNames;
    if (before?.isOn && isSameKey) return;
    this.#records.set(table.name, {
      list: isSameKey ? before.list : `list${++this.#lists}`,
      lastPlace: isSameKey ? before.lastPlace : 0,
      keyNames,
      isOn: true,
      earliestAvailable: this.#now(),
      kept: isSameKey ? before.kept : new Map(),
    });
  }

  /** Everything of a table; undefined where it never had deletes. */
  recordOf(tableName: string): DeleteRecord | undefined {
    return this.#records.get(tableName);
  }

  drop(tableName: string): void {
    this.#records.delete(tableName);
  }

  /** Takes in what another store has kept of a table. */
  fill(table: Table, given: Pick<DeleteRecord, "list" | "lastPlace" | "earliestAvailable">): void {
    this.#records.set(table.name, { ...this.#record(table), ...given });
  }

  /** The tombstone of a key; undefined when there is none. */
  find(table: Table, key: Row): Tombstone | undefined {
    return table.deletes ? this.#record(table).kept.get(keyText(table, key)) : undefined;
  }

  /** Keeps a tombstone at the end of the list; one that is not later than the one kept changes nothing. */
  keep(table: Table, { key, deletedAt }: Tombstone): void {
    const before = this.find(table, key)?.deletedAt;
    if (before !== undefined && compareDateTimes(before, deletedAt) >= 0) return;
    this.put(table, { key, deletedAt });
  }

  /** Puts a tombstone at the end of the list, in the place of what its key had. */
  put(table: Table, { key, deletedAt }: Tombstone): void {
    const record = this.#record(table);
    const { kept } = record;
    const text = keyText(table, key);
    const columns = Object.fromEntries(
      table.keyColumns.map(({ name }) => [name, key[name] ?? null]),
    );
    kept.delete(text);
    record.lastPlace++;
    kept.set(text, { key: columns, deletedAt, place: record.lastPlace, takenAt: this.#now() });
  }

  forget(table: Table, key: Row): void {
    this.#record(table).kept.delete(keyText(table, key));
  }

  /** Forgets the tombstones of keys with this value in a column. */
  forgetWith(table: Table, columnName: string, value: string): void {
    if (!table.deletes) return;
    for (const { key } of [...this.#record(table).kept.values()]) {
      if (key[columnName] === value) this.forget(table, key);
    }
  }

  /** Gives a function that puts a table's tombstones back as they are now. */
  remember(table: Table): () => void {
    if (!table.deletes) return () => {};
    const record = this.#record(table);
    const kept = new Map(record.kept);
    return () => {
      record.kept = kept;
    };
  }

  #listedAfter(table: Table, after: string | null): readonly KeptTombstone[] {
    const place = this.#placeOf(table, after);
    return [...this.#record(table).kept.values()].filter((kept) => kept.place > place);
  }

  #placeOf(table: Table, cursor: string | null): number {
    if (cursor === null) return 0;
    const { list, lastPlace } = this.#record(table);
    const place = Number(cursor.slice(list.length + 1));
    if (cursor === `${list}-${place}` && place <= lastPlace) return place;
    throw new AppError("invalid_request", "The cursor is none that this store gave");
  }

  #record(table: Table): DeleteRecord {
    const record = this.#records.get(table.name);
    if (record === undefined)
      throw new Error(`Table "${table.name}" was not prepared with deletes`);
    return record;
  }

  #now(): string {
    return formatMs(this.#clock.nowMs());
  }
}

function keyNamesOf(table: Table): string {
  return table.keyColumns.map(({ name }) => name).join(", ");
}
