// D-9.5: how much of the log one search looks through.
import { expect, test } from "bun:test";
import type { AuditRecord } from "../../src/domain/reputation/audit/audit-chain.ts";
import {
  type AuditPlace,
  END_OF_TIME,
  placeAfter,
} from "../../src/domain/reputation/audit/audit-item.ts";
import type { AuditStretch } from "../../src/repositories/lookup-collections.ts";
import {
  type SearchAuditDeps,
  searchAudit,
} from "../../src/usecases/reputation/audit/list-audit.ts";

/** The time of stretch `n`, the first of which is the latest. */
const timeOf = (n: number) => new Date(Date.UTC(2026, 2, 1) - n * 1_000).toISOString();

/** A log of so many stretches of so many records, of which each stretch gives one. */
function logOf(stretches: number, records: number) {
  const read: string[] = [];
  const all: AuditStretch[] = Array.from({ length: stretches }, (_, n) => ({
    ...{ chainId: `c${n}`, firstSeq: 1, lastSeq: records },
    ...{ firstAt: timeOf(n), lastAt: timeOf(n) },
  }));
  const auditSearch: SearchAuditDeps["auditSearch"] = {
    async stretches({ upTo, limit }) {
      return all.filter(({ lastAt }) => lastAt <= upTo).slice(0, limit);
    },
    async records({ chainId, lastAt: at }) {
      read.push(chainId);
      return [{ chainId, seq: 1, at } as AuditRecord];
    },
  };
  return { auditSearch, read };
}

const query = (before: AuditPlace, limit: number) => ({ before, from: "", names: null, limit });

test.each([
  ["20,000 records", 100, 2_000, 10],
  ["200 stretches", 500, 1, 200],
])(
  "D-9.5 a search looks through %s at most, and the next one goes on there",
  async (_, stretches, records, part) => {
    const { auditSearch, read } = logOf(stretches, records);
    const turns = { isOver: true, pauses: 0, next: async () => void turns.pauses++ };
    const first = await searchAudit({ auditSearch, turns }, query(placeAfter(END_OF_TIME), 1_000));
    expect(first.records).toHaveLength(part);
    expect(first.next).toEqual(placeAfter(timeOf(part)));
    expect([read.length, turns.pauses]).toEqual([part, part]);
    const second = await searchAudit(
      { auditSearch, turns },
      query(placeAfter(timeOf(part)), 1_000),
    );
    expect(second.records[0]).toMatchObject({ chainId: `c${part}` });
  },
);

test("D-9.5 a search reads no further than its page needs", async () => {
  const { auditSearch, read } = logOf(100, 1);
  const turns = { isOver: false, next: async () => {} };
  const found = await searchAudit({ auditSearch, turns }, query(placeAfter(END_OF_TIME), 5));
  expect(found.records.map(({ chainId }) => chainId)).toEqual(["c0", "c1", "c2", "c3", "c4"]);
  expect(found.next).toMatchObject({ chainId: "c4", seq: 1 });
  expect(read).toHaveLength(6);
});
