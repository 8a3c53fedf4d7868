// What accounts have used, in memory.
import { ToldQuotaSteps } from "../../../src/domain/reputation/accounts/account-alerts.ts";
import {
  type AccountUse,
  type CallHistory,
  NO_HISTORY,
  withUse,
} from "../../../src/domain/reputation/accounts/call-history.ts";
import {
  chargeCalls,
  type MeterCharge,
  type MeterReading,
} from "../../../src/domain/reputation/accounts/call-meter.ts";
import type { EffectiveLimits } from "../../../src/domain/reputation/accounts/plan.ts";
import type { MonthUsage } from "../../../src/domain/reputation/accounts/quota.ts";
import { MINUTE_WINDOW_MS } from "../../../src/domain/shared/limits.ts";
import type { UsageStore } from "../../../src/ports/accounts/account-store.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";

/** What one account has used. */
interface Usage {
  /** A time per call, the oldest first. */
  readonly callsMs: readonly number[];
  readonly month: MonthUsage | null;
}

const UNUSED: Usage = { callsMs: [], month: null };

/** Calls by account. */
export class MemoryUsageStore implements UsageStore {
  /** Steps of quotas that were told. */
  readonly told = new ToldQuotaSteps();
  readonly #clock: Clock;
  readonly #usage = new Map<string, Usage>();
  readonly #histories = new Map<string, CallHistory>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async read(
    username: string,
    limits: EffectiveLimits,
  ): Promise<{ readonly reading: MeterReading; readonly nowMs: number }> {
    const nowMs = this.#clock.nowMs();
    return { reading: this.#reading(username, limits, nowMs), nowMs };
  }

  /** Counts as many of the calls as the limits allow, in the caller's commit. */
  charge(username: string, calls: number, limits: EffectiveLimits): MeterCharge {
    const nowMs = this.#clock.nowMs();
    const charge = chargeCalls(this.#reading(username, limits, nowMs), { calls, limits, nowMs });
    const callsMs = this.#callsOf(username, nowMs);
    for (let call = 0; call < charge.admitted; call++) callsMs.push(nowMs);
    this.#usage.set(username, { callsMs, month: charge.month });
    return charge;
  }

  async history(username: string): Promise<CallHistory> {
    return this.#histories.get(username) ?? NO_HISTORY;
  }

  /** Notes answered calls, in the caller's commit. */
  note(username: string, use: AccountUse): void {
    const before = this.#histories.get(username) ?? NO_HISTORY;
    this.#histories.set(username, withUse(before, use, this.#clock.nowMs()));
  }

  /** Forgets an account, in the caller's commit; the calls of its month. */
  forget(username: string): MonthUsage | null {
    const month = this.#usage.get(username)?.month ?? null;
    this.#usage.delete(username);
    this.#histories.delete(username);
    return month;
  }

  /** Begins the count of a new account with calls of the month, in the caller's commit. */
  begin(username: string, month: MonthUsage): void {
    this.#usage.set(username, { callsMs: [], month });
  }

  #reading(username: string, { callsPerMinute }: EffectiveLimits, nowMs: number): MeterReading {
    const callsMs = this.#callsOf(username, nowMs);
    const minuteCalls = callsMs.length;
    const blockingMs = callsMs[Math.max(0, minuteCalls - callsPerMinute)] ?? null;
    return { minuteCalls, blockingMs, month: this.#usage.get(username)?.month ?? null };
  }

  /** The calls of the last minute; those in the future, after the clock was set back, count as made now. */
  #callsOf(username: string, nowMs: number): number[] {
    const { callsMs } = this.#usage.get(username) ?? UNUSED;
    return callsMs
      .filter((atMs) => atMs > nowMs - MINUTE_WINDOW_MS)
      .map((atMs) => Math.min(atMs, nowMs));
  }
}
