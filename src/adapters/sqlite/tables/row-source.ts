import { compareUtf8 } from "../../../domain/shared/json.ts";
import { type Row, type Table, timestampColumnOf } from "../../../domain/sync/table/table.ts";
import type {
  KeyRange,
  RowPosition,
  RowSource,
  RowsAfterQuery,
} from "../../../ports/tables/row-source.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteRow, SqliteValue } from "../driver/driver.ts";
import { decodeRows, textWithNul, valueEncoder } from "./column-values.ts";
import { ORDER_COLUMN, type TableFile } from "./order-column.ts";
import { firstStart, type RowSql, rowSql, type Start } from "./statements.ts";

/** Where a row stands in the order of its table, as the file has it. */
interface Place {
  /** Its `repsync_order`; null in a table without timestamp. */
  readonly order: SqliteValue;
  readonly key: readonly SqliteValue[];
}

interface TableReader {
  readonly sql: RowSql;
  /** The place of a row by its values. */
  placeOf(row: RowPosition): Place;
}

/** Reads rows by ranges of the two indexes that every table has. */
export class SqliteRowSource implements RowSource {
  readonly #database: SqliteDatabase;
  readonly #readers = new WeakMap<Table, TableReader>();
  /** Places of rows that were read: other tools may write values whose place the row does not tell. */
  readonly #places = new WeakMap<RowPosition, Place>();

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async readAfter(table: Table, query: RowsAfterQuery): Promise<readonly Row[]> {
    const { kind, values } = this.#start(table, query);
    const sql = this.#readerOf(table).sql.after(kind);
    return this.#database.read(() => this.#rows(table, sql, [...values, query.limitRows]));
  }

  async countSince(table: Table, sinceTime: string | null): Promise<number> {
    const { kind, values } = firstStart(table, sinceTime);
    const sql = this.#readerOf(table).sql.count(kind);
    const [row] = await this.#database.read(() => this.#database.all(sql, values));
    return Number(row?.["n"]);
  }

  async readByKeys(table: Table, keys: readonly RowPosition[]): Promise<readonly Row[]> {
    const { sql } = this.#readerOf(table);
    const wanted = new Map(
      keys.map((row) => {
        const { key } = this.#placeOf(table, row);
        return [JSON.stringify(key), key];
      }),
    );
    const lookups = lookupsOf([...wanted.values()], sql.keysPerLookup);
    return this.#database.read(() =>
      lookups.flatMap((lookup) =>
        this.#rows(table, sql.byKeys(lookup.length === 1 ? "one" : "many"), lookup.flat()),
      ),
    );
  }

  async readKeyRange(table: Table, range: KeyRange, limitRows: number): Promise<readonly Row[]> {
    const [after, through] = [range.afterKey, range.throughKey].map((row) =>
      row === null ? null : this.#placeOf(table, row).key,
    );
    const sql = this.#readerOf(table).sql.keyRange({
      after: after != null,
      through: through != null,
    });
    const values = [...(after ?? []), ...(through ?? []), limitRows];
    return this.#database.read(() => this.#rows(table, sql, values));
  }

  /** Starts after the position or at `sinceTime`, whichever is later: one condition makes one range of the index. */
  #start(table: Table, query: RowsAfterQuery): Start {
    const first = firstStart(table, query.sinceTime);
    if (query.after === null) return first;
    const { order, key } = this.#placeOf(table, query.after);
    if (table.timestampColumn === null) return { kind: "position", values: key };
    const [time] = first.values;
    const isEarlier =
      typeof order === "string" && typeof time === "string" && compareUtf8(order, time) < 0;
    return isEarlier ? first : { kind: "position", values: [order, ...key] };
  }

  #rows(table: Table, sql: string, values: readonly SqliteValue[]): Row[] {
    const found = this.#database.all(sql, values);
    const places = found.map((row) => this.#foundPlace(table, row));
    const rows = table.timestampColumn === null ? found : found.map(withoutOrder);
    const decoded = decodeRows(rows, this.#readerOf(table).sql.columns);
    for (const [i, row] of decoded.entries()) this.#places.set(row, places[i] as Place);
    return decoded;
  }

  #foundPlace(table: Table, row: SqliteRow): Place {
    const bound = (value: SqliteValue = null) =>
      this.#database.cutsTextAtNul ? textWithNul(value) : value;
    return {
      order: row[ORDER_COLUMN] ?? null,
      key: table.keyColumns.map(({ name }) => bound(row[name])),
    };
  }

  #placeOf(table: Table, row: RowPosition): Place {
    return this.#places.get(row) ?? this.#readerOf(table).placeOf(row);
  }

  #readerOf(table: Table): TableReader {
    const reader = this.#readers.get(table) ?? makeReader(table, this.#database);
    this.#readers.set(table, reader);
    return reader;
  }
}

function makeReader(table: Table, file: TableFile): TableReader {
  const timestamp = timestampColumnOf(table);
  const encodeTime = timestamp === null ? null : valueEncoder(timestamp);
  const keys = table.keyColumns.map((column) => ({ column, encode: valueEncoder(column) }));
  return {
    sql: rowSql(table, file),
    placeOf(row) {
      const time = encodeTime?.(row[timestamp?.name ?? ""] ?? null);
      return {
        // A timestamp that is not a time is stored as NULL or BLOB.
        order: encodeTime === null ? null : typeof time === "string" ? time : "",
        key: keys.map(({ column, encode }) => encode(row[column.name] ?? null)),
      };
    },
  };
}

function withoutOrder({ [ORDER_COLUMN]: _order, ...values }: SqliteRow): SqliteRow {
  return values;
}

/** Cuts keys into lists of a full lookup; the last list is filled up with its last key. */
function lookupsOf(
  keys: readonly (readonly SqliteValue[])[],
  keysPerLookup: number,
): (readonly SqliteValue[])[][] {
  if (keys.length === 1) return [[...keys]];
  const lookups: (readonly SqliteValue[])[][] = [];
  for (let i = 0; i < keys.length; i += keysPerLookup) {
    const lookup = keys.slice(i, i + keysPerLookup);
    const last = lookup.at(-1) ?? [];
    while (lookup.length < keysPerLookup) lookup.push(last);
    lookups.push(lookup);
  }
  return lookups;
}
