// Answers the lookups of this process. D-5.8.
import { isWellFormedApiKey } from "../../../domain/reputation/accounts/api-key.ts";
import type { Quotas } from "../../../domain/reputation/accounts/call-meter.ts";
import type { LookupEndpoint, LookupRefusal } from "../../../domain/reputation/accounts/consent.ts";
import type {
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
import { AppError } from "../../../domain/shared/errors.ts";
import { MAX_UNCONFIRMED_LOOKUP_MS } from "../../../domain/shared/limits.ts";
import { DAY_MS } from "../../../domain/shared/time.ts";
import type { KeyedMac } from "../accounts/secrets.ts";
import { LookupQueue, type LookupQueueDeps } from "./lookup-queue.ts";
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

interface LookupDeps extends Omit<LookupQueueDeps, "prepare"> {
  readonly pepperMac: KeyedMac;
  readonly tally: LookupTally;
}

const DELAYED_LOOKUP = "The reply was held up, and may be no longer right";

export class Lookups {
  readonly #deps: LookupDeps;
  readonly #queue: LookupQueue;
  readonly #bodies = new LookupBodies();

  constructor(deps: LookupDeps) {
    this.#deps = deps;
    this.#queue = new LookupQueue({
      ...deps,
      prepare: (call, outcome) => this.#prepare(call, outcome),
    });
  }

  /** Decides one lookup, whose outcome is in the audit log before this resolves. Throws as `LookupProcessor`. D-5.8. */
  async lookUp(input: LookupInput): Promise<LookupReply> {
    const reply = await this.#answer(input);
    this.#deps.tally.count(reply.problem);
    return reply;
  }

  async #answer(input: LookupInput): Promise<LookupReply> {
    const { apiKey, endpoint, username, requestId } = input;
    const { clock, pepperMac, tally } = this.#deps;
    if (!apiKey) return refusal("api_key_missing", clock.nowMs());
    if (!isWellFormedApiKey(apiKey)) return refusal("api_key_invalid", clock.nowMs());
    const keyHash = pepperMac.hex(apiKey);
    tally.begin();
    const outcome = await this.#queue.decide({ keyHash, endpoint, username, requestId });
    const { nowMs } = outcome;
    if (outcome.kind === "key_refused") return refusal(outcome.problem, nowMs);
    const { quotas } = outcome;
    if (outcome.kind === "limited") return { problem: outcome.problem, data: null, quotas, nowMs };
    const { code } = outcome.decision;
    if (code !== null) return { problem: code, data: null, quotas, nowMs };
    const data = this.#bodies.of(outcome.subject, { endpoint, username, nowMs });
    this.#refuseLate(outcome);
    return { problem: null, data, quotas, nowMs };
  }

  /** Makes the body while the outcome waits for its confirmation. */
  #prepare({ endpoint, username }: LookupCall, outcome: LookupOutcome): void {
    if (outcome.kind !== "answered" || outcome.decision.code !== null) return;
    this.#bodies.of(outcome.subject, { endpoint, username, nowMs: outcome.nowMs });
  }

  /** Refuses an outcome after which the process stood still, as rights may have ended; the call counts all the same. D-8.3. */
  #refuseLate({ confirmedAtMs = Number.POSITIVE_INFINITY }: LookupOutcome): void {
    if (this.#deps.clock.monotonicMs() - confirmedAtMs <= MAX_UNCONFIRMED_LOOKUP_MS) return;
    throw new AppError("store_unavailable", DELAYED_LOOKUP);
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
    const body = bodies.byEndpoint.get(wanted.endpoint) ?? makeBody(subject, wanted);
    bodies.byEndpoint.set(wanted.endpoint, body);
    return body;
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
