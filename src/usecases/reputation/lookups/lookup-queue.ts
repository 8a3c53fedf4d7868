// Batches lookups: those that arrive together, or while others are decided, are decided together.
import type { LookupCall, LookupOutcome } from "../../../domain/reputation/lookups/lookup-batch.ts";
import { storeTooLate } from "../../../domain/shared/errors.ts";
import { MAX_LOOKUP_BATCH_CALLS, REQUEST_DEADLINE_MS } from "../../../domain/shared/limits.ts";
import { type Clock, type Defer, type Timer, within } from "../../../ports/runtime/runtime.ts";
import type { SpanPlace, Tracing } from "../../../ports/runtime/tracing.ts";

/** The part of `LookupProcessor` that decides batches. */
export interface LookupDecider {
  readonly gatherMs?: number;
  decide(
    batch: readonly LookupCall[],
    deadlineMs: number,
    prepare: (outcomes: readonly LookupOutcome[]) => void,
  ): Promise<readonly LookupOutcome[]>;
}

export interface LookupQueueDeps {
  readonly lookupProcessor: LookupDecider;
  /** Prepares the slow part of a reply, before the outcome is confirmed. */
  readonly prepare: (call: LookupCall, outcome: LookupOutcome) => void;
  readonly defer: Defer;
  readonly timer: Timer;
  readonly clock: Clock;
  readonly tracing: Tracing;
}

interface WaitingCall {
  readonly call: LookupCall;
  /** The caller's place in a trace. */
  readonly place: SpanPlace;
  /** The monotonic time by which it is answered. */
  readonly deadlineMs: number;
  readonly resolve: (outcome: LookupOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** A pause for callers that return after a batch; `wanted` calls end it. */
interface Gathering {
  readonly wanted: number;
}

const LOOK_EVERY_MS = 1;
/** The share of wanted calls that has to arrive between two looks, or the pause ends. */
const MIN_RETURNING = 1 / 16;
/** A call with less time left begins no batch: its end would be the end of all calls in the batch. */
const MIN_DECIDING_MS = 1_000;

/**
 * Decides calls in batches, one at a time, as a batch costs about the same whatever its size. Every call is answered within
 * `REQUEST_DEADLINE_MS`, with its wait in the queue; a batch that takes longer is given up and does not hold up the next one.
 * D-8.3. Callers that were just answered tend to return within milliseconds. Where the processor asks for it, the next batch
 * waits for them, while they keep coming and until `gatherMs` is up.
 */
export class LookupQueue {
  readonly #deps: LookupQueueDeps;
  readonly #gatherMs: number;
  #waiting: WaitingCall[] = [];
  /** `idle`: the next call starts a batch; `busy`: a batch is decided or about to be. */
  #state: "idle" | "busy" | Gathering = "idle";

  constructor(deps: LookupQueueDeps) {
    this.#deps = deps;
    this.#gatherMs = deps.lookupProcessor.gatherMs ?? 0;
  }

  /** Decides one call. Throws as `LookupProcessor.decide`. */
  decide(call: LookupCall): Promise<LookupOutcome> {
    const deadlineMs = this.#deps.clock.monotonicMs() + REQUEST_DEADLINE_MS;
    const place = this.#deps.tracing.place();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, place, deadlineMs, resolve, reject });
      if (this.#state === "busy") return;
      if (this.#state === "idle" || this.#waiting.length >= this.#state.wanted) this.#goOn();
    });
  }

  #goOn(): void {
    this.#state = this.#waiting.length > 0 ? "busy" : "idle";
    if (this.#state === "busy") this.#deps.defer(() => void this.#decideWaiting());
  }

  async #decideWaiting(): Promise<void> {
    this.#rejectLate();
    const batch = this.#waiting.slice(0, MAX_LOOKUP_BATCH_CALLS);
    this.#waiting = this.#waiting.slice(MAX_LOOKUP_BATCH_CALLS);
    const [first] = batch;
    if (first !== undefined) await this.#decideBatch(batch, first.deadlineMs);
    const isGathering = this.#gatherMs > 0 && this.#waiting.length < batch.length;
    if (isGathering) await this.#gather(this.#waiting.length + batch.length);
    else this.#goOn();
  }

  /** Rejects calls that waited too long; the first ones have waited longest. */
  #rejectLate(): void {
    const latestMs = this.#deps.clock.monotonicMs() + MIN_DECIDING_MS;
    const inTime = this.#waiting.findIndex(({ deadlineMs }) => deadlineMs > latestMs);
    const late = this.#waiting.splice(0, inTime < 0 ? this.#waiting.length : inTime);
    for (const { reject } of late) reject(storeTooLate());
  }

  async #decideBatch(batch: readonly WaitingCall[], deadlineMs: number): Promise<void> {
    const { lookupProcessor, prepare, timer, clock, tracing } = this.#deps;
    const calls = batch.map(({ call }) => call);
    const places = batch.map(({ place }) => place);
    const prepareAll = (outcomes: readonly LookupOutcome[]) => {
      for (const [i, call] of calls.entries()) prepare(call, outcomes[i] as LookupOutcome);
    };
    const decide = () => lookupProcessor.decide(calls, deadlineMs, prepareAll);
    try {
      const leftMs = deadlineMs - clock.monotonicMs();
      const outcomes = await within(timer, leftMs, tracing.below(places, decide));
      if (outcomes === null) throw storeTooLate();
      for (const [i, { resolve }] of batch.entries()) resolve(outcomes[i] as LookupOutcome);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async #gather(wanted: number): Promise<void> {
    const gathering: Gathering = { wanted };
    this.#state = gathering;
    for (let waitedMs = 0; waitedMs < this.#gatherMs; waitedMs += LOOK_EVERY_MS) {
      const before = this.#waiting.length;
      await this.#deps.timer.sleep(LOOK_EVERY_MS);
      if (this.#state !== gathering) return;
      // The first look may come before the replies have left.
      if (waitedMs > 0 && this.#waiting.length - before < wanted * MIN_RETURNING) break;
    }
    this.#goOn();
  }
}
