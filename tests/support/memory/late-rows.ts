import { compareDateTimes } from "../../../src/domain/shared/time.ts";
import type { LateTimes } from "../../../src/domain/sync/run/late-rows.ts";
import type { Table } from "../../../src/domain/sync/table/table.ts";
import type {
  LateRows,
  LateRowsQuery,
  LateRowsReply,
} from "../../../src/ports/tables/late-rows.ts";

/** A row that runs would pass over. */
interface LateNote {
  /** Canonical. */
  readonly time: string;
  /** True when a run of this deployment brought it. */
  readonly isOwnRun: boolean;
}

let stores = 0;

/** All notes in a list. A mark is the number of those before it, and says of which store. */
export class MemoryLateRows implements LateRows {
  readonly #store = `memory ${++stores}`;
  readonly #notes = new Map<string, LateNote[]>();

  /** Adds the notes of one commit. */
  note(tableName: string, { byOwnRuns, byOthers }: LateTimes): void {
    const notes = [
      ...(byOwnRuns === null ? [] : [{ time: byOwnRuns, isOwnRun: true }]),
      ...(byOthers === null ? [] : [{ time: byOthers, isOwnRun: false }]),
    ];
    if (notes.length > 0) this.#notes.set(tableName, [...this.#all(tableName), ...notes]);
  }

  async read(table: Table, { afterMark, isForOwnPush }: LateRowsQuery): Promise<LateRowsReply> {
    const notes = this.#all(table.name);
    const mark = this.#markOf(notes.length);
    if (afterMark === null) return { mark, from: null };
    const known = notes.findIndex((_, count) => this.#markOf(count) === afterMark);
    if (known === -1 && afterMark !== mark) return { mark, from: "" };
    const since = afterMark === mark ? [] : notes.slice(known);
    const times = since
      .filter(({ isOwnRun }) => !(isForOwnPush && isOwnRun))
      .map(({ time }) => time)
      .sort(compareDateTimes);
    return { mark, from: times[0] ?? null };
  }

  #all(tableName: string): readonly LateNote[] {
    return this.#notes.get(tableName) ?? [];
  }

  #markOf(count: number): string {
    return `${this.#store}: ${count}`;
  }
}
