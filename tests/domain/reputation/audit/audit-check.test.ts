// Ways to tamper with a stored chain, tried on real chains; the check must name the first trace.
import { describe, expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import fc from "fast-check";
import {
  type AuditEntry,
  type AuditHead,
  type AuditRecord,
  appendEntry,
  type ChainTip,
  checkpointAt,
  checkpointInput,
  emptyChain,
  headInput,
  type Signed,
} from "../../../../src/domain/reputation/audit/audit-chain.ts";
import {
  type AuditProblem,
  beginChainCheck,
  type ChainClaims,
  checkHeads,
  checkRecord,
  endChainCheck,
  type StoredRecord,
} from "../../../../src/domain/reputation/audit/audit-check.ts";
import { checkProperty } from "../../../support/seed.ts";

const sha256Hex = (text: string) => createHash("sha256").update(text).digest("hex");
const sign = (text: string) => createHmac("sha256", "test key").update(text).digest("hex");
const TOOLS = {
  sha256Hex,
  isSigned: (input: string, signature: string) => sign(input) === signature,
};
const NOON_MS = Date.parse("2026-03-01T12:00:00Z");

function entryNumber(n: number): AuditEntry {
  return {
    at: new Date(NOON_MS + 1000 * n).toISOString(),
    requestId: `req_${String(n).padStart(8, "0")}`,
    accountId: `${n % 3}`,
    keyId: "7",
    endpoint: "reputation",
    purpose: "reputation_lookup",
    subjectHmac: sha256Hex(String(n % 5)),
    consentId: n % 4 === 0 ? null : n,
    decision: n % 4 === 0 ? "denied" : "allowed",
    code: n % 4 === 0 ? "consent_required" : null,
    status: n % 4 === 0 ? 403 : 200,
  };
}

function makeChain(length: number, from: ChainTip = emptyChain("chain-a")): AuditRecord[] {
  const records: AuditRecord[] = [];
  let tip = from;
  for (let n = 1; n <= length; n++) {
    const record = appendEntry(tip, entryNumber(tip.seq + 1), sha256Hex);
    records.push(record);
    tip = record;
  }
  return records;
}

function headAt(tip: ChainTip, chainNumber = 1): Signed<AuditHead> {
  const { chainId, seq, hash } = tip;
  const statement = { chainId, chainNumber, seq, hash, at: "2026-03-01T13:00:00Z" };
  return { statement, signature: sign(headInput(statement)) };
}

function checkpointOf(record: AuditRecord) {
  const statement = checkpointAt(record, "2027-04-05T00:00:00Z");
  return { statement, signature: sign(checkpointInput(statement)) };
}

/** Checks stored records, in the order in which a store reads them: by `seq`. */
function verify(
  records: readonly StoredRecord[],
  claims: Partial<ChainClaims>,
  headAfter: Signed<AuditHead> | null = claims.heads?.at(-1) ?? null,
): AuditProblem | null {
  const ordered = records.toSorted((a, b) => Number(a.seq) - Number(b.seq));
  const begun = beginChainCheck(
    { chainId: "chain-a", checkpoint: null, heads: [], ...claims },
    TOOLS,
  );
  const check = ordered.reduce((state, record) => checkRecord(state, record, TOOLS), begun);
  return endChainCheck(check, headAfter, TOOLS);
}

function found(problem: AuditProblem | null): [string, number | null] | null {
  return problem === null ? null : [problem.kind, problem.seq];
}

const CHAIN = makeChain(10);
const HEAD = headAt(CHAIN[9] as AuditRecord);
const CLAIMS = { heads: [HEAD] };

/** The chain with one record replaced. */
function withRecord(seq: number, change: (record: AuditRecord) => StoredRecord): StoredRecord[] {
  return CHAIN.map((record) => (record.seq === seq ? change(record) : record));
}

/** The record with other contents and a hash that fits them. */
function rewritten(record: AuditRecord, change: Partial<AuditRecord>): AuditRecord {
  const { chainId, seq, previousHash, version: _, hash: __, ...entry } = { ...record, ...change };
  return appendEntry({ chainId, seq: seq - 1, hash: previousHash }, entry, sha256Hex);
}

describe("a whole chain", () => {
  test("D-6.5 verifies, of any length, the empty one too", () => {
    for (const length of [0, 1, 2, 10]) {
      const records = CHAIN.slice(0, length);
      const head = headAt(records.at(-1) ?? emptyChain("chain-a"));
      expect(verify(records, { heads: [head] })).toBeNull();
    }
  });

  test("D-6.5 verifies while the service writes", () => {
    const before = headAt(CHAIN[5] as AuditRecord);
    for (const read of [6, 8, 10]) {
      expect(verify(CHAIN.slice(0, read), { heads: [before] }, HEAD)).toBeNull();
    }
    expect(verify([], { heads: [] }, headAt(emptyChain("chain-a")))).toBeNull();
  });

  test("D-6.5 verifies after its beginning was pruned, or all of it", () => {
    for (const pruned of [1, 5, 10]) {
      const checkpoint = checkpointOf(CHAIN[pruned - 1] as AuditRecord);
      expect(verify(CHAIN.slice(pruned), { ...CLAIMS, checkpoint })).toBeNull();
    }
  });

  test("D-6.5 verifies against older heads that were kept elsewhere", () => {
    const kept = [2, 6].map((seq) => headAt(CHAIN[seq - 1] as AuditRecord));
    expect(verify(CHAIN, { heads: [...kept, HEAD] })).toBeNull();
    const checkpoint = checkpointOf(CHAIN[3] as AuditRecord);
    expect(verify(CHAIN.slice(4), { heads: [...kept, HEAD], checkpoint })).toBeNull();
  });
});

describe("a changed record", () => {
  test("D-6.5 is found when it was written while the log was read, and is not what the head names then", () => {
    const before = headAt(CHAIN[5] as AuditRecord);
    const seventh = appendEntry(
      CHAIN[5] as AuditRecord,
      { ...entryNumber(7), status: 404 },
      sha256Hex,
    );
    const others = [...CHAIN.slice(0, 6), seventh, ...makeChain(3, seventh)];
    expect(found(verify(others, { heads: [before] }, HEAD))).toEqual(["changed", 10]);
  });

  test("D-6.5 is named when a value has another type, a field is gone or is too many", () => {
    const odd: ((record: AuditRecord) => StoredRecord)[] = [
      (record) => ({ ...record, status: "200" }),
      (record) => ({ ...record, keyId: 7 }),
      (record) => ({ ...record, accountId: null }),
      (record) => ({ ...record, at: undefined }),
      (record) => ({ ...record, requestId: "\ud800" }),
      (record) => ({ ...record, consentId: 3n }),
      (record) => ({ ...record, note: "" }),
      (record) => ({ ...record, note: 1.5 }),
      ({ code: _, ...record }) => record,
      ({ code: _, ...record }) => ({ ...record, cod: null }),
    ];
    for (const change of odd) {
      expect(found(verify(withRecord(5, change), CLAIMS))).toEqual(["changed", 5]);
    }
  });

  test("D-6.5 is named when its hash was made to fit", () => {
    const records = withRecord(5, (record) => rewritten(record, { status: 404 }));
    expect(found(verify(records, CLAIMS))).toEqual(["changed", 5]);
    const last = withRecord(10, (record) => rewritten(record, { status: 404 }));
    expect(found(verify(last, CLAIMS))).toEqual(["changed", 10]);
  });

  test("D-6.5 is named when its link was rewritten and the record before is vouched for", () => {
    const first = withRecord(1, (r) => rewritten(r, { previousHash: "f".repeat(64) }));
    expect(found(verify(first, CLAIMS))).toEqual(["changed", 1]);
    const kept = headAt(CHAIN[4] as AuditRecord);
    const sixth = withRecord(6, (r) => rewritten(r, { previousHash: "f".repeat(64) }));
    expect(found(verify(sixth, { heads: [kept, HEAD] }))).toEqual(["changed", 6]);
  });

  test("D-6.5 is found by the next head when all that follow were rewritten", () => {
    const tail = makeChain(6, rewritten(CHAIN[3] as AuditRecord, { status: 404 }));
    const forged = [...CHAIN.slice(0, 3), rewritten(CHAIN[3] as AuditRecord, { status: 404 })];
    expect(found(verify([...forged, ...tail], CLAIMS))).toEqual(["changed", 10]);
    const kept = headAt(CHAIN[6] as AuditRecord);
    expect(found(verify([...forged, ...tail], { heads: [kept, HEAD] }))).toEqual(["changed", 7]);
  });

  test("D-6.5 the message names chain and record", () => {
    const problem = verify(
      withRecord(5, (record) => ({ ...record, status: 404 })),
      CLAIMS,
    );
    expect(problem?.message).toBe('Chain "chain-a": record 5 is not as written');
  });
});

describe("removed and added records", () => {
  test("D-6.5 the first of several removed records is named, of all of them too", () => {
    expect(found(verify(CHAIN.slice(0, 7), CLAIMS))).toEqual(["missing", 8]);
    expect(found(verify(CHAIN.slice(3), CLAIMS))).toEqual(["missing", 1]);
    expect(found(verify([], CLAIMS))).toEqual(["missing", 1]);
    const checkpoint = checkpointOf(CHAIN[3] as AuditRecord);
    expect(found(verify([], { ...CLAIMS, checkpoint }))).toEqual(["missing", 5]);
  });

  test("D-6.5 a record moved behind the end leaves a gap that is named", () => {
    const records = withRecord(5, (record) => ({ ...record, seq: 12 }));
    expect(found(verify(records, CLAIMS))).toEqual(["missing", 5]);
  });

  test("D-6.5 records that changed places are named by the first place", () => {
    const swap: Record<number, number> = { 4: 6, 6: 4 };
    const records = CHAIN.map((record) => ({ ...record, seq: swap[record.seq] ?? record.seq }));
    expect(found(verify(records, CLAIMS))).toEqual(["changed", 4]);
  });

  test("D-6.5 records read in another order than written are named", () => {
    const begun = beginChainCheck({ chainId: "chain-a", checkpoint: null, ...CLAIMS }, TOOLS);
    const order = [1, 2, 4, 3].map((seq) => CHAIN[seq - 1] as AuditRecord);
    const check = order.reduce((state, one) => checkRecord(state, one, TOOLS), begun);
    expect(found(check.problem)).toEqual(["missing", 3]);
    const back = [1, 2, 3, 1].map((seq) => CHAIN[seq - 1] as AuditRecord);
    const again = back.reduce((state, one) => checkRecord(state, one, TOOLS), begun);
    expect(found(again.problem)).toEqual(["reordered", 1]);
  });

  test("D-6.5 two records in one place are a fork", () => {
    expect(found(verify([...CHAIN, CHAIN[4] as AuditRecord], CLAIMS))).toEqual(["forked", 5]);
    const other = rewritten(CHAIN[4] as AuditRecord, { status: 404 });
    expect(found(verify([...CHAIN, other], CLAIMS))).toEqual(["forked", 5]);
  });

  test("D-6.5 a record appended by someone else is too much", () => {
    const [extra] = makeChain(1, CHAIN[9]);
    expect(found(verify([...CHAIN, extra as AuditRecord], CLAIMS))).toEqual(["extra", 11]);
    expect(found(verify(CHAIN, { heads: [] }))).toEqual(["extra", 1]);
  });

  test("D-6.5 a record of another chain does not pass for one of this", () => {
    const others = makeChain(10, emptyChain("chain-b"));
    const records = withRecord(5, () => others[4] as AuditRecord);
    expect(found(verify(records, CLAIMS))).toEqual(["changed", 5]);
  });
});

describe("heads and checkpoints", () => {
  test("D-6.5 a head that is not as signed is found, before and after", () => {
    const forged = { ...HEAD, statement: { ...HEAD.statement, seq: 7 } };
    expect(found(verify(CHAIN.slice(0, 7), { heads: [forged] }))).toEqual(["head", null]);
    expect(found(verify(CHAIN, CLAIMS, forged))).toEqual(["head", null]);
    const odd = { ...HEAD, statement: { ...HEAD.statement, at: 5 as unknown as string } };
    expect(found(verify(CHAIN, { heads: [{ ...odd, signature: "x" }] }))).toEqual(["head", null]);
    const broken = { ...HEAD, statement: { ...HEAD.statement, at: "\ud800" } };
    expect(found(verify(CHAIN, { heads: [broken] }))).toEqual(["head", null]);
  });

  test("D-6.5 another chain's head does not pass for this one's", () => {
    const other = headAt({ ...(CHAIN[9] as AuditRecord), chainId: "chain-b" });
    expect(found(verify(CHAIN, { heads: [other] }))).toEqual(["head", null]);
    expect(found(verify(CHAIN, CLAIMS, other))).toEqual(["head", null]);
  });

  test("D-6.5 a head that went away or back meanwhile is found", () => {
    expect(found(verify(CHAIN, CLAIMS, null))).toEqual(["head", null]);
    const earlier = headAt(CHAIN[6] as AuditRecord);
    expect(found(verify(CHAIN, CLAIMS, earlier))).toEqual(["extra", 8]);
  });

  test("D-6.5 an old head put back does not hide the records after it", () => {
    const earlier = headAt(CHAIN[6] as AuditRecord);
    expect(found(verify(CHAIN, { heads: [earlier] }))).toEqual(["extra", 8]);
    expect(found(verify(CHAIN.slice(0, 7), { heads: [earlier, HEAD] }, earlier))).toEqual([
      "missing",
      8,
    ]);
  });

  test("D-6.5 a checkpoint that is not as signed is found", () => {
    const checkpoint = checkpointOf(CHAIN[2] as AuditRecord);
    const forged = { ...checkpoint, statement: { ...checkpoint.statement, seq: 4 } };
    const withForged = { ...CLAIMS, checkpoint: forged };
    expect(found(verify(CHAIN.slice(4), withForged))).toEqual(["checkpoint", null]);
    const other = checkpointOf({ ...(CHAIN[2] as AuditRecord), chainId: "chain-b" });
    const withOther = { ...CLAIMS, checkpoint: other };
    expect(found(verify(CHAIN.slice(3), withOther))).toEqual(["checkpoint", null]);
  });

  test("D-6.5 a checkpoint beyond the head, or against it, is found", () => {
    const checkpoint = checkpointOf(CHAIN[6] as AuditRecord);
    const earlier = headAt(CHAIN[3] as AuditRecord);
    expect(found(verify([], { heads: [earlier], checkpoint }))).toEqual(["checkpoint", null]);
    const against = checkpointOf(rewritten(CHAIN[9] as AuditRecord, { status: 404 }));
    expect(found(verify([], { ...CLAIMS, checkpoint: against }))).toEqual(["checkpoint", null]);
  });

  test("D-6.5 records before the checkpoint do not belong to the chain any more", () => {
    const checkpoint = checkpointOf(CHAIN[4] as AuditRecord);
    expect(found(verify(CHAIN.slice(3), { ...CLAIMS, checkpoint }))).toEqual(["reordered", 4]);
  });

  test("D-6.5 a record that does not follow the checkpoint is named itself", () => {
    const checkpoint = checkpointOf(CHAIN[4] as AuditRecord);
    const records = withRecord(6, (r) => rewritten(r, { previousHash: "f".repeat(64) })).slice(5);
    expect(found(verify(records, { ...CLAIMS, checkpoint }))).toEqual(["changed", 6]);
  });

  test("D-6.5 checkHeads() finds a chain that was removed whole", () => {
    const heads = [1, 2, 3].map((n) => headAt(emptyChain(`chain-${n}`), n));
    expect(checkHeads(heads, TOOLS)).toBeNull();
    expect(checkHeads(heads.toReversed(), TOOLS)).toBeNull();
    expect(checkHeads([], TOOLS)).toBeNull();
    const [one, two, three] = heads as [Signed<AuditHead>, Signed<AuditHead>, Signed<AuditHead>];
    expect(checkHeads([one, three], TOOLS)?.message).toBe(
      'Chain "chain-3": the head of chain number 2, before it, is gone',
    );
    expect(checkHeads([two, three], TOOLS)?.kind).toBe("head");
    const twin = headAt(emptyChain("chain-x"), 2);
    expect(checkHeads([one, two, twin, three], TOOLS)?.message).toContain("has its number");
    const forged = { ...two, statement: { ...two.statement, seq: 5 } };
    expect(checkHeads([one, forged, three], TOOLS)).toMatchObject({
      kind: "head",
      chainId: "chain-2",
    });
  });
});

test("D-6.5 no change of any records, hashes made to fit or not, goes unseen", () => {
  type Tamper = (records: StoredRecord[], at: number) => StoredRecord[];
  const tampers: Tamper[] = [
    (records, at) => records.toSpliced(at, 1),
    (records, at) => records.toSpliced(at, 0, records[at] as StoredRecord),
    (records, at) => records.with(at, { ...records[at], status: 404, code: "profile_not_found" }),
    (records, at) =>
      records.with(
        at,
        rewritten(records[at] as unknown as AuditRecord, { requestId: "req_other" }),
      ),
    (records, at) => records.with(at, { ...records[at], seq: Number(records[at]?.seq) + 1 }),
    (records, at) => records.slice(0, at),
  ];
  const steps = fc.array(fc.tuple(fc.nat(), fc.constantFrom(...tampers)), {
    minLength: 1,
    maxLength: 3,
  });
  checkProperty(
    fc.property(fc.integer({ min: 1, max: 30 }), steps, (length, plan) => {
      const chain = makeChain(length);
      const head = headAt(chain.at(-1) as AuditRecord);
      let records: StoredRecord[] = chain;
      for (const [place, tamper] of plan) {
        if (records.length > 0) records = tamper(records, place % records.length);
      }
      const isSame = JSON.stringify(records) === JSON.stringify(chain);
      expect(verify(records, { heads: [head] }) === null).toBe(isSame);
    }),
    2_000,
  );
}, 60_000);
