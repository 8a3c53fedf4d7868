import { Cron } from "croner";
import type { Scheduler } from "../../ports/runtime/runtime.ts";

export class CronerScheduler implements Scheduler {
  start(cronText: string, work: () => Promise<void>): { stop(): void } {
    const job = new Cron(cronText, { mode: "5-or-6-parts", protect: true, catch: false }, work);
    return { stop: () => job.stop() };
  }
}
