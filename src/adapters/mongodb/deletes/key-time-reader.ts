// Keys and times of rows, from what change events say of them.
import { BSON, type Document } from "mongodb";
import { keyOf, keyRow } from "../../../domain/sync/rows/row-key.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import { type Row, type Table, timestampColumnOf } from "../../../domain/sync/table/table.ts";
import { RowReader } from "../tables/row-reader.ts";
import { layoutOf, UNPARSED_FIELD } from "../tables/table-layout.ts";

/** Options of reads whose documents a `KeyTimeReader` takes. Text that other tools wrote need not be valid UTF-8. */
export const KEEP_TYPES = { promoteValues: false, enableUtf8Validation: false } as const;

export class KeyTimeReader {
  /** The fields that it needs. */
  readonly fields: readonly string[];
  readonly #table: Table;
  readonly #reader: RowReader;

  constructor(table: Table) {
    const time = timestampColumnOf(table);
    const columns = [...new Set([...table.keyColumns, ...(time === null ? [] : [time])])];
    this.fields = [...columns.map(({ name }) => name), UNPARSED_FIELD];
    this.#table = table;
    this.#reader = new RowReader(layoutOf(table), columns);
  }

  /** The key, and the canonical time; null for none that can be read. The document's values keep their BSON types. */
  read(document: Document): { readonly key: Row; readonly time: string | null } {
    const row = this.#reader.read(BSON.serialize(document));
    const key = keyRow(this.#table, keyOf(this.#table, row));
    return { key, time: rowTime(this.#table, row) };
  }
}
