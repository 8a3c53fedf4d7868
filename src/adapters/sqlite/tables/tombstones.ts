import { placeOfCursor, placeText } from "../../../domain/shared/list-query.ts";
import { compareDateTimes, formatMs } from "../../../domain/shared/time.ts";
import { recordKey } from "../../../domain/sync/rows/row-key.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  TombstonePage,
  TombstoneQuery,
  Tombstones,
} from "../../../ports/tables/tombstones.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteValue } from "../driver/driver.ts";
import { decodeRows, readColumns } from "./column-values.ts";
import { deleteTriggerName, onUnrenamed, SET_EARLIEST } from "./delete-triggers.ts";
import { canonicalTime, keptTime, TombstoneNames } from "./tombstone-sql.ts";
import { forgetReplaced, TombstoneWrites } from "./tombstone-writes.ts";

const FIND = `SELECT list_id, earliest_available,
  coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?2), 0) AS last,
  EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = ?3 AND instr(sql, ?4)) AS is_recorded
  FROM repsync_deletes WHERE table_name = ?1`;

interface List {
  readonly names: TombstoneNames;
  readonly id: string;
  /** The greatest place ever given. */
  readonly lastPlace: number;
  readonly earliestAvailable: string;
}

export class SqliteTombstones implements Tombstones {
  readonly #database: SqliteDatabase;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async list(table: Table, query: TombstoneQuery): Promise<TombstonePage> {
    return this.#database.read(() => {
      const list = this.#find(table);
      const after = placeOfCursor(list.id, list.lastPlace, query.after);
      const found = this.#read(list, query, after);
      const shown = found.slice(0, query.limitRows);
      const place = Number(shown.at(-1)?.["repsync_place"] ?? after);
      const items = decodeRows(
        shown.map(({ repsync_place: _place, repsync_deleted_at: _time, ...key }) => key),
        table.keyColumns,
      ).map((key, i) => ({
        key,
        deletedAt: canonicalTime(String(shown[i]?.["repsync_deleted_at"])),
      }));
      return {
        items,
        cursor: placeText(list.id, place),
        hasMore: found.length > shown.length,
        earliestAvailable: list.earliestAvailable,
      };
    });
  }

  async end(table: Table): Promise<string> {
    return this.#database.read(() => {
      const { id, lastPlace } = this.#find(table);
      return placeText(id, lastPlace);
    });
  }

  async countAfter(table: Table, after: string | null): Promise<number> {
    return this.#database.read(() => {
      const { names, id, lastPlace } = this.#find(table);
      const sql = `SELECT count(*) AS n FROM ${names.list} WHERE repsync_place > ?`;
      const place = placeOfCursor(id, lastPlace, after);
      return Number(this.#database.all(sql, [place])[0]?.["n"]);
    });
  }

  async byKeys(table: Table, keys: readonly Row[]): Promise<readonly Tombstone[]> {
    return this.#database.read(() => {
      const writes = new TombstoneWrites(this.#database, table);
      return writes.find(keys.map((row) => recordKey(table, row)));
    });
  }

  async forgetAfter(table: Table, after: string | null): Promise<number> {
    return this.#database.write(() => {
      const { names, id, lastPlace } = this.#find(table);
      const place = placeOfCursor(id, lastPlace, after);
      forgetReplaced(this.#database, table);
      return this.#database.run(`DELETE FROM ${names.list} WHERE repsync_place > ?`, [place]);
    });
  }

  async prune(table: Table, beforeTime: string): Promise<number> {
    return this.#database.write(() => {
      const list = this.#find(table);
      if (compareDateTimes(list.earliestAvailable, beforeTime) < 0) {
        this.#database.run(SET_EARLIEST, [beforeTime, table.name]);
      }
      forgetReplaced(this.#database, table);
      const sql = `DELETE FROM ${list.names.list} WHERE repsync_taken_at < ?`;
      return this.#database.run(sql, [keptTime(beforeTime)]);
    });
  }

  #find(table: Table): List {
    const names = new TombstoneNames(table);
    const trigger = [deleteTriggerName(table), onUnrenamed(table)];
    const values = [table.name, names.list.slice(1, -1), ...trigger];
    const [row] = this.#database.all(FIND, values);
    if (row === undefined) throw new Error(`Table "${table.name}" was not prepared with deletes`);
    return {
      names,
      id: String(row["list_id"]),
      lastPlace: Number(row["last"]),
      // The trigger was dropped, maybe by an instance whose registry has no deletes, or its table was renamed: deletes before now are
      // unknown.
      earliestAvailable:
        row["is_recorded"] === 1
          ? String(row["earliest_available"])
          : formatMs(this.#database.nowMs()),
    };
  }

  /** Reads one more than the limit, to know whether more follow. */
  #read({ names }: List, query: TombstoneQuery, after: number) {
    const columns = readColumns(names.table.keyColumns, this.#database.cutsTextAtNul);
    const values: SqliteValue[] = [after];
    if (query.sinceTime !== null) values.push(keptTime(query.sinceTime));
    const isSince = query.sinceTime === null ? "" : "AND repsync_taken_at >= ?";
    const sql = `SELECT ${columns}, repsync_place, repsync_deleted_at FROM ${names.list}
      WHERE repsync_place > ? ${isSince} ORDER BY repsync_place LIMIT ?`;
    return this.#database.all(sql, [...values, query.limitRows + 1]);
  }
}
