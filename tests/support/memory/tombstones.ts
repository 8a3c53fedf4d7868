import { placeOfCursor, placeText } from "../../../src/domain/shared/list-query.ts";
import { compareDateTimes, formatMs } from "../../../src/domain/shared/time.ts";
import { keyText } from "../../../src/domain/sync/rows/row-key.ts";
import type { Tombstone } from "../../../src/domain/sync/rows/tombstone.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type {
  TombstonePage,
  TombstoneQuery,
  Tombstones,
} from "../../../src/ports/tables/table-store.ts";
import type { DeleteRecord, StoredTable } from "./stored-table.ts";

/** What is kept of a table: to be read, and to be changed. */
interface Tables {
  stored(table: Table): StoredTable;
  own(table: Table): StoredTable;
}

/** Tombstones in memory. */
export class MemoryTombstones implements Tombstones {
  readonly #tables: Tables;

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  async list(table: Table, query: TombstoneQuery): Promise<TombstonePage> {
    const { completeSince, list } = recordIn(this.#tables.stored(table));
    const { after, sinceTime, limitRows } = query;
    const listed = this.#listedAfter(table, after).filter(
      ({ takenAtMs }) => sinceTime === null || !isBefore(takenAtMs, sinceTime),
    );
    const page = listed.slice(0, limitRows);
    return {
      items: page.map(({ key, deletedAt }) => ({ key, deletedAt })),
      cursor:
        page.length === 0 && after !== null ? after : placeText(list, page.at(-1)?.place ?? 0),
      hasMore: listed.length > page.length,
      earliestAvailable: completeSince,
    };
  }

  async end(table: Table): Promise<string> {
    const { list, lastPlace } = recordIn(this.#tables.stored(table));
    return placeText(list, lastPlace);
  }

  async countAfter(table: Table, after: string | null): Promise<number> {
    return this.#listedAfter(table, after).length;
  }

  async byKeys(table: Table, keys: readonly Row[]): Promise<readonly Tombstone[]> {
    const wanted = new Set(keys.map((key) => keyText(table, key)));
    const listed = this.#listedAfter(table, null);
    return listed
      .filter(({ key }) => wanted.has(keyText(table, key)))
      .map(({ key, deletedAt }) => ({ key, deletedAt }));
  }

  async forgetAfter(table: Table, after: string | null): Promise<number> {
    return this.#forget(table, this.#listedAfter(table, after));
  }

  async prune(table: Table, beforeTime: string): Promise<number> {
    const record = recordIn(this.#tables.own(table));
    if (compareDateTimes(record.completeSince, beforeTime) < 0) record.completeSince = beforeTime;
    const listed = this.#listedAfter(table, null);
    const old = listed.filter(({ takenAtMs }) => isBefore(takenAtMs, beforeTime));
    return this.#forget(table, old);
  }

  #forget(table: Table, tombstones: readonly Tombstone[]): number {
    const { kept } = recordIn(this.#tables.own(table));
    for (const { key } of tombstones) kept.delete(keyText(table, key));
    return tombstones.length;
  }

  #listedAfter(table: Table, cursor: string | null) {
    const { kept, list, lastPlace } = recordIn(this.#tables.stored(table));
    const after = placeOfCursor(list, lastPlace, cursor);
    return [...kept.values()].filter(({ place }) => place > after);
  }
}

function isBefore(atMs: number, time: string): boolean {
  return compareDateTimes(formatMs(atMs), time) < 0;
}

function recordIn({ table, deletes }: StoredTable): DeleteRecord {
  if (deletes !== null) return deletes;
  throw new Error(`Table "${table.name}" was not prepared with deletes`);
}
