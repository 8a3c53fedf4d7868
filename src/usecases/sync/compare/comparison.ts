// The state and the findings of a comparison. D-4.10.
import type { JsonObject } from "../../../domain/shared/json.ts";
import { MAX_COMPARE_EXAMPLES } from "../../../domain/shared/limits.ts";
import { dateTimeMs } from "../../../domain/shared/time.ts";
import {
  differsForOwner,
  isLeftOut,
  isOfPeople,
  personOf,
} from "../../../domain/sync/people/name-facts.ts";
import { convertRecord } from "../../../domain/sync/rows/convert.ts";
import { aheadLimit, rowTime } from "../../../domain/sync/rows/row-time.ts";
import {
  type CompareExamples,
  type Difference,
  KeptRows,
  type RowPair,
} from "../../../domain/sync/run/compare-events.ts";
import type { CompareCounts, CompareRepair } from "../../../domain/sync/run/run.ts";
import type { Row } from "../../../domain/sync/table/table.ts";
import type { RemoteTable } from "../shared/remote-table.ts";
import type { Repair } from "./repair.ts";

export const SECOND_LOOK_MS = 1_000;

export interface ComparePlan {
  /** The direction of a repair; null changes nothing. */
  readonly repair: CompareRepair | null;
  /** Removes rows that only the repaired end has; only with `push` or `pull`. D-7.6. */
  readonly deletes?: boolean;
}

export interface Comparison {
  readonly remote: RemoteTable;
  readonly findings: Findings;
  /** Rows from this time on, in ms since 1970, are looked at twice before they count as different. */
  readonly youngFromMs: number;
}

export interface CompareResult extends CompareCounts {
  readonly examples: CompareExamples;
}

/** True for a row that may have been on its way; a row without a timestamp is old. */
export function isYoung({ remote: { table }, youngFromMs }: Comparison, row: Row | null): boolean {
  const time = row === null ? null : rowTime(table, row);
  return time !== null && dateTimeMs(time) >= youngFromMs;
}

/** Called with each row that becomes an example. */
export type OnExample = (difference: Difference, pair: RowPair, key: JsonObject) => void;

export interface CompareWatch {
  readonly onExample: OnExample;
  /** Called whenever more rows are counted. */
  onProgress(found: CompareCounts): void;
}

/** Counts the rows of a comparison, and repairs those that differ where asked. */
export class Findings {
  readonly #remote: RemoteTable;
  readonly #repair: Repair | null;
  readonly #watch: CompareWatch;
  readonly #aheadLimit: string;
  readonly #counts = { matched: 0, different: 0, missingHere: 0, missingThere: 0 };
  readonly #examples: Record<Difference, JsonObject[]> = {
    different: [],
    missingHere: [],
    missingThere: [],
  };
  /** Rows of which the owner's version stays, which are no differences, and those that a repair keeps. D-8.1. */
  readonly #kept: KeptRows;
  /** Rows that are left out, as their people are erased here. D-8.2. */
  #erased = 0;

  constructor(remote: RemoteTable, repair: Repair | null, watch: CompareWatch) {
    this.#remote = remote;
    this.#repair = repair;
    this.#kept = repair?.kept ?? new KeptRows();
    this.#watch = watch;
    this.#aheadLimit = aheadLimit(remote.run.deps.clock.nowMs());
  }

  match(rows: number): void {
    this.#counts.matched += rows;
    this.#watch.onProgress(this.#counts);
  }

  /** Counts a row that differs; `key` has its key columns. */
  async differ(difference: Difference, pair: RowPair, key: JsonObject): Promise<void> {
    const repair = this.#repair;
    const reason = await this.#reasonOf(pair);
    if (reason === "erased") this.#erased++;
    if (reason === "owner") {
      this.#kept.add([{ key, reason }]);
      if (repair?.isPush) await repair.add(pair, key);
    }
    if (reason !== null) return;
    this.#counts[difference]++;
    this.#watch.onProgress(this.#counts);
    const examples = this.#examples[difference];
    if (examples.length < MAX_COMPARE_EXAMPLES) {
      examples.push(key);
      this.#watch.onExample(difference, pair, key);
    }
    await repair?.add(pair, key);
  }

  async finish(): Promise<CompareResult> {
    const kept = this.#kept;
    const repaired = await this.#repair?.finish();
    const isTold = repaired !== undefined || kept.count > 0;
    return {
      ...this.#counts,
      ...(repaired === undefined ? {} : { repaired }),
      ...(isTold ? { kept: kept.count } : {}),
      ...(this.#erased > 0 ? { erased: this.#erased } : {}),
      examples: { ...this.#examples, ...(isTold ? { kept: kept.examples } : {}) },
    };
  }

  /** Why a row that differs counts as none; null where it counts. */
  async #reasonOf({ here, there }: RowPair): Promise<"owner" | "erased" | null> {
    const { run, table } = this.#remote;
    const person = isOfPeople(table) ? personOf(there ?? {}) : null;
    if (there === null || person === null) return null;
    const facts = (await run.deps.names.readFacts([person])).get(person);
    if (facts === undefined) return null;
    const { erased } = facts;
    if (here === null) {
      const isErased =
        erased !== null && isLeftOut(rowTime(table, there), erased, this.#aheadLimit);
      return isErased ? "erased" : null;
    }
    const sent = convertRecord(table, { ...here, ...there }).row;
    return sent !== null && differsForOwner(table, here, sent, facts) ? "owner" : null;
  }
}
