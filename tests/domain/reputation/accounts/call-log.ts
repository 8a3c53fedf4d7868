import type { EffectiveLimits, Quota } from "../../../../src/domain/reputation/accounts/plan.ts";

interface CallDecision {
  readonly outcome: "allowed" | "rate_limited" | "quota_exceeded";
  readonly minute: Quota;
  readonly month: Quota;
}

/**
 * The model that stores are compared with: it remembers every call that passed, and counts those of the last 60 seconds and of
 * the UTC calendar month. Times only grow. D-6.4.
 */
export class CallLog {
  readonly #passed: number[] = [];

  /** Times of the calls that count in the minute, the oldest first. */
  minuteAt(nowMs: number): readonly number[] {
    return this.#passed.filter((atMs) => nowMs - atMs < 60_000);
  }

  /** Decides one call: it counts in both limits, or in neither. */
  decide(limits: EffectiveLimits, nowMs: number): CallDecision {
    const isFull = this.#monthAt(limits, nowMs).remaining === 0;
    const isBusy = this.minuteAt(nowMs).length >= limits.callsPerMinute;
    if (!isFull && !isBusy) this.#passed.push(nowMs);
    return {
      outcome: isFull ? "quota_exceeded" : isBusy ? "rate_limited" : "allowed",
      minute: this.#minuteQuota(limits, nowMs),
      month: this.#monthAt(limits, nowMs),
    };
  }

  #minuteQuota({ callsPerMinute: limit }: EffectiveLimits, nowMs: number): Quota {
    const [oldest, ...others] = this.minuteAt(nowMs);
    if (oldest === undefined) return { limit, used: 0, remaining: limit, resetSeconds: 0 };
    const used = 1 + others.length;
    const resetSeconds = Math.ceil((oldest + 60_000 - nowMs) / 1_000);
    return { limit, used, remaining: limit - used, resetSeconds };
  }

  #monthAt({ callsPerMonth: limit }: EffectiveLimits, nowMs: number): Quota {
    const now = new Date(nowMs);
    const beginMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth());
    const endMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    const used = this.#passed.filter((atMs) => atMs >= beginMs).length;
    const remaining = limit === null ? null : limit - used;
    return { limit, used, remaining, resetSeconds: Math.ceil((endMs - nowMs) / 1_000) };
  }
}
