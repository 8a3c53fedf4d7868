// Forgets old tombstones. D-7.6.
import { formatMs } from "../../../domain/shared/time.ts";
import type { Registry } from "../../../domain/sync/table/table.ts";
import type { Logger } from "../../../ports/runtime/logger.ts";
import type { Clock, Scheduler } from "../../../ports/runtime/runtime.ts";
import type { Tombstones } from "../../../ports/tables/tombstones.ts";

export interface PruneTombstonesDeps {
  readonly registry: Registry;
  readonly tombstones: Tombstones;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Once a day, at a quiet hour of most. */
const DAILY = "23 4 * * *";
const DAY_MS = 86_400_000;

/** Prunes once a day, on every instance: what one has removed costs another nothing. */
export function startPruning(
  deps: PruneTombstonesDeps & { readonly scheduler: Scheduler },
  keepDays: number,
): { stop(): void } {
  return deps.scheduler.start(DAILY, async () => {
    await pruneTombstones(deps, keepDays);
  });
}

/**
 * Forgets the tombstones that were taken in more than so many days ago, in all tables with `deletes`: a peer that has not
 * read them by then is told to compare. Logs what fails.
 */
export async function pruneTombstones(deps: PruneTombstonesDeps, keepDays: number): Promise<void> {
  const before = formatMs(deps.clock.nowMs() - keepDays * DAY_MS);
  for (const table of deps.registry.values()) {
    if (!table.deletes) continue;
    try {
      const count = await deps.tombstones.prune(table, before);
      if (count > 0) deps.logger.info("Tombstones pruned", { table: table.name, count });
    } catch (error) {
      deps.logger.error("Tombstones could not be pruned", error, { table: table.name });
    }
  }
}
