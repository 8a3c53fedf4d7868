// Answers the lookups of this process: those that arrive together, or while others are decided, are decided together. D-5.8.
import { type Crc32, isWellFormedApiKey } from "../../../domain/reputation/accounts/api-key.ts";
import type { Quotas } from "../../../domain/reputation/accounts/call-meter.ts";
import type { LookupEndpoint, LookupRefusal } from "../../../domain/reputation/accounts/consent.ts";
import type {
  Confirmed,
  LookupCall,
  LookupOutcome,
  LookupSubject,
} from "../../../domain/reputation/lookups/lookup-batch.ts";
import {
  platformEntries,
  profileBody,
  reputationBody,
} from "../../../domain/reputation/score/profile.ts";
import { computeScore } from "../../../domain/reputation/score/score.ts";
import { AppError, storeTooLate } from "../../../domain/shared/errors.ts";
import {
  MAX_LOOKUP_BATCH_CALLS,
  MAX_UNCONFIRMED_LOOKUP_MS,
  REQUEST_DEADLINE_MS,
} from "../../../domain/shared/limits.ts";
import { DAY_MS } from "../../../domain/shared/time.ts";
import { type Clock, type Defer, type Timer, within } from "../../../ports/runtime/runtime.ts";
import type { SpanPlace, Tracing } from "../../../ports/runtime/tracing.ts";
import type { KeyedMac } from "../accounts/secrets.ts";
import type { LookupTally } from "./lookup-tally.ts";

interface LookupInput extends Omit<LookupCall, "keyHash"> {
  /** `X-API-Key`; null when absent. */
  readonly apiKey: string | null;
}

export type LookupReply = {
  /** Null when the key was refused, as nothing was metered. */
  readonly quotas: Quotas | null;
  readonly nowMs: number;
} & (
  | { readonly problem: LookupRefusal; readonly data: null }
  /** Allowed: `data` of the body is the same object while it says the same. */
  | { readonly problem: null; readonly data: object }
);

interface LookupDeps extends Omit<LookupQueueDeps, "replyTo"> {
  readonly pepperMac: KeyedMac;
  readonly crc32: Crc32;
  readonly tally: LookupTally;
}

const DELAYED_LOOKUP = "The reply was held up, and may be no longer right";

export class Lookups {
  readonly #deps: LookupDeps;
  readonly #queue: LookupQueue;
  readonly #bodies = new LookupBodies();

  constructor(deps: LookupDeps) {
    this.#deps = deps;
    const replyTo: LookupQueueDeps["replyTo"] = (call, outcome) => this.#replyTo(call, outcome);
    this.#queue = new LookupQueue({ ...deps, replyTo });
  }

  /** Decides one lookup, whose outcome is in the audit log before this resolves. Throws as `LookupProcessor`. D-5.8. */
  async lookUp(input: LookupInput): Promise<LookupReply> {
    const reply = await this.#answer(input);
    this.#deps.tally.count(reply.problem);
    return reply;
  }

  async #answer(input: LookupInput): Promise<LookupReply> {
    const { apiKey, endpoint, username, requestId } = input;
    const { clock, crc32, pepperMac, tally } = this.#deps;
    if (!apiKey) return refusal("api_key_missing", clock.nowMs());
    if (!isWellFormedApiKey(apiKey, crc32)) return refusal("api_key_invalid", clock.nowMs());
    const keyHash = pepperMac.hex(apiKey);
    tally.begin();
    const call = { keyHash, endpoint, username, requestId };
    const { value: reply, confirmedAtMs } = await this.#queue.decide(call);
    // The process may have stood still since, and rights may have ended; the call counts all the same. D-8.3.
    const isLate = clock.monotonicMs() - confirmedAtMs > MAX_UNCONFIRMED_LOOKUP_MS;
    if (isLate && reply.problem === null) throw new AppError("store_unavailable", DELAYED_LOOKUP);
    return reply;
  }

  #replyTo({ endpoint, username }: LookupCall, outcome: LookupOutcome): LookupReply {
    const { nowMs } = outcome;
    if (outcome.kind === "key_refused") return refusal(outcome.problem, nowMs);
    const { quotas } = outcome;
    if (outcome.kind === "limited") return { problem: outcome.problem, data: null, quotas, nowMs };
    const { code } = outcome.decision;
    if (code !== null) return { problem: code, data: null, quotas, nowMs };
    const data = this.#bodies.of(outcome.subject, { endpoint, username, nowMs });
    return { problem: null, data, quotas, nowMs };
  }
}

