import { type CallHistory, NO_HISTORY } from "../../../domain/reputation/accounts/call-history.ts";
import type { EffectiveLimits } from "../../../domain/reputation/accounts/plan.ts";
import type { UsageReading, UsageStore } from "../../../ports/accounts/account-store.ts";
import { COMMITTED, readCommitted, type StoreDeps } from "../driver/operations.ts";
import { readTimed } from "../driver/server-clock.ts";
import { historyOf, joinUsage, readingOf, type UsageDocument, usageOf } from "./account-usage.ts";
import { SUBJECTS } from "./subjects.ts";

export class MongoUsageStore implements UsageStore {
  readonly #deps: StoreDeps;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
  }

  async read(username: string, { callsPerMinute }: EffectiveLimits): Promise<UsageReading> {
    const { nowMs, usage } = await readCommitted(this.#deps, () =>
      readTimed<{ usage: UsageDocument[] }>(this.#deps, joinUsageOf(username), COMMITTED),
    );
    const found = usageOf(usage[0], nowMs);
    return { reading: readingOf(found, callsPerMinute), nowMs: found.atMs };
  }

  async history(username: string): Promise<CallHistory> {
    const { usage } = await readCommitted(this.#deps, () =>
      readTimed<{ usage: UsageDocument[] }>(this.#deps, joinUsageOf(username), COMMITTED),
    );
    return usage[0] === undefined ? NO_HISTORY : historyOf(usage[0]);
  }
}

/** An account without an id has made no call. */
function joinUsageOf(username: string) {
  const isIt = [{ $match: { _id: username } }];
  return [{ $lookup: { from: SUBJECTS.name, pipeline: isIt, as: "subject" } }, ...joinUsage()];
}
