// D-5.5, D-9.5: who is named in the audit log is found in logs of many segments and groups of them, whichever process wrote them.
import { expect } from "bun:test";
import type { AuditRecord } from "../../../src/domain/reputation/audit/audit-chain.ts";
import { checkpointInput } from "../../../src/domain/reputation/audit/audit-chain.ts";
import {
  END_OF_TIME,
  newestFirst,
  placeAfter,
} from "../../../src/domain/reputation/audit/audit-item.ts";
import { INDEX_SHAPE, type IndexShape } from "../../../src/domain/reputation/audit/name-filter.ts";
import { LOOKUP_LOG, SEGMENTS, SLICES } from "../../../src/repositories/lookup-collections.ts";
import { readIndex } from "../../../src/repositories/lookups/segment-groups.ts";
import { type Access, accessLog, auditRecords } from "../../support/audit-views.ts";
import { SEED } from "../../support/seed.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { repositoryTests } from "../support/repository-tests.ts";
import { AUDIT_KEY, AuditScene, MAC } from "./audit-scene.ts";

/** Groups of 8 segments of 4 records, and large groups of 64. */
const SHAPE: IndexShape = { segmentRecords: 4, segmentsAtOnce: 2, filterBits: 1_024, groupSize: 8 };
const NAMES = ["ana", "bea", "cyd", "dan"] as const;
const DAY_MS = 86_400_000;

async function allIds(scene: AuditScene, name: string, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let before: Access | null = null; ; ) {
    const items = await accessLog(scene.search, name, { limit, before });
    ids.push(...items.map(({ id }) => id));
    before = items.at(-1) ?? null;
    if (before === null) return ids;
  }
}

async function everyRecord({ audit }: AuditScene): Promise<readonly AuditRecord[]> {
  return (await auditRecords(audit)).toSorted(newestFirst);
}

function idsAbout(scene: AuditScene, records: readonly AuditRecord[], name: string): string[] {
  const hmac = scene.subjects.hmacOfAbsent(name);
  return records
    .filter(({ subjectHmac }) => subjectHmac === hmac)
    .map(({ chainId, seq }) => `${chainId}-${seq}`);
}

async function sizes({ documents }: AuditScene) {
  const [segments, small, large] = await documents.read({ name: "test.sizes" }, (at) =>
    at.read(
      { from: SEGMENTS, count: {} },
      { from: SLICES, count: { within: [["small"]] } },
      { from: SLICES, count: { within: [["large"]] } },
    ),
  );
  return { segments, small, large };
}

async function prune(scene: AuditScene, seq: number): Promise<void> {
  const record = (await scene.records()).find((one) => one.seq === seq);
  const { chainId, hash, at } = record as unknown as AuditRecord;
  const statement = { chainId, seq, hash, at };
  const signature = MAC.hmacHex(AUDIT_KEY, checkpointInput(statement));
  await scene.audit.prune({ statement, signature });
}

