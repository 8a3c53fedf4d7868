// A comparison: its state, and what it finds. D-4.10.
import type { JsonObject } from "../../../domain/shared/json.ts";
import { MAX_COMPARE_EXAMPLES } from "../../../domain/shared/limits.ts";
import { dateTimeMs } from "../../../domain/shared/time.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { CompareCounts } from "../../../domain/sync/run/run.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import type { RemoteTable } from "../shared/run-context.ts";
import type { Clocks } from "../transfer/handshake.ts";
import type { Repair } from "./repair.ts";
import type { KeptRow } from "./repair-ends.ts";
import type { Difference, RowPair } from "./row-pair.ts";

/** Time between the two looks at a row. */
export const SECOND_LOOK_MS = 1_000;
/** Rows that wait for their second look at most: when there are as many they get it at once. */
export const MAX_YOUNG_ROWS = 10_000;

export interface Comparison extends RemoteTable {
  readonly clocks: Clocks;
  readonly findings: Findings;
  readonly signal: AbortSignal;
  /** Rows with a timestamp from here on, in ms since 1970, are looked at twice before they are reported. */
  readonly youngFromMs: number;
}

export interface CompareResult extends CompareCounts {
  readonly examples: CompareExamples;
}

/** The first rows of each kind. */
interface CompareExamples extends Readonly<Record<Difference, readonly JsonObject[]>> {
  /** Rows that the repair was to change and that stayed, only with one. */
  readonly kept?: readonly KeptRow[];
}

/** True for a row that may have been on its way when it was looked at; one without a timestamp is old. */
export function isYoung({ table, youngFromMs }: Comparison, row: Row | null): boolean {
  const time = row === null ? null : rowTime(table, row);
  return time !== null && dateTimeMs(time) >= youngFromMs;
}

/** Called with each row that becomes an example. */
export type OnExample = (difference: Difference, pair: RowPair, key: JsonObject) => void;

/** Counts what a comparison finds, and repairs it where that is asked. */
export class Findings {
  readonly #repair: Repair | null;
  readonly #onExample: OnExample;
  readonly #counts = { matched: 0, different: 0, missingHere: 0, missingThere: 0 };
  readonly #examples: Record<Difference, JsonObject[]> = {
    different: [],
    missingHere: [],
    missingThere: [],
  };

  /** `repair` is null when nothing is to be changed. */
  constructor(repair: Repair | null, onExample: OnExample) {
    this.#repair = repair;
    this.#onExample = onExample;
  }

  match(rows: number): void {
    this.#counts.matched += rows;
  }

  /** Counts a row that differs; `key` has its key columns. */
  async differ(difference: Difference, pair: RowPair, key: JsonObject): Promise<void> {
    this.#counts[difference]++;
    const examples = this.#examples[difference];
    if (examples.length < MAX_COMPARE_EXAMPLES) {
      examples.push(key);
      this.#onExample(difference, pair, key);
    }
    await this.#repair?.add(pair, key);
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
    if (this.#repair === null) return { ...this.#counts, examples: this.#examples };
    const { repaired, kept, keptExamples } = await this.#repair.finish();
    return {
      ...{ ...this.#counts, repaired, kept },
      examples: { ...this.#examples, kept: keptExamples },
    };
  }
}
