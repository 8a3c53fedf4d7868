import { describe, expect } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError, isAppError } from "../../../src/domain/shared/errors.ts";
import type { NewRejection } from "../../../src/domain/sync/run/rejections.ts";
import type { RowWrite } from "../../../src/ports/tables/table-writes.ts";
import type { HeldLease } from "../../../src/repositories/leases.ts";
import type { CommitExtras, WriteOutcome } from "../../../src/usecases/sync/shared/write-rows.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import { type WriteToOptions, type WrittenTo, writeTo } from "../../support/rows/write-to.ts";
import type { RunStorage } from "../../support/run-parts.ts";
import { openSecond, type StoreHarness, storeTests } from "../harness.ts";

type Parts = Pick<
  RunStorage,
  "tables" | "documents" | "memory" | "leases" | "rejected" | "exchanged" | "lateRows" | "close"
>;

const ITEMS = makeTable({
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: { k: { type: "text" }, at: { type: "datetime" }, v: { type: "integer" } },
});

const TTL_MS = 600_000;
const at = "2024-01-01T00:00:00Z";
/** Of three records one is refused. */
const WRITES: readonly RowWrite[] = [
  { index: 0, row: { k: "a", at, v: 1 } },
  { index: 1, row: { k: "b", at, v: 1 }, refusedIfNew: "v may not be null" },
  { index: 2, row: { k: "c", at, v: 1 } },
];
const EXTRAS: CommitExtras = {
  memory: { pull: { marker: "2" } },
  rejected: [rejection("b")],
  accepted: { table: "items", direction: "pull", keys: [{ k: "a" }] },
  exchanged: new Uint8Array([1, 2, 3]),
};
const NOTHING = { rows: 0, marker: "1", rejected: ["a"], exchanged: [], isLate: false };
const EVERYTHING = { rows: 2, marker: "2", rejected: ["b"], exchanged: [[1, 2, 3]], isLate: true };

/** What a run keeps in the commit of its rows, and the lease under which it commits. */
export function tableExtrasTests(harness: StoreHarness<Parts>): void {
  describe(`${harness.name}: extras of writes`, () => {
    commitTests(harness);
    leaseTests(harness);
    if (harness.options.isShared) sharingTests(harness);
  });
}

function commitTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-7.7 rows, marker, refused and accepted records, exchanged rows and late rows are one commit", async (storage) => {
    const look = await begin(storage);
    const outcome = await writeTo(storage, ITEMS, WRITES, { beforeCommit: () => EXTRAS });
    expect(outcome.failures.map(({ index }) => index)).toEqual([1]);
    expect(await look()).toEqual(EVERYTHING);
  });

  it("D-7.7 a commit that moves a marker over a refused record holds that record", async (storage) => {
    const look = await begin(storage);
    const refused = (outcome: WrittenTo): CommitExtras => ({
      memory: { pull: { marker: "2" } },
      rejected: outcome.failures.map(({ index }) => rejection(String(WRITES[index]?.row["k"]))),
    });
    await writeTo(storage, ITEMS, WRITES, { beforeCommit: refused });
    expect(await look()).toMatchObject({ marker: "2", rejected: ["b", "a"] });
  });

  it("D-7.7 nothing is written when beforeCommit throws", async (storage) => {
    const look = await begin(storage);
    const stopped = new AppError("sync_failed", "Stopped");
    const beforeCommit = () => {
      throw stopped;
    };
    for (const writes of [WRITES, []]) {
      const writing = writeTo(storage, ITEMS, writes, { beforeCommit });
      expect(await writing.catch((error: unknown) => error)).toBe(stopped);
    }
    expect(await look()).toEqual(NOTHING);
  });

  it("D-7.7 extras are committed without rows, and with rows that do not change", async (storage) => {
    const look = await begin(storage);
    await writeTo(storage, ITEMS, [], { beforeCommit: () => EXTRAS });
    expect(await look()).toEqual({ ...EVERYTHING, rows: 0, isLate: false });
    await writeTo(storage, ITEMS, WRITES);
    const exchanged = new Uint8Array([4]);
    await writeTo(storage, ITEMS, WRITES, { beforeCommit: () => ({ exchanged }) });
    expect(await look()).toEqual({ ...EVERYTHING, exchanged: [[1, 2, 3], [4]] });
  });

  it("D-7.7 accepted entries are dropped before refused ones are noted", async (storage) => {
    const look = await begin(storage);
    const extras = { ...EXTRAS, rejected: [rejection("a")] };
    await writeTo(storage, ITEMS, [], { beforeCommit: () => extras });
    expect((await look()).rejected).toEqual(["a"]);
    const [entry] = await listed(storage);
    expect(entry?.attempts).toBe(1);
  });

  it("D-7.8 beforeCommit is told what the write then resolves to", async (storage) => {
    await begin(storage);
    await writeTo(storage, ITEMS, [{ index: 0, row: { k: "c", at, v: 0 } }]);
    const told: WriteOutcome[] = [];
    const beforeCommit = (outcome: WriteOutcome) => {
      told.push(outcome);
      return {};
    };
    const writes = [...WRITES, { index: 3, row: { k: "a", at: null, v: 9 } }];
    const outcome = await writeTo(storage, ITEMS, writes, { beforeCommit, conflict: "newer" });
    expect(outcome).toEqual({
      ...{ failures: [{ index: 1, message: "v may not be null" }], kept: [3] },
      ...{ changed: 2, deleted: 0 },
    });
    expect(told.at(-1)).toEqual({ ...outcome, erased: [] });
  });
}

function leaseTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-7.8 a write under a lease that is held is committed, also after it was renewed", async (storage) => {
    const look = await begin(storage);
    const held = await acquired(storage);
    await writeTo(storage, ITEMS, WRITES.slice(0, 1), { lease: held.claim });
    expect(await held.renew()).toBe(true);
    const options = { lease: held.claim, beforeCommit: () => EXTRAS };
    await writeTo(storage, ITEMS, WRITES, options);
    expect(await look()).toEqual(EVERYTHING);
    expect(await held.renew()).toBe(true);
    await held.release();
    await acquired(storage);
  });

  it("D-7.8 a write does not make its lease last longer", async (storage, store) => {
    await begin(storage);
    const held = await acquired(storage);
    await store.advance(TTL_MS * 0.9);
    await writeTo(storage, ITEMS, WRITES, { lease: held.claim });
    await store.advance(TTL_MS * 0.2);
    await acquired(storage);
  });

  const losses: Readonly<Record<string, (lost: LostLease) => Promise<unknown>>> = {
    "ran out": ({ pass }) => pass(),
    "was released": ({ held }) => held.release(),
    "ran out and was taken by another": async ({ pass, storage }) => {
      await pass();
      await acquired(storage);
    },
  };
  for (const [how, lose] of Object.entries(losses)) {
    it(`D-7.8 a write under a lease that ${how} writes nothing and throws lease_lost`, async (storage, store) => {
      const look = await begin(storage);
      const held = await acquired(storage);
      await lose({ held, storage, pass: () => store.advance(TTL_MS * 2) });
      for (const writes of [WRITES, []]) {
        const options: WriteToOptions = { lease: held.claim, beforeCommit: () => EXTRAS };
        const error = await writeTo(storage, ITEMS, writes, options).catch((e: unknown) => e);
        expect(isAppError(error, "lease_lost")).toBe(true);
      }
      expect(await look()).toEqual(NOTHING);
    });
  }

  it("D-7.8 writes under a lease and its renewals do not disturb one another", async (storage) => {
    await begin(storage);
    const held = await acquired(storage);
    const work = Array.from({ length: 12 }, async (_, n) => {
      const writes = [{ index: 0, row: { k: `k${n}`, at, v: n } }];
      const { changed } = await writeTo(storage, ITEMS, writes, { lease: held.claim });
      return [changed, await held.renew()];
    });
    expect(await Promise.all(work)).toEqual(work.map(() => [1, true]));
  });
}

function sharingTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-7.7 another instance never sees a marker before the refused record that it passed", async (storage, store) => {
    const other = await openSecond(store);
    await storage.tables.prepare([ITEMS]);
    const rounds = 20;
    const writing = (async () => {
      for (let n = 1; n <= rounds; n++) {
        const extras = {
          memory: { pull: { marker: `${n}` } },
          rejected: [rejection(`refused ${n}`)],
          exchanged: new Uint8Array([n]),
        };
        await writeTo(storage, ITEMS, [], { beforeCommit: () => extras });
      }
    })();
    for (let marker = 0; marker < rounds; ) {
      marker = Number((await other.memory.read("items")).pull.marker ?? 0);
      expect((await listed(other)).length).toBeGreaterThanOrEqual(marker);
      expect((await other.exchanged.read("items")).blocks.length).toBeGreaterThanOrEqual(marker);
      await nextTurn();
    }
    await writing;
  });

  it("D-7.8 a lease that another instance took meanwhile ends the writes of the first", async (storage, store) => {
    const other = await openSecond(store);
    const look = await begin(storage);
    await other.tables.prepare([ITEMS]);
    const held = await acquired(storage);
    await store.advance(TTL_MS * 2);
    const taken = await acquired(other);
    const options: WriteToOptions = { lease: held.claim, beforeCommit: () => EXTRAS };
    const error = await writeTo(storage, ITEMS, WRITES, options).catch((e: unknown) => e);
    expect(isAppError(error, "lease_lost")).toBe(true);
    expect(await look()).toEqual(NOTHING);
    await writeTo(other, ITEMS, WRITES, { ...options, lease: taken.claim });
    expect(await look()).toEqual(EVERYTHING);
  });
}

interface LostLease {
  readonly held: HeldLease;
  readonly storage: Parts;
  readonly pass: () => Promise<void>;
}

/** Prepares the table, with a marker and a refused record from before. Returns how to look at all that writes commit. */
async function begin(storage: Parts) {
  await storage.tables.prepare([ITEMS]);
  const before = { memory: { pull: { marker: "1" } }, rejected: [rejection("a")] };
  await writeTo(storage, ITEMS, [], { beforeCommit: () => before });
  const { mark } = await storage.lateRows.read(ITEMS, { lateAfter: null, isForOwnPush: false });
  return async () => ({
    rows: await storage.tables.count(ITEMS),
    marker: (await storage.memory.read("items")).pull.marker,
    rejected: (await listed(storage)).map(({ key }) => key["k"]),
    exchanged: (await storage.exchanged.read("items")).blocks.map((block) => [...block]),
    isLate:
      (await storage.lateRows.read(ITEMS, { lateAfter: mark, isForOwnPush: false })).from !== null,
  });
}

async function acquired({ leases }: Parts): Promise<HeldLease> {
  const lease = await leases.acquire({ name: "sync pull items", holder: "run", ttlMs: TTL_MS });
  if ("heldBy" in lease) throw new Error(`The lease is held by "${lease.heldBy}"`);
  return lease;
}

async function listed({ rejected }: Parts) {
  return await rejected.list({ table: "items", direction: null, limit: 100, behindId: null });
}

function rejection(k: string): NewRejection {
  const noted = { message: "Refused", fingerprint: `of ${k}`, lastAtMs: 1_700_000_000_000 };
  return { table: "items", direction: "pull", key: { k }, record: { k }, ...noted };
}
