import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  type AuditEntry,
  appendEntry,
  canonicalJson,
  checkpointAt,
  checkpointInput,
  emptyChain,
  hashInput,
  headInput,
  planAppend,
} from "../../../../src/domain/reputation/audit/audit-chain.ts";
import { auditItem } from "../../../../src/domain/reputation/audit/audit-item.ts";
import { toWire } from "../../../../src/domain/shared/wire-names.ts";

const sha256Hex = (text: string) => createHash("sha256").update(text).digest("hex");

const FIRST: AuditEntry = {
  at: "2026-03-01T12:00:00.123Z",
  requestId: "req_00000001",
  accountId: "42",
  keyId: "7",
  endpoint: "reputation",
  purpose: "reputation_lookup",
  subjectHmac: "ab".repeat(32),
  consentId: 3,
  decision: "allowed",
  code: null,
  status: 200,
};
const SECOND: AuditEntry = {
  ...FIRST,
  at: "2026-03-01T12:00:01Z",
  requestId: "req_00000002",
  accountId: 'Zoë "\\\n\u0001€😀',
  consentId: null,
  decision: "denied",
  code: "consent_required",
  status: 403,
};
// Python: hashlib.sha256 of json.dumps with sort_keys, separators=(",", ":"), ensure_ascii=False.
const FIRST_HASH = "25336a21a667230ddb66b1b6c7db0ea41df917786068999253b11aa423cb2782";
const SECOND_HASH = "3e39fd7d05a3185d855e1081224bfa5d4a2b8fd9f3eb69a1efedd0f838500c2f";

describe("records", () => {
  const first = appendEntry(emptyChain("chain-a"), FIRST, sha256Hex);
  const second = appendEntry(first, SECOND, sha256Hex);

  test("D-6.5 the first record follows 64 zeros", () => {
    expect(first).toEqual({
      ...FIRST,
      version: 1,
      chainId: "chain-a",
      seq: 1,
      previousHash: "0000000000000000000000000000000000000000000000000000000000000000",
      hash: FIRST_HASH,
    });
  });

  test("D-6.5 each record names the hash of the one before and has one of its own", () => {
    expect(second.seq).toBe(2);
    expect(second.previousHash).toBe(FIRST_HASH);
    expect(second.hash).toBe(SECOND_HASH);
  });

  test("D-6.5 planAppend() goes on from the chain's tip, and signs the head that takes its place", () => {
    const chain = { ...emptyChain("chain-a"), chainNumber: 4 };
    const plan = planAppend(chain, [FIRST, SECOND], sha256Hex);
    expect(plan.records).toEqual([first, second]);
    const tip = { chainId: "chain-a", seq: 2, hash: SECOND_HASH };
    const head = { ...tip, chainNumber: 4, at: "2026-03-01T12:00:01Z" };
    expect(plan.head).toEqual({ statement: head, signature: sha256Hex(headInput(head)) });
    const next = planAppend(plan.head.statement, [FIRST], sha256Hex);
    expect(next.records[0]).toMatchObject({ seq: 3, previousHash: SECOND_HASH });
  });

  test("D-6.5 hashInput() is the format's name and the canonical JSON of all other fields", () => {
    expect(hashInput(first)).toBe(
      "repsync.audit.record.v1\n" +
        '{"accountId":"42","at":"2026-03-01T12:00:00.123Z","chainId":"chain-a","code":null,' +
        '"consentId":3,"decision":"allowed","endpoint":"reputation","keyId":"7",' +
        `"previousHash":"${"0".repeat(64)}","purpose":"reputation_lookup",` +
        `"requestId":"req_00000001","seq":1,"status":200,"subjectHmac":"${"ab".repeat(32)}",` +
        '"version":1}',
    );
  });

  test("D-6.5 hashInput() does not depend on the order of the fields", () => {
    const reversed = Object.fromEntries(Object.entries(second).reverse()) as typeof second;
    expect(sha256Hex(hashInput(reversed))).toBe(SECOND_HASH);
  });

  test("D-6.5 heads and checkpoints are signed under names of their own", () => {
    const head = { chainId: "chain-a", chainNumber: 1, seq: 2, hash: FIRST_HASH, at: SECOND.at };
    expect(sha256Hex(headInput(head))).toBe(
      "65f10a4fa6eb907c9c73d9246ac64430c31bdb44cada6cdcf2cbb9b938b7f96e",
    );
    const checkpoint = { chainId: "chain-a", seq: 2, hash: FIRST_HASH, at: SECOND.at };
    expect(sha256Hex(checkpointInput(checkpoint))).toBe(
      "8e8cba06b8cab31139cc5550c820fdea66036101cfec190cc851035d8a9dff7e",
    );
  });

  test("D-6.5 checkpointAt() stands for the last pruned record", () => {
    expect(checkpointAt(second, "2027-04-05T00:00:00Z")).toEqual({
      chainId: "chain-a",
      seq: 2,
      hash: SECOND_HASH,
      at: "2027-04-05T00:00:00Z",
    });
  });

  test("D-5.5, D-9.5 auditItem() shows who looked, by a name that may be gone", () => {
    expect(JSON.stringify(toWire(auditItem(second, "shop", null)))).toBe(
      '{"id":"chain-a-2","at":"2026-03-01T12:00:01Z","kind":"lookup","account":"shop","subject":null,' +
        '"purpose":"reputation_lookup","action":null,"decision":"denied","code":"consent_required",' +
        '"request_id":"req_00000002"}',
    );
    expect(auditItem(first, null, null)).toMatchObject({ account: "", code: null });
  });
});

describe("canonical JSON", () => {
  test("D-6.5 canonicalJson() orders names by UTF-16 code units and escapes as JSON does", () => {
    expect(canonicalJson({ b: 1, a: null, "\u20ac": "é\u2028\u007f", A: -5, "": "\t\b" })).toBe(
      '{"":"\\t\\b","A":-5,"a":null,"b":1,"€":"é\u2028\u007f"}',
    );
    expect(canonicalJson({ z: -0, m: 9_007_199_254_740_991 })).toBe('{"m":9007199254740991,"z":0}');
  });

  test("D-6.5 canonicalJson() throws for what a store might not give back unchanged", () => {
    for (const odd of [1.5, 2 ** 53, Number.NaN, undefined, true, {}, [], "\ud800", 1n]) {
      expect(() => canonicalJson({ odd })).toThrow(RangeError);
    }
  });
});
