import type { LookupCall, LookupOutcome } from "../../../domain/reputation/lookups/lookup-batch.ts";
import type { LookupDecider } from "./lookup-queue.ts";

/** A processor that tells how much it was asked for. */
export class CountedLookups implements LookupDecider {
  readonly #processor: LookupDecider;
  #calls = 0;

  constructor(processor: LookupDecider) {
    this.#processor = processor;
  }

  /** Lookups since the start. */
  get calls(): number {
    return this.#calls;
  }

  get gatherMs(): number {
    return this.#processor.gatherMs ?? 0;
  }

  decide(calls: readonly LookupCall[], deadlineMs: number): Promise<readonly LookupOutcome[]> {
    this.#calls += calls.length;
    return this.#processor.decide(calls, deadlineMs);
  }
}
