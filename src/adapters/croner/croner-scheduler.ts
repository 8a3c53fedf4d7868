import { Cron } from "croner";
import type { CronTimes, Scheduler } from "../../ports/runtime/runtime.ts";

export class CronerScheduler implements Scheduler, CronTimes {
  start(cronText: string, work: () => Promise<void>): { stop(): void } {
    const job = new Cron(cronText, { mode: "5-or-6-parts", protect: true, catch: false }, work);
    return { stop: () => job.stop() };
  }

  nextAfter(cronText: string, afterMs: number): number | null {
    const next = new Cron(cronText, { mode: "5-or-6-parts" }).nextRun(new Date(afterMs));
    return next?.getTime() ?? null;
  }
}
