import type { AuditRecord } from "../../src/domain/reputation/audit/audit-chain.ts";
import type { AuditLog } from "../../src/repositories/lookups/audit-log.ts";
import { listAccesses } from "../../src/usecases/reputation/audit/list-audit.ts";

type Deps = Parameters<typeof listAccesses>[0];

/** One lookup, as the person who was looked up sees it. */
export type Access = Awaited<ReturnType<typeof accessLog>>[number];

interface AccessPage {
  readonly limit: number;
  /** The item behind which it begins; null for the newest ones. */
  readonly before: { readonly at: string; readonly id: string } | null;
}

/** Who looked a person up, newest first. */
export async function accessLog(
  auditSearch: Deps["auditSearch"],
  username: string,
  { limit, before }: AccessPage,
) {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const deps = { auditSearch, clock, timer: { sleep: async () => {} } };
  const cursor = before === null ? null : `${before.at}_${before.id}`;
  return (await listAccesses(deps, username, { limit: String(limit), cursor })).items;
}

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
