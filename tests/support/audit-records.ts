import type { AuditRecord } from "../../src/domain/reputation/audit/audit-chain.ts";
import type { AuditLog } from "../../src/repositories/lookups/audit-log.ts";

/** All records of a log that verifies, chain by chain. */
export async function auditRecords(audit: AuditLog): Promise<readonly AuditRecord[]> {
  const all = { after: null, limit: Number.POSITIVE_INFINITY };
  const chains: AuditRecord[] = [];
  for (const chainId of (await audit.contents()).chainIds) {
    const { records } = await audit.records(chainId, all);
    chains.push(...(records as readonly unknown[] as readonly AuditRecord[]));
  }
  return chains;
}
