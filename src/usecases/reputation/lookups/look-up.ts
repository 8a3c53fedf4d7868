// Answers lookups.

import { isWellFormedApiKey } from "../../../domain/reputation/accounts/api-key.ts";
import type { Quotas } from "../../../domain/reputation/accounts/call-meter.ts";
import type { LookupEndpoint, LookupRefusal } from "../../../domain/reputation/accounts/consent.ts";
import type { LookupSubject } from "../../../domain/reputation/lookups/lookup.ts";
import {
  platformEntries,
  profileBody,
  reputationBody,
} from "../../../domain/reputation/score/profile.ts";
import { computeScore } from "../../../domain/reputation/score/score.ts";
import type { KeyedMac } from "../accounts/secrets.ts";
import { LookupQueue, type LookupQueueDeps } from "./lookup-queue.ts";

/** One lookup as it was asked for. */
export interface LookupInput {
  /** `X-API-Key`; null when absent. */
  readonly apiKey: string | null;
  readonly endpoint: LookupEndpoint;
  readonly username: string;
  readonly requestId: string;
}

/** What to reply. */
export interface LookupReply {
  /** Null when allowed. */
  readonly problem: LookupRefusal | null;
  /** The body's `data` when allowed, the same object for as long as it says the same; else null. */
  readonly data: object | null;
  /** Null when the key was refused: then nothing was metered. */
  readonly quotas: Quotas | null;
  /** When it was decided. */
  readonly nowMs: number;
}

/** Lookups by outcome since the start, for /metrics: `allowed` or the code of the problem. */
export type LookupCounts = ReadonlyMap<"allowed" | LookupRefusal, number>;

/** Answers lookups. */
export interface Lookups {
  /** Decides one lookup; what it resolves to is in the audit log already. Throws as `LookupProcessor`. D-5.8. */
  lookUp(input: LookupInput): Promise<LookupReply>;
  /** Counts so far. */
  counts(): LookupCounts;
}

/** What lookups need. */
export interface LookupDeps extends LookupQueueDeps {
  /** Keyed by `API_KEY_PEPPER`. */
  readonly pepperMac: KeyedMac;
}

const DAY_MS = 86_400_000;

/** Makes the one place that lookups of this process go through. */
export function createLookups(deps: LookupDeps): Lookups {
  const queue = new LookupQueue(deps);
  const dataOf = createAnswers();
  const counts = new Map<"allowed" | LookupRefusal, number>();

  async function answer(input: LookupInput): Promise<LookupReply> {
    const { apiKey, endpoint, username, requestId } = input;
    const problem = apiKeyProblem(apiKey);
    if (apiKey === null || problem !== null) return refusal(problem, deps.clock.nowMs());
    const keyHash = deps.pepperMac.hex(apiKey);
    const outcome = await queue.decide({ keyHash, endpoint, username, requestId });
    const { nowMs } = outcome;
    if (outcome.kind === "key_refused") return refusal(outcome.problem, nowMs);
    const { quotas } = outcome;
    if (outcome.kind === "limited") return { problem: outcome.problem, data: null, quotas, nowMs };
    const { code } = outcome.decision;
    if (code !== null) return { problem: code, data: null, quotas, nowMs };
    const data = dataOf(outcome.subject, { endpoint, username, nowMs });
    return { problem: null, data, quotas, nowMs };
  }

  return {
    async lookUp(input) {
      const reply = await answer(input);
      const name = reply.problem ?? "allowed";
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return reply;
    },
    counts: () => counts,
  };
}

function apiKeyProblem(apiKey: string | null): LookupRefusal | null {
  if (apiKey === null || apiKey === "") return "api_key_missing";
  return isWellFormedApiKey(apiKey) ? null : "api_key_invalid";
}

function refusal(problem: LookupRefusal | null, nowMs: number): LookupReply {
  return { problem, data: null, quotas: null, nowMs };
}

/** What a subject's lookups show on one UTC day. */
interface Answers {
  readonly day: number;
  readonly data: Map<string, object>;
}

/** Makes each answer once for as long as nothing about the person changes and the day lasts. */
function createAnswers() {
  const known = new WeakMap<LookupSubject, Answers>();
  return (
    subject: LookupSubject,
    of: { readonly endpoint: LookupEndpoint; readonly username: string; readonly nowMs: number },
  ): object => {
    const day = Math.floor(of.nowMs / DAY_MS);
    let answers = known.get(subject);
    if (answers?.day !== day) {
      answers = { day, data: new Map() };
      known.set(subject, answers);
    }
    const data = answers.data.get(of.endpoint) ?? makeAnswer(subject, of);
    answers.data.set(of.endpoint, data);
    return data;
  };
}

function makeAnswer(
  { profile, accounts }: LookupSubject,
  of: { readonly endpoint: LookupEndpoint; readonly username: string; readonly nowMs: number },
): object {
  switch (of.endpoint) {
    case "reputation":
      return reputationBody(of.username, computeScore({ profile, accounts, nowMs: of.nowMs }));
    case "profile":
      return profileBody(profile ?? {});
    case "platforms":
      return platformEntries(accounts);
  }
}
