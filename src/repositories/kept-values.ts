// Values that a deployment keeps by name, one for all of its instances: secrets, and the times of schedules.
import { dateTimeMs } from "../domain/shared/time.ts";
import type { Clock, CronTimes, Scheduler } from "../ports/runtime/runtime.ts";
import { SECRETS, type SecretName } from "./account-collections.ts";
import { SCHEDULE_TIMES, type ScheduleTimeName } from "./collections.ts";
import { Repository } from "./repository.ts";

/** Secrets that the service makes for itself at first start. D-1.3. */
export class Secrets extends Repository {
  /** The secret of that name, else `fresh`, which is then stored durably: all instances get the same. */
  async getOrCreate(name: SecretName, fresh: string): Promise<string> {
    const [call, query] = ["secrets.get_or_create", { from: SECRETS, keys: [[name]] }] as const;
    const [[known]] = await this.ask(call, query);
    if (known !== undefined) return known.secret;
    return await this.writing(call, async (tx) => {
      const [[made = { name, secret: fresh }]] = await tx.read(query);
      tx.put(SECRETS, made);
      return made.secret;
    });
  }
}

/** The times of schedules that were taken last, canonical. */
export class ScheduleTimes extends Repository {
  /** Null before the first `keep`. */
  async read(name: ScheduleTimeName): Promise<string | null> {
    const call = "schedule_times.read";
    const [[found]] = await this.ask(call, { from: SCHEDULE_TIMES, keys: [[name]] });
    return found?.value ?? null;
  }

  async keep(name: ScheduleTimeName, value: string): Promise<void> {
    await this.writing("schedule_times.keep", async (tx) => {
      tx.put(SCHEDULE_TIMES, { name, value });
    });
  }
}

export interface ScheduleDeps {
  readonly scheduleTimes: ScheduleTimes;
  readonly scheduler: Scheduler & CronTimes;
  readonly clock: Clock;
}

/** False when the schedule's present time was taken already: one of several instances takes each. D-4.13, D-10.7. */
export async function isDue(
  { scheduleTimes, scheduler, clock }: ScheduleDeps,
  name: ScheduleTimeName,
  cronText: string,
): Promise<boolean> {
  const last = await scheduleTimes.read(name);
  if (last === null) return true;
  const [lastMs, nowMs] = [dateTimeMs(last), clock.nowMs()];
  // The clock may have been set back since, or be behind that of the instance which took it.
  const nextMs = scheduler.nextAfter(cronText, Math.min(lastMs, nowMs));
  return nextMs !== null && nextMs <= Math.max(lastMs, nowMs);
}
