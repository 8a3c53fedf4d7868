// A comparison: its state, its findings, and the repair of rows that differ. D-4.10.
import type { JsonObject } from "../../../domain/shared/json.ts";
import { MAX_COMPARE_EXAMPLES } from "../../../domain/shared/limits.ts";
import { dateTimeMs } from "../../../domain/shared/time.ts";
import { rowText } from "../../../domain/sync/rows/row-text.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import { BatchSize } from "../../../domain/sync/run/pacing.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import type { RemoteTable } from "../shared/run-context.ts";
import { applyRecords } from "../transfer/apply-records.ts";
import type { Clocks, TableTransfer } from "../transfer/begin-transfer.ts";
import { sendRows } from "../transfer/send-rows.ts";
import { TableRejections } from "../transfer/table-rejections.ts";

/** Time between the two looks at a row. */
export const SECOND_LOOK_MS = 1_000;
/** Rows that wait for their second look at most: when there are as many they get it at once. */
export const MAX_YOUNG_ROWS = 10_000;
const REPAIR_ROWS = 500;

export interface Comparison extends RemoteTable {
  readonly clocks: Clocks;
  readonly findings: Findings;
  readonly signal: AbortSignal;
  /** Rows with a timestamp from here on, in ms since 1970, are looked at twice before they are reported. */
  readonly youngFromMs: number;
}

export type Difference = "different" | "missingHere" | "missingThere";

export interface CompareResult {
  readonly matched: number;
  readonly different: number;
  readonly missingHere: number;
  readonly missingThere: number;
  /** Keys of the first rows of each kind. */
  readonly examples: Readonly<Record<Difference, readonly JsonObject[]>>;
  /** Rows written by the repair; only with one. */
  readonly repaired?: number;
}

/** One row as both ends have it; not both null. */
export interface RowPair {
  readonly here: Row | null;
  /** As the remote sent it. */
  readonly there: JsonObject | null;
}

/** True for a row that may have been on its way when it was looked at; one without a timestamp is old. */
export function isYoung({ table, youngFromMs }: Comparison, row: Row | null): boolean {
  const time = row === null ? null : rowTime(table, row);
  return time !== null && dateTimeMs(time) >= youngFromMs;
}

/** How a pair differs; null when it does not. A column that the remote did not send is not compared. */
export function differenceOf(table: Table, here: Row | null, there: Row | null): Difference | null {
  if (here === null) return "missingHere";
  if (there === null) return "missingThere";
  return rowText(table, here) === rowText(table, { ...here, ...there }) ? null : "different";
}

/** Counts what a comparison finds, and repairs it where that is asked. */
export class Findings {
  readonly #repair: Repair | null;
  readonly #counts = { matched: 0, different: 0, missingHere: 0, missingThere: 0 };
  readonly #examples: Record<Difference, JsonObject[]> = {
    different: [],
    missingHere: [],
    missingThere: [],
  };

  /** `repair` is null when nothing is to be changed. */
  constructor(repair: Repair | null) {
    this.#repair = repair;
  }

  match(rows: number): void {
    this.#counts.matched += rows;
  }

  /** Counts a row that differs; `key` has its key columns. */
  async differ(difference: Difference, pair: RowPair, key: JsonObject): Promise<void> {
    this.#counts[difference]++;
    const examples = this.#examples[difference];
    if (examples.length < MAX_COMPARE_EXAMPLES) examples.push(key);
    await this.#repair?.add(pair);
  }

  /** Takes back a row that was counted, as it has come again in another state. */
  takeBack(as: Difference | "matched", key: JsonObject): void {
    this.#counts[as]--;
    if (as === "matched") return;
    const text = JSON.stringify(key);
    const others = this.#examples[as].filter((other) => JSON.stringify(other) !== text);
    this.#examples[as] = others;
  }

  async finish(): Promise<CompareResult> {
    const found = { ...this.#counts, examples: this.#examples };
    return this.#repair === null ? found : { ...found, repaired: await this.#repair.finish() };
  }
}

/** Writes rows that differ, at the end that the direction of its transfer names. */
export class Repair {
  readonly #transfer: TableTransfer;
  readonly #rejections: TableRejections;
  readonly #size = new BatchSize(REPAIR_ROWS, REPAIR_ROWS);
  #waiting: RowPair[] = [];
  #repairedRows = 0;

  private constructor(transfer: TableTransfer, rejections: TableRejections) {
    this.#transfer = transfer;
    this.#rejections = rejections;
  }

  static async open(transfer: TableTransfer): Promise<Repair> {
    return new Repair(transfer, await TableRejections.open(transfer));
  }

  async add(pair: RowPair): Promise<void> {
    this.#waiting.push(pair);
    if (this.#waiting.length >= REPAIR_ROWS) await this.#writeWaiting();
  }

  /** Resolves to the number of rows written. */
  async finish(): Promise<number> {
    await this.#writeWaiting();
    return this.#repairedRows;
  }

  async #writeWaiting(): Promise<void> {
    const pairs = this.#waiting;
    this.#waiting = [];
    if (this.#transfer.direction === "pull") {
      await this.#writeHere(pairs.flatMap(({ there }) => (there === null ? [] : [there])));
    } else {
      await this.#writeThere(pairs.flatMap(({ here }) => (here === null ? [] : [here])));
    }
  }

  async #writeHere(records: readonly JsonObject[]): Promise<void> {
    if (records.length === 0) return;
    const rejected = await applyRecords(this.#transfer, this.#rejections, records);
    this.#repairedRows += records.length - rejected;
  }

  async #writeThere(rows: readonly Row[]): Promise<void> {
    const { accepted, rejected } = await sendRows(this.#transfer, this.#size, rows);
    await this.#rejections.note(rejected);
    await this.#rejections.accept(accepted);
    this.#repairedRows += accepted.length;
  }
}
