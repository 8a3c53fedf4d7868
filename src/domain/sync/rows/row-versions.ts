// Which version of each row was seen: its content and its time, in some 50 bytes whatever its length.
import type { Row, Table } from "../table/table.ts";
import { hashRow, type RowHash, RowMemory } from "./row-memory.ts";
import { keyText } from "./row-text.ts";
import { rowTime, timeMicros } from "./row-time.ts";

/** A version of a row. */
export interface RowVersion extends RowHash {
  /** Microseconds since 1970; `NO_TIME` for a row without a timestamp. */
  readonly micros: number;
}

/** Before all times. */
export const NO_TIME = Number.NEGATIVE_INFINITY;

/** The version of a row as the table keeps it; equal contents have equal texts. */
export function versionOf(table: Table, row: Row, content: string): RowVersion {
  return { ...hashRow({ key: keyText(table, row), content }), micros: microsOf(table, row) };
}

/** As in `RowVersion`. */
export function microsOf(table: Table, row: Row): number {
  const time = rowTime(table, row);
  return time === null ? NO_TIME : timeMicros(time);
}

/** The last version of each row that was noted, by key. */
export class RowVersions {
  /** Rows with the place of their time, from 1. */
  readonly #rows = new RowMemory();
  readonly #micros: number[] = [];
  /** When each was noted, by the caller's count. */
  readonly #turns: number[] = [];

  /** The number of rows. */
  get size(): number {
    return this.#rows.size;
  }

  /** Notes a version, unless one of the same row is known that was noted in a later turn. */
  note(version: RowVersion, turn = 0): void {
    const { note } = this.#rows.findHash(version);
    if (note > 0 && (this.#turns[note - 1] ?? 0) > turn) return;
    const place = note > 0 ? note : this.#micros.length + 1;
    this.#micros[place - 1] = version.micros;
    this.#turns[place - 1] = turn;
    this.#rows.noteHash(version, place);
  }

  /** What is known of the row that a version is of; null when nothing is. */
  find(version: RowVersion): { readonly isSame: boolean; readonly micros: number } | null {
    const { note, isSame } = this.#rows.findHash(version);
    return note === 0 ? null : { isSame, micros: this.#micros[note - 1] ?? NO_TIME };
  }

  /** Every version with its turn, in no order. */
  *all(): Generator<[RowVersion, turn: number], void, undefined> {
    for (const [hash, place] of this.#rows.entries()) {
      const micros = this.#micros[place - 1] ?? NO_TIME;
      yield [{ ...hash, micros }, this.#turns[place - 1] ?? 0];
    }
  }
}
