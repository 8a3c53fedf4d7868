// D-6.5: verifying a log that changes meanwhile, and claims about chains that nothing else speaks of.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { formatKeptHeads, readKeptHeads } from "../../src/domain/reputation/audit/kept-heads.ts";
import { toWire } from "../../src/domain/shared/wire-names.ts";
import type { AuditLog } from "../../src/repositories/lookups/audit-log.ts";
import {
  pruneAudit,
  type VerifyAuditDeps,
  verifyAudit,
} from "../../src/usecases/reputation/audit/verify-audit.ts";
import { openMemoryStore } from "../adapters/sqlite/stores-support.ts";
import {
  AUDIT_KEY,
  MAC,
  openParts,
  type ReputationParts,
  Scene,
} from "../contract/lookups/reputation-harness.ts";
import { forgetful } from "../support/value-caches.ts";

const SIGNING = { mac: MAC, auditKey: AUDIT_KEY };

let store: Awaited<ReturnType<typeof openMemoryStore>>;
let parts: ReputationParts;

/** A log of one chain, with three records. */
beforeEach(async () => {
  store = await openMemoryStore();
  parts = await openParts(store.storage, forgetful);
  const { nowMs, advance, dispose } = store;
  const scene = new Scene(parts, { storage: parts, nowMs, advance, dispose });
  await scene.enrol("ana");
  const { hash } = await scene.giveKey("ana");
  for (let i = 0; i < 3; i++) {
    await scene.lookUp(hash, "x");
    await store.advance(86_400_000);
  }
});
afterEach(() => store.dispose());

/** The log, with something that happens just before records are read for the first time. */
function beforeReading(log: AuditLog, act: () => Promise<unknown>): VerifyAuditDeps["audit"] {
  let isActing = true;
  return {
    overview: () => log.overview(),
    claims: (chainId) => log.claims(chainId),
    contents: () => log.contents(),
    async records(chainId, page) {
      if (isActing) {
        isActing = false;
        await act();
      }
      return await log.records(chainId, page);
    },
  };
}

test("D-6.5 a chain that is pruned while it is verified is whole", async () => {
  const clock = { nowMs: () => store.nowMs(), monotonicMs: () => 0 };
  const prune = () => pruneAudit({ audit: parts.audit, ...SIGNING, clock }, 2);
  const audit = beforeReading(parts.audit, async () => {
    expect(await prune()).toEqual({ problem: null, removed: 1 });
  });
  expect(await verifyAudit({ audit, ...SIGNING })).toMatchObject({ problem: null, chains: 1 });
});

test("D-6.5 a checkpoint of a chain without head and records is found", async () => {
  const statement = { chainId: "another", seq: 1, hash: "h", at: "2026-03-01T12:00:00.000Z" };
  await parts.audit.prune({ statement, signature: "s" });
  const { problem } = await verifyAudit({ audit: parts.audit, ...SIGNING });
  expect(problem).toMatchObject({ kind: "checkpoint", chainId: "another" });
});

test("D-8.9 a log goes on from heads that were kept elsewhere, also when it was pruned since", async () => {
  const kept = await parts.audit.heads();
  const text = formatKeptHeads(kept, store.nowMs());
  const reply = JSON.stringify({ success: true, data: toWire(JSON.parse(text)) });
  expect(readKeptHeads(reply)).toEqual(kept);
  expect(text).not.toContain("ana");
  const keptHeads = readKeptHeads(text);
  expect(keptHeads).toEqual(kept);
  const clock = { nowMs: () => store.nowMs(), monotonicMs: () => 0 };
  const verifyKept = () => verifyAudit({ audit: parts.audit, ...SIGNING }, { keptHeads });
  expect(await verifyKept()).toEqual({ problem: null, chains: 1, records: 3 });
  await pruneAudit({ audit: parts.audit, ...SIGNING, clock }, 2);
  expect(await verifyKept()).toEqual({ problem: null, chains: 1, records: 2 });
});

test("D-8.9 a log without a kept head's record, or with another there, is found", async () => {
  const other = await openMemoryStore();
  const empty = await openParts(other.storage, forgetful);
  const [head] = await parts.audit.heads();
  if (head === undefined) throw new Error("The log has no head");
  const audit = empty.audit;
  expect(await verifyAudit({ audit, ...SIGNING })).toMatchObject({ problem: null });
  const { problem } = await verifyAudit({ audit, ...SIGNING }, { keptHeads: [head] });
  expect(problem).toMatchObject({ kind: "missing", seq: 1 });
  const forged = { ...head, statement: { ...head.statement, hash: "0".repeat(64) } };
  const found = await verifyAudit({ audit: parts.audit, ...SIGNING }, { keptHeads: [forged] });
  expect(found.problem).toMatchObject({ kind: "head", message: expect.stringContaining("signed") });
  await other.dispose();
});

test.each([
  "",
  "null",
  "[]",
  '{"data":null}',
  '{"data":{"heads":[]}}',
  '{"heads":[]}',
  '{"format":"repsync.audit.heads.v1","heads":[{}]}',
  '{"format":"repsync.audit.heads.v1","heads":[null]}',
])("D-8.9 %j holds no heads", (text) => {
  expect(() => readKeptHeads(text)).toThrow("The file holds no heads of an audit log");
});