function refusal(problem: LookupRefusal, nowMs: number): LookupReply {
  return { problem, data: null, quotas: null, nowMs };
}

interface WantedBody {
  readonly endpoint: LookupEndpoint;
  readonly username: string;
  readonly nowMs: number;
}

interface DayBodies {
  /** UTC, counted from 1970. */
  readonly day: number;
  readonly byEndpoint: Map<LookupEndpoint, object>;
}

/** Makes each body once while nothing about the person changes and the UTC day lasts. */
class LookupBodies {
  readonly #known = new WeakMap<LookupSubject, DayBodies>();

  of(subject: LookupSubject, wanted: WantedBody): object {
    const day = Math.floor(wanted.nowMs / DAY_MS);
    let bodies = this.#known.get(subject);
    if (bodies?.day !== day) {
      bodies = { day, byEndpoint: new Map() };
      this.#known.set(subject, bodies);
    }
    const { byEndpoint } = bodies;
    return byEndpoint.getOrInsertComputed(wanted.endpoint, () => makeBody(subject, wanted));
  }
}

function makeBody(
  { profile, accounts }: LookupSubject,
  { endpoint, username, nowMs }: WantedBody,
): object {
  switch (endpoint) {
    case "reputation":
      return reputationBody(username, computeScore({ profile, accounts, nowMs }));
    case "profile":
      return profileBody(profile ?? {});
    case "platforms":
      return platformEntries(accounts);
  }
}

/** The part of `LookupProcessor` that decides batches. */
export interface LookupDecider {
  readonly gatherMs?: number;
  decide<Replies>(
    batch: readonly LookupCall[],
    deadlineMs: number,
    replyTo: (outcomes: readonly LookupOutcome[]) => Replies,
  ): Promise<Confirmed<Replies>>;
}

interface LookupQueueDeps {
  readonly lookupProcessor: LookupDecider;
  /** Makes a reply, which may take time, before the outcome is confirmed. */
  readonly replyTo: (call: LookupCall, outcome: LookupOutcome) => LookupReply;
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
  readonly resolve: (confirmed: Confirmed<LookupReply>) => void;
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
  readonly #waiting: WaitingCall[] = [];
  /** `idle`: the next call starts a batch; `busy`: a batch is decided or about to be. */
  #state: "idle" | "busy" | Gathering = "idle";

  constructor(deps: LookupQueueDeps) {
    this.#deps = deps;
    this.#gatherMs = deps.lookupProcessor.gatherMs ?? 0;
  }

  /** Decides one call. Throws as `LookupProcessor.decide`. */
  decide(call: LookupCall): Promise<Confirmed<LookupReply>> {
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
    const batch = this.#waiting.splice(0, MAX_LOOKUP_BATCH_CALLS);
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
    const { lookupProcessor, replyTo, timer, clock, tracing } = this.#deps;
    const calls = batch.map(({ call }) => call);
    const places = batch.map(({ place }) => place);
    const replyToAll = (outcomes: readonly LookupOutcome[]) =>
      calls.map((call, i) => replyTo(call, outcomes[i] as LookupOutcome));
    const decide = () => lookupProcessor.decide(calls, deadlineMs, replyToAll);
    try {
      const leftMs = deadlineMs - clock.monotonicMs();
      const confirmed = await within(timer, leftMs, tracing.below(places, decide));
      if (confirmed === null) throw storeTooLate();
      const { value: replies, confirmedAtMs } = confirmed;
      for (const [i, value] of replies.entries()) batch[i]?.resolve({ value, confirmedAtMs });
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
