import type { MeterReading } from "../../domain/reputation/accounts/call-meter.ts";
import type { EffectiveLimits } from "../../domain/reputation/accounts/plan.ts";

/** The calls that lookups have counted. */
export interface UsageStore {
  /** The calls of an account by now, other instances' included. Throws `store_unavailable`. */
  read(
    username: string,
    limits: EffectiveLimits,
  ): Promise<{ readonly reading: MeterReading; readonly nowMs: number }>;
}
