// The audit log in memory, looked through back in time: each chain is one stretch.
import type { AuditRecord } from "../../../src/domain/reputation/audit/audit-chain.ts";
import type { AuditNames } from "../../../src/domain/reputation/audit/audit-item.ts";
import { newestFirst } from "../../../src/domain/reputation/audit/audit-place.ts";
import type {
  AuditSearch,
  AuditStretch,
  RecordQuery,
  StretchQuery,
} from "../../../src/ports/lookups/audit-search.ts";
import type { MemoryAuditLog } from "./audit.ts";
import type { Subjects } from "./people.ts";

/** Goes by the records themselves, without an index. */
export class MemoryAuditSearch implements AuditSearch {
  readonly #log: MemoryAuditLog;
  readonly #subjects: Subjects;

  constructor(log: MemoryAuditLog, subjects: Subjects) {
    this.#log = log;
    this.#subjects = subjects;
  }

  async stretches({ upTo, from, limit }: StretchQuery): Promise<readonly AuditStretch[]> {
    const all = (await this.#log.chainIds())
      .map((chainId) => stretchOf(chainId, this.#log.recordsOf(chainId)))
      .filter(({ firstAt, lastAt }) => firstAt <= upTo && lastAt >= from)
      .sort((a, b) => (a.lastAt < b.lastAt ? 1 : -1));
    const overlapping = all.filter(({ lastAt }) => lastAt >= upTo);
    return all.slice(0, overlapping.length + limit);
  }

  async records(
    { chainId, firstSeq, lastSeq }: AuditStretch,
    { before, from, names, limit }: RecordQuery,
  ): Promise<readonly AuditRecord[]> {
    return this.#log
      .recordsOf(chainId)
      .filter(({ seq, at }) => seq >= firstSeq && seq <= lastSeq && at >= from)
      .filter((record) => newestFirst(before, record) < 0)
      .filter((record) => names === null || isNamed(record, names))
      .sort(newestFirst)
      .slice(0, limit);
  }

  async namesOf(username: string): Promise<AuditNames> {
    const accountId = this.#subjects.knownAccountId(username);
    return { username, accountId, subjectHmacs: this.#subjects.everyHmac(username) };
  }

  async accountNames(accountIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const named = accountIds.map((id) => [id, this.#subjects.usernameOf(id)] as const);
    return new Map(named.filter((one): one is readonly [string, string] => one[1] !== null));
  }
}

function stretchOf(chainId: string, records: readonly AuditRecord[]): AuditStretch {
  const places = records.map(({ seq }) => seq);
  const times = records.map(({ at }) => at).sort();
  return {
    ...{ chainId, firstSeq: Math.min(...places), lastSeq: Math.max(...places) },
    ...{ firstAt: times.at(0) ?? "", lastAt: times.at(-1) ?? "" },
  };
}

function isNamed({ accountId, subjectHmac }: AuditRecord, names: AuditNames): boolean {
  return accountId === names.accountId || names.subjectHmacs.includes(subjectHmac);
}
