// The times of a schedule: of several instances one takes each, also when another comes late to it or has another clock.
// D-4.13, D-10.7.
import { dateTimeMs } from "../../../domain/shared/time.ts";
import type { Clock, CronTimes, Scheduler } from "../../../ports/runtime/runtime.ts";
import type { SettingName } from "../../../repositories/collections.ts";
import type { Settings } from "../../../repositories/settings.ts";

export interface TimeTakers {
  readonly settings: Settings;
  readonly scheduler: Scheduler & CronTimes;
  readonly clock: Clock;
}

/** False when the time that has come is the one that was taken last, whose canonical time a setting has. Throws `store_unavailable`. */
export async function isDue(
  { settings, scheduler, clock }: TimeTakers,
  name: SettingName,
  cronText: string,
): Promise<boolean> {
  const last = await settings.read(name);
  if (last === null) return true;
  const [lastMs, nowMs] = [dateTimeMs(last), clock.nowMs()];
  // The clock may have been set back since, or be behind that of the instance which took it.
  const nextMs = scheduler.nextAfter(cronText, Math.min(lastMs, nowMs));
  return nextMs !== null && nextMs <= Math.max(lastMs, nowMs);
}
