// Removes old audit records; the rest still verifies. D-1.3, D-6.5.
import {
  type AuditRecord,
  checkpointAt,
  checkpointInput,
} from "../../../domain/reputation/audit/audit-chain.ts";
import { compareDateTimes, DAY_MS, formatMs } from "../../../domain/shared/time.ts";
import type { Clock } from "../../../ports/runtime/runtime.ts";
import type { AuditLog } from "../../../repositories/lookups/audit-log.ts";
import { type VerifyAuditDeps, verifyAudit } from "./verify-audit.ts";

interface PruneAuditDeps extends VerifyAuditDeps {
  readonly audit: AuditLog;
  readonly clock: Clock;
}

/** Records that one commit removes. */
const PAGE_RECORDS = 10_000;

/** Removes the first records of each chain that are older than `keepDays`; none of a log with a problem, as that would hide it. */
export async function pruneAudit(deps: PruneAuditDeps, keepDays: number) {
  const { problem } = await verifyAudit(deps);
  if (problem !== null) return { problem, removed: 0 };
  const before = formatMs(deps.clock.nowMs() - keepDays * DAY_MS);
  let removed = 0;
  for (const chainId of (await deps.audit.contents()).chainIds) {
    removed += await pruneChain(deps, chainId, before);
  }
  return { problem: null, removed };
}

async function pruneChain(deps: PruneAuditDeps, chainId: string, before: string): Promise<number> {
  let removed = 0;
  for (;;) {
    const page = await deps.audit.records(chainId, { after: null, limit: PAGE_RECORDS });
    const records = page.records as readonly AuditRecord[];
    const kept = records.findIndex(({ at }) => compareDateTimes(at, before) >= 0);
    const old = kept < 0 ? records : records.slice(0, kept);
    const last = old.at(-1);
    if (last === undefined) return removed;
    const statement = checkpointAt(last, formatMs(deps.clock.nowMs()));
    const signature = deps.mac.hmacHex(deps.auditKey, checkpointInput(statement));
    await deps.audit.prune({ statement, signature });
    removed += old.length;
  }
}