repositoryTests(
  "the index of the audit log",
  (documents) => new AuditScene(documents, SHAPE),
  (it) => {
    it.everywhere(
      "D-5.5 every access is shown once, newest first, over groups, processes and clocks set back",
      async (first, second, { documents }) => {
        const random = new SeededRandom(SEED);
        const scenes = [first, second, new AuditScene(documents, SHAPE)] as const;
        let atMs = 0;
        for (let i = 0; i < 200; i++) {
          const scene = random.pick(scenes.slice(0, i < 150 ? 2 : 3));
          const names = Array.from({ length: random.int(1, 5) }, () =>
            random.chance(0.1) ? random.pick(NAMES) : `other-${random.int(0, 40)}`,
          );
          await scene.append(names, atMs);
          atMs = Math.max(0, atMs + random.int(-2_000, 60_000));
        }
        const { segments, small, large } = await documents.read({ name: "test.index" }, readIndex);
        expect(segments).toBeGreaterThan(64);
        expect(large).toBeGreaterThan(0);
        const [larges, smalls] = [large * 1_024, (small - 8 * large) * 128];
        expect(await sizes(first)).toEqual({ segments, small: smalls, large: larges });
        const records = await everyRecord(first);
        for (const name of NAMES) {
          const expected = idsAbout(first, records, name);
          expect(expected.length).toBeGreaterThan(0);
          for (const limit of [1, 7, 100]) {
            expect([SEED, name, await allIds(second, name, limit)]).toEqual([SEED, name, expected]);
          }
        }
      },
    );

    it("D-5.5 what a process has left is listed once another begins, and an old chain is closed", async (first, second, {
      documents,
      clock,
    }) => {
      await first.append(["ana", "bea"]);
      await first.append(["ana"], 1_000);
      expect((await sizes(first)).segments).toBe(0);
      await second.append(["ana"], 2_000);
      expect((await sizes(first)).segments).toBe(1);
      const tails = async () => {
        const [found] = await documents.read({ name: "test.tails" }, (at) =>
          at.read({ from: LOOKUP_LOG, keysOf: { within: [["tail"]] } }),
        );
        return found.map(([, chainId]) => chainId).sort();
      };
      expect(await tails()).toEqual([first.chainId, second.chainId].sort());
      clock.advance(DAY_MS + 1_000);
      await new AuditScene(documents, SHAPE).append(["bea"], DAY_MS);
      const closed = first.chainId;
      expect(await tails()).not.toContain(closed);
      expect(await tails()).toContain(second.chainId);
      await first.append(["bea"], DAY_MS);
      expect(first.chainId).not.toBe(closed);
      expect(await first.verify()).toEqual({ problem: null, chains: 4, records: 6 });
      const items = await accessLog(second.search, "ana", { limit: 9, before: null });
      expect(items.map(({ at }) => at.slice(17, 19))).toEqual(["02", "01", "00"]);
    });

    it.everywhere(
      "D-5.5 a part that somebody else has indexed is indexed once",
      async (first, second) => {
        for (let i = 0; i < 6; i++) await first.append(["ana"], i);
        await second.append(["bea"]);
        for (let i = 6; i < 20; i++) await first.append(["ana"], i);
        const items = await accessLog(first.search, "ana", { limit: 100, before: null });
        expect(items.length).toBe(20);
        expect(new Set(items.map(({ id }) => id)).size).toBe(20);
      },
    );

    it("D-5.5 accesses of the same moment come in the order of their chains, wherever they are listed", async (_, __, {
      documents,
    }) => {
      let ids: string[] = [];
      for (let i = 0; i < 12; i++) {
        const scene = new AuditScene(documents, SHAPE);
        await scene.append(["bea"]);
        ids = await allIds(scene, "bea", 100);
        expect(ids.length).toBe(i + 1);
        expect(ids).toEqual(ids.toSorted().reverse());
        const [newest] = await accessLog(scene.search, "bea", { limit: 1, before: null });
        expect(newest?.id).toBe(ids[0] as string);
      }
    });

    it("D-1.3 pruned records are gone with their segments and slices, and those behind them are found", async (scene) => {
      for (let i = 0; i < 150; i++)
        await scene.append([i % 10 === 0 ? "ana" : "x", "y"], 1_000 * i);
      expect(await sizes(scene)).toEqual({ segments: 74, small: 128, large: 1_024 });
      await prune(scene, 259);
      expect(await sizes(scene)).toEqual({ segments: 10, small: 128, large: 0 });
      const expected = idsAbout(scene, await everyRecord(scene), "ana");
      expect(expected.map((id) => Number(id.split("-")[1]))).toEqual([281, 261]);
      expect(await allIds(scene, "ana", 3)).toEqual(expected);
      expect(await scene.verify()).toEqual({ problem: null, chains: 1, records: 41 });
      await prune(scene, 300);
      expect(await sizes(scene)).toEqual({ segments: 0, small: 0, large: 0 });
      expect(await scene.verify()).toEqual({ problem: null, chains: 1, records: 0 });
      await scene.append(["ana"]);
      expect(await scene.verify()).toEqual({ problem: null, chains: 1, records: 1 });
      expect(await allIds(scene, "ana", 3)).toEqual([`${scene.chainId}-301`]);
    });

    it("D-6.5 pruning cuts within what was committed together", async (scene) => {
      await scene.append(["ana", "bea", "cyd"]);
      await scene.append(["dan"]);
      await prune(scene, 2);
      expect(await scene.verify()).toEqual({ problem: null, chains: 1, records: 2 });
      const records = (await scene.records()) as readonly AuditRecord[];
      expect(records.map(({ seq }) => seq)).toEqual([3, 4]);
    });

    it("D-9.5 stretches of a time are few, however long the log is", async (scene) => {
      for (let i = 0; i < 201; i++) await scene.append(["x", "y"], 600_000 * i);
      const upTo = new Date(Date.UTC(2026, 2, 1, 12) + 600_000 * 100).toISOString();
      const wanted = { upTo, from: "", names: null, limit: 3 };
      const stretches = await scene.search.stretches(wanted);
      const tail = stretches.filter(({ lastAt }) => lastAt === END_OF_TIME);
      expect(tail.length).toBe(1);
      expect(stretches.slice(1).map(({ firstSeq, lastSeq }) => [firstSeq, lastSeq])).toEqual([
        ...[
          [201, 204],
          [197, 200],
          [193, 196],
          [189, 192],
        ],
      ]);
      const query = { before: placeAfter(upTo), from: "", names: null, limit: 9 };
      const records = await scene.search.records(stretches[1] as never, query);
      expect(records.map(({ seq }) => seq)).toEqual([202, 201]);
    });

    it("D-9.5 an account that has called is found by its id", async (scene) => {
      const accountId = "0123456789abcdef";
      for (let i = 0; i < 40; i++) {
        await scene.append(["x"], i, i % 20 === 0 ? accountId : "fedcba9876543210");
      }
      const names = { username: "ana", accountId, subjectHmacs: [] };
      const wanted = { upTo: END_OF_TIME, from: "", names, limit: 100 };
      const stretches = await scene.search.stretches(wanted);
      expect(stretches.length).toBe(2);
      const query = { before: placeAfter(END_OF_TIME), from: "", names, limit: 9 };
      const found = await Promise.all(stretches.map((one) => scene.search.records(one, query)));
      expect(found.flat().map(({ seq }) => seq)).toEqual([21, 1]);
    });
  },
);

repositoryTests(
  "the index of the audit log as it is",
  (documents) => new AuditScene(documents),
  (it) => {
    it("D-5.5 a segment has five hundred records, four are kept at once, and 64 become slices", async (scene) => {
      expect(INDEX_SHAPE.segmentRecords).toBe(512);
      const names = Array.from({ length: 512 }, (_, i) => `person-${i}`);
      for (let i = 0; i < 64; i++)
        await scene.append(i % 9 === 0 ? ["ana", ...names.slice(1)] : names, 1_000 * i);
      expect(await sizes(scene)).toEqual({ segments: 64, small: 256, large: 0 });
      const items = await accessLog(scene.search, "ana", { limit: 5, before: null });
      expect(items.map(({ at }) => at.slice(14, 19))).toEqual([
        "01:03",
        "00:54",
        "00:45",
        "00:36",
        "00:27",
      ]);
      expect((await accessLog(scene.search, "person-7", { limit: 100, before: null })).length).toBe(
        64,
      );
      expect(await accessLog(scene.search, "nobody", { limit: 5, before: null })).toEqual([]);
    });
  },
);
