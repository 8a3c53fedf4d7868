// Rows that a repair sent to a remote which does not tell whether it wrote them: they are read again. D-11.10.
import type { JsonObject } from "../../../domain/shared/json.ts";
import { MAX_COMPARE_EXAMPLES } from "../../../domain/shared/limits.ts";
import { convertPulled } from "../../../domain/sync/rows/convert.ts";
import { keyText, recordKey, rowText } from "../../../domain/sync/rows/row-key.ts";
import { RowMemory, RowVersions, versionOf } from "../../../domain/sync/rows/row-memory.ts";
import { rowTimeText } from "../../../domain/sync/rows/row-time.ts";
import type { KeptRow, KeptRows } from "../../../domain/sync/run/compare-events.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import type { RemoteTable } from "../shared/remote-table.ts";
import { recordsFrom } from "../transfer/pull-table.ts";

export class SentRowsCheck {
  readonly #remote: RemoteTable;
  readonly #sent = new RowVersions();
  /** The earliest time of the rows sent, in microseconds. */
  #earliest = Number.POSITIVE_INFINITY;
  #sampleTime: string | null = null;

  constructor(remote: RemoteTable) {
    this.#remote = remote;
  }

  /** Adds a row that was sent in place of another. Columns that the remote does not show are not compared. */
  add(row: Row, present: JsonObject): void {
    const { table } = this.#remote;
    const shown = convertPulled(table, present).row ?? row;
    const same = Object.keys(shown).map((name) => [name, row[name] ?? null]);
    const version = versionOf(table, row, rowText(table, Object.fromEntries(same)));
    this.#sent.note(version);
    this.#earliest = Math.min(this.#earliest, version.micros);
    this.#sampleTime ??= rowTimeText(table, present);
  }

  /** Resolves to the number of rows that are there now, and adds the others to `kept`. */
  async read(kept: KeptRows): Promise<number> {
    const written = new RowMemory();
    const others = new Map<string, KeptRow>();
    if (this.#sent.size > 0) {
      const pages = recordsFrom(this.#remote, this.#earliest, this.#sampleTime);
      for await (const { records } of pages) {
        for (const record of records) this.#look(record, written, others);
      }
    }
    kept.add([...others.values()], this.#sent.size - written.size);
    return written.size;
  }

  #look(record: JsonObject, written: RowMemory, others: Map<string, KeptRow>): void {
    const { table } = this.#remote;
    const { row } = convertPulled(table, record);
    if (row === null) return;
    const version = versionOf(table, row, rowText(table, row));
    const sent = this.#sent.find(version);
    if (sent === null) return;
    const key = keyText(table, row);
    if (sent.isSame) {
      written.noteHash(version, 1);
      others.delete(key);
    } else if (written.findHash(version).note === 0 && others.size < MAX_COMPARE_EXAMPLES) {
      const reason = sent.micros < version.micros ? "newer" : "update_columns";
      others.set(key, { key: recordKey(table, record), reason });
    }
  }
}
