// Searches the audit log back in time, in parts of bounded time. D-9.5. No index leads from a time or a caller to records, as
// every lookup would change it. A search reads stretches of chains by their last time, the latest first; a record is certain once
// no other stretch may hold a later one. A cursor is a place or a time, so nothing is kept between requests.
import type { AuditRecord } from "../../../domain/reputation/audit/audit-chain.ts";
import {
  type AuditPlace,
  newestFirst,
  placeAfter,
} from "../../../domain/reputation/audit/audit-item.ts";
import {
  MAX_SEARCHED_AUDIT_RECORDS,
  MAX_SEARCHED_AUDIT_STRETCHES,
} from "../../../domain/shared/limits.ts";
import type { Turns } from "../../../ports/runtime/turns.ts";
import type { AuditStretch } from "../../../repositories/lookup-collections.ts";
import type { AuditQuery, AuditSearch } from "../../../repositories/lookups/audit-search.ts";

export interface SearchAuditDeps {
  readonly auditSearch: Pick<AuditSearch, "stretches" | "records">;
  /** Lets others have their turn. */
  readonly turns: Pick<Turns, "isOver" | "next">;
}

export interface SearchBounds {
  readonly records: number;
  readonly stretches: number;
}

interface FoundRecords {
  /** Newest first; at most `limit`, perhaps none. */
  readonly records: readonly AuditRecord[];
  /** The place where the next search begins; null at the end. */
  readonly next: AuditPlace | null;
}

const BOUNDS: SearchBounds = {
  records: MAX_SEARCHED_AUDIT_RECORDS,
  stretches: MAX_SEARCHED_AUDIT_STRETCHES,
};

/**
 * Finds records, newest first. Searches that each begin at `next` of the one before find every record of the first moment once,
 * whatever is written meanwhile. Throws `store_unavailable`.
 */
export async function searchAudit(
  { auditSearch, turns }: SearchAuditDeps,
  query: AuditQuery,
  bounds = BOUNDS,
): Promise<FoundRecords> {
  const { before, from, names, limit } = query;
  // One more of each tells whether there are more.
  const wanted = { upTo: before.at, from, names, limit: bounds.stretches + 1 };
  const left = { ...bounds };
  let found: readonly AuditRecord[] = [];
  for (const stretch of await auditSearch.stretches(wanted)) {
    if (isFull(found, limit, stretch)) break;
    const isOverlapping = stretch.lastAt >= before.at;
    if (!isOverlapping && (left.records <= 0 || left.stretches <= 0)) {
      // All records later than the end of this stretch are found.
      const certain = found.filter(({ at }) => at > stretch.lastAt);
      return firstOf(certain, limit, placeAfter(stretch.lastAt));
    }
    const records = await auditSearch.records(stretch, { ...query, limit: limit + 1 });
    found = [...found, ...records].sort(newestFirst).slice(0, limit + 1);
    left.records -= stretch.lastSeq - stretch.firstSeq + 1;
    if (!isOverlapping) left.stretches--;
    if (turns.isOver) await turns.next();
  }
  return firstOf(found, limit, null);
}

/** True when neither this stretch nor a later one has a record among the first `limit`. */
function isFull(found: readonly AuditRecord[], limit: number, { lastAt }: AuditStretch): boolean {
  const more = found[limit];
  return more !== undefined && more.at > lastAt;
}

function firstOf(
  found: readonly AuditRecord[],
  limit: number,
  next: AuditPlace | null,
): FoundRecords {
  const records = found.slice(0, limit);
  return { records, next: found.length > limit ? (records.at(-1) ?? null) : next };
}
