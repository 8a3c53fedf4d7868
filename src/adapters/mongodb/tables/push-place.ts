// What all pushes of one instance have in common.
import type { Table } from "../../../domain/sync/table/table.ts";
import { Deadline, REQUEST_CALLS } from "../driver/deadline.ts";
import { IdCounters, type IdRange } from "../driver/id-counters.ts";
import type { VersionedDeps } from "../driver/versions.ts";
import { hasNumbers } from "./table-layout.ts";

/** Fewest new rows after which the next push to the table is expected to bring only new ones, too. */
const MIN_LOAD_ROWS = 100;

export class PushPlace {
  readonly deps: VersionedDeps;
  readonly #counters: IdCounters;
  /** Tables that are being filled: the next push is expected to bring new rows only. */
  readonly #filling = new Set<string>();

  constructor(deps: VersionedDeps) {
    this.deps = deps;
    this.#counters = new IdCounters(deps.db);
  }

  isFilling({ name }: Table): boolean {
    return this.#filling.has(name);
  }

  beginFilling(tableName: string): void {
    this.#filling.add(tableName);
  }

  /** Notes how many of the records of a push were new. */
  noteInserted({ name }: Table, insertedRows: number, records: number): void {
    const isFilling = insertedRows === records && insertedRows >= MIN_LOAD_ROWS;
    if (isFilling) this.#filling.add(name);
    else if (records > 0) this.#filling.delete(name);
  }

  /** Takes numbers for new rows; null where there are none to take. */
  async takeIds(table: Table, count: number): Promise<IdRange | null> {
    if (!hasNumbers(table) || count === 0) return null;
    return await this.#counters.take(table.name, count, Deadline.start(this.deps.clock));
  }

  /** Gives back all but the first numbers of a range. */
  async giveBack(ids: IdRange | null, usedCount: number): Promise<void> {
    if (ids === null) return;
    const deadline = Deadline.start(this.deps.clock, REQUEST_CALLS);
    await this.#counters.giveBack(ids, usedCount, deadline);
  }
}
