// D-9.5: verifications that are left, that meet each other, and whose store fails.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { AppError } from "../../src/domain/shared/errors.ts";
import {
  type AuditVerificationEvent,
  AuditVerifications,
  type VerifyAuditDeps,
} from "../../src/usecases/reputation/audit/verify-audit.ts";
import { openMemoryStore } from "../adapters/sqlite/stores-support.ts";
import {
  AUDIT_KEY,
  BY_ROOT,
  MAC,
  openParts,
  type ReputationParts,
  Scene,
} from "../contract/lookups/reputation-harness.ts";
import { MemoryLogger } from "../support/memory-logger.ts";
import { forgetful } from "../support/value-caches.ts";

const PROBLEM = new AppError("store_unavailable", "The store is gone");

let store: Awaited<ReturnType<typeof openMemoryStore>>;
let parts: ReputationParts;
let logger: MemoryLogger;

/** A log of three chains with a record each, as of three processes. */
beforeEach(async () => {
  store = await openMemoryStore();
  logger = new MemoryLogger();
  parts = await openParts(store.storage, forgetful);
  const { nowMs, advance, dispose } = store;
  const scene = new Scene(parts, { storage: parts, nowMs, advance, dispose });
  for (const name of ["ana", "bea", "cyd"]) {
    await scene.enrol(name);
    await parts.membership.erase(name);
    const { administration } = await openParts(store.storage, forgetful);
    await administration.release(name, BY_ROOT);
  }
});
afterEach(() => store.dispose());

/** Verifications, the pages that they read, and the turns that others had. */
function makeVerifications(readPage: (page: number) => void = () => {}) {
  const counts = { pages: 0, turns: 0 };
  const { audit: log } = parts;
  const audit: VerifyAuditDeps["audit"] = {
    overview: () => log.overview(),
    claims: (chainId) => log.claims(chainId),
    contents: () => log.contents(),
    records: async (chainId, page) => {
      readPage(++counts.pages);
      return await log.records(chainId, page);
    },
  };
  const timer = {
    sleep: async () => {
      counts.turns++;
    },
  };
  const clock = { nowMs: () => store.nowMs(), monotonicMs: () => 0 };
  const deps = { audit, mac: MAC, auditKey: AUDIT_KEY, clock, timer, logger };
  return { verifications: new AuditVerifications(deps), counts };
}

test("D-9.5 others have their turn before every page", async () => {
  const { verifications, counts } = makeVerifications();
  expect(await Array.fromAsync(verifications.start())).toEqual([
    { type: "progress", records: 0 },
    { type: "progress", records: 1 },
    { type: "progress", records: 2 },
    { type: "progress", records: 3 },
    { type: "done", problem: null, chains: 3, records: 3 },
    { type: "finished" },
  ]);
  expect(counts).toEqual({ pages: 3, turns: 4 });
});

test("D-9.5 a verification that is left reads nothing more, and lets the next one begin", async () => {
  const { verifications, counts } = makeVerifications();
  const events = verifications.start();
  await events.next();
  await events.next();
  expect(() => verifications.start()).toThrow("The audit log is being verified by this process");
  await events.return();
  expect(counts.pages).toBe(1);
  expect(await Array.fromAsync(verifications.start())).toHaveLength(6);
});

test("D-9.5 events that nobody asks for keep nobody out; of two begun at once the second fails", async () => {
  const { verifications } = makeVerifications();
  const [unasked, late] = [verifications.start(), verifications.start()];
  await unasked.return();
  const first = verifications.start();
  await first.next();
  expect(await Array.fromAsync(late)).toEqual([
    { type: "error", error: expect.stringContaining("being verified") },
    { type: "finished" },
  ]);
  expect((await Array.fromAsync(first)).at(-1)).toEqual({ type: "finished" });
});

test.each([
  ["a store that fails", PROBLEM, "The store is gone", 0],
  ["a bug", new TypeError("x of undefined"), "The verification failed; the log", 1],
] as const)("D-9.5 %s ends it with an error event", async (_, error, message, logged) => {
  const { verifications } = makeVerifications((page) => {
    if (page === 2) throw error;
  });
  const events = await Array.fromAsync(verifications.start());
  expect(events.slice(2)).toEqual([
    { type: "error", error: expect.stringContaining(message) },
    { type: "finished" },
  ]);
  expect(logger.lines).toHaveLength(logged);
  expect((await Array.fromAsync(verifications.start())).at(-2)).toMatchObject({ type: "done" });
});

test("D-9.5 a process that stops ends the one that runs, and lets none go on", async () => {
  const { verifications, counts } = makeVerifications();
  const events = verifications.start();
  await events.next();
  verifications.stop();
  const ended: AuditVerificationEvent[] = [
    { type: "error", error: expect.stringContaining("The service is stopping") },
    { type: "finished" },
  ];
  expect(await Array.fromAsync(events)).toEqual(ended);
  expect((await Array.fromAsync(verifications.start())).slice(1)).toEqual(ended);
  expect(counts.pages).toBe(0);
});
