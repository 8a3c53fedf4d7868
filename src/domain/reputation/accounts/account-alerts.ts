// Alerts about API keys that end, and about quotas that are used up. D-10.12.
import type { Alert, QuotaAlert } from "../../alerts/alert.ts";
import { apiKeyStatus, type StoredApiKey } from "./api-key.ts";
import type { MeterCharge } from "./call-meter.ts";
import type { EffectiveLimits } from "./plan.ts";

/** Percent of the month's calls. */
const QUOTA_STEPS = [80, 100] as const;

/** A step that an account has reached, told once for each account, step and month. */
export type QuotaStep = Omit<QuotaAlert, "account">;

/** Null for a key that was revoked before, such as by a rotation whose overlap is over. */
export function revocationAlert(key: StoredApiKey, nowMs: number): Alert | null {
  return apiKeyStatus(key, nowMs) === "revoked" ? null : keyAlert("key.revoked", key);
}

export function rotationAlert(key: StoredApiKey): Alert {
  return keyAlert("key.rotated", key);
}

function keyAlert(type: "key.revoked" | "key.rotated", key: StoredApiKey): Alert {
  return { type, account: key.username, keyId: key.id, name: key.name };
}

/** The steps that an account has reached; none where nothing was charged or there is no limit. */
export function quotaSteps(
  { admitted, month }: Pick<MeterCharge, "admitted" | "month">,
  { callsPerMonth: limit }: Pick<EffectiveLimits, "callsPerMonth">,
): readonly QuotaStep[] {
  if (limit === null || admitted === 0) return [];
  const after = month.used;
  return QUOTA_STEPS.flatMap((percent) => {
    const reachedAt = Math.ceil((limit * percent) / 100);
    if (after < reachedAt) return [];
    const used = after - admitted < reachedAt ? reachedAt : after;
    return [{ type: `quota.${percent}` as const, limit, used, month: month.month }];
  });
}
