import { describe, expect } from "bun:test";
import { pruneAudit, verifyAudit } from "../../../src/usecases/reputation/audit/verify-audit.ts";
import { openSecond, storeTests, timedTests } from "../../contract/harness.ts";
import {
  type ReputationHarness,
  type ReputationParts,
  Scene,
} from "../../contract/lookups/reputation-harness.ts";
import { type Access, accessLog, auditRecords } from "../../support/audit-views.ts";
import { AUDIT_KEY, MAC } from "../support/people.ts";
import { reputationTests } from "../support/reputation-tests.ts";

const PAGE = { limit: 100, before: null };

reputationTests(auditLogSuite);

/** What every `AuditLog` holds, and `AuditSearch` shows to people. */
function auditLogSuite(harness: ReputationHarness): void {
  const it = storeTests(harness);
  const timed = timedTests(harness);
  const verify = ({ audit }: ReputationParts) =>
    verifyAudit({ audit, mac: MAC, auditKey: AUDIT_KEY });

  describe("audit", () => {
    it("D-6.5 every 200, 403 and 404 has its record, in order; 401 and 429 have none", async (parts, store) => {
      const scene = new Scene(parts, store);
      await scene.enrol("ana", { plan: "enterprise", rateLimitPerMinute: 3 });
      const { hash, id } = await scene.giveKey("ana");
      const consent = await scene.consent("ana");
      await scene.lookUp(hash, "ana", "platforms");
      await scene.lookUp("unknown", "ana");
      await scene.lookUp(hash, "nobody");
      await parts.consents.revoke("ana", { id: consent.id, nowMs: store.nowMs() });
      await scene.lookUp(hash, "ana");
      await scene.lookUp(hash, "ana");
      const records = await auditRecords(parts.audit);
      expect(
        records.map((r) => [r.seq, r.endpoint, r.status, r.code, r.consentId, r.keyId]),
      ).toEqual([
        [1, "platforms", 200, null, consent.id, id],
        [2, "reputation", 404, "profile_not_found", null, id],
        [3, "reputation", 403, "consent_required", null, id],
      ]);
      expect(JSON.stringify(records)).not.toContain('"ana"');
      expect(await verify(parts)).toEqual({ problem: null, chains: 1, records: 3 });
    });

    timed(
      "D-5.5 accessLog() shows who looked a person up, newest first, in parts",
      async (parts, store) => {
        const scene = new Scene(parts, store);
        await scene.enrol("ana");
        await scene.enrol("bea");
        await scene.consent("bea", "profile_lookup");
        const { hash } = await scene.giveKey("ana");
        for (const endpoint of ["profile", "reputation", "profile"] as const) {
          await scene.lookUp(hash, "bea", endpoint);
          await store.advance(1_000);
        }
        const all = await accessLog(parts.auditSearch, "bea", PAGE);
        expect(
          all.map(({ at, account, purpose, decision, code }) => [
            at,
            account,
            purpose,
            decision,
            code,
          ]),
        ).toEqual([
          ["2026-03-01T12:00:02.000Z", "ana", "profile_lookup", "allowed", null],
          ["2026-03-01T12:00:01.000Z", "ana", "reputation_lookup", "denied", "consent_required"],
          ["2026-03-01T12:00:00.000Z", "ana", "profile_lookup", "allowed", null],
        ]);
        const [newest, middle] = all;
        expect(await accessLog(parts.auditSearch, "bea", { limit: 1, before: null })).toEqual([
          newest as never,
        ]);
        expect(
          await accessLog(parts.auditSearch, "bea", { limit: 1, before: newest as never }),
        ).toEqual([middle as never]);
        expect(await accessLog(parts.auditSearch, "ana", PAGE)).toEqual([]);
      },
    );

    timed(
      "D-5.5, D-6.2 accessLog() shows lookups of a profile while it was hidden, among the others",
      async (parts, store) => {
        const scene = new Scene(parts, store);
        await scene.enrol("ana");
        await scene.enrol("bea");
        const { hash } = await scene.giveKey("ana");
        for (const isPublic of [false, true, false]) {
          await parts.profiles.change("bea", { public: isPublic }, store.nowMs());
          await scene.lookUp(hash, "bea");
          await store.advance(1_000);
        }
        const all = await accessLog(parts.auditSearch, "bea", PAGE);
        expect(all.map(({ at, account, decision, code }) => [at, account, decision, code])).toEqual(
          [
            ["2026-03-01T12:00:02.000Z", "ana", "denied", "profile_not_found"],
            ["2026-03-01T12:00:01.000Z", "ana", "denied", "consent_required"],
            ["2026-03-01T12:00:00.000Z", "ana", "denied", "profile_not_found"],
          ],
        );
      },
    );

    timed(
      "D-5.5 accessLog() come in the order of their times, whole seconds too, also while more are written",
      async (parts, store) => {
        const scene = new Scene(parts, store);
        await scene.enrol("ana", { plan: "business" });
        const { hash } = await scene.giveKey("ana");
        for (let i = 0; i < 9; i++) {
          await scene.lookUp(hash, "ana");
          await store.advance(250);
        }
        const seen: string[] = [];
        let before: Access | null = null;
        for (;;) {
          const part: readonly Access[] = await accessLog(parts.auditSearch, "ana", {
            limit: 2,
            before,
          });
          seen.push(...part.map(({ at }) => at));
          before = part.at(-1) ?? null;
          if (before === null) break;
          await scene.lookUp(hash, "ana");
        }
        expect(seen).toEqual([
          "2026-03-01T12:00:02.000Z",
          "2026-03-01T12:00:01.750Z",
          "2026-03-01T12:00:01.500Z",
          "2026-03-01T12:00:01.250Z",
          "2026-03-01T12:00:01.000Z",
          "2026-03-01T12:00:00.750Z",
          "2026-03-01T12:00:00.500Z",
          "2026-03-01T12:00:00.250Z",
          "2026-03-01T12:00:00.000Z",
        ]);
      },
    );

    it("D-6.5 the log verifies after an erasure", async (parts, store) => {
      const scene = new Scene(parts, store);
      await scene.enrol("ana");
      await scene.consent("ana");
      const { hash } = await scene.giveKey("ana");
      await scene.lookUp(hash, "ana");
      await parts.membership.erase("ana");
      expect(await verify(parts)).toEqual({ problem: null, chains: 1, records: 1 });
    });

    timed(
      "D-6.5 pruning removes what is older than it keeps, and the rest verifies",
      async (parts, store) => {
        const scene = new Scene(parts, store);
        await scene.enrol("ana");
        const { hash } = await scene.giveKey("ana");
        const clock = { nowMs: () => store.nowMs(), monotonicMs: () => 0 };
        const prune = (days: number) =>
          pruneAudit({ audit: parts.audit, mac: MAC, auditKey: AUDIT_KEY, clock }, days);
        for (let day = 0; day < 6; day++) {
          await scene.lookUpMany(Array(3).fill({ keyHash: hash, username: "x" }));
          await store.advance(86_400_000);
        }
        expect(await prune(100)).toEqual({ problem: null, removed: 0 });
        expect(await prune(3)).toEqual({ problem: null, removed: 9 });
        expect(await verify(parts)).toEqual({ problem: null, chains: 1, records: 9 });
        expect(await prune(0)).toEqual({ problem: null, removed: 9 });
        expect(await verify(parts)).toEqual({ problem: null, chains: 1, records: 0 });
        await scene.lookUp(hash, "x");
        expect(await verify(parts)).toEqual({ problem: null, chains: 1, records: 1 });
      },
    );

    if (!harness.options.isShared) return;

    it.everywhere(
      "D-6.5 every instance writes a chain of its own, numbered without gaps",
      async (parts, store) => {
        const scene = new Scene(parts, store);
        const others = [await openSecond(store), await openSecond(store)];
        await scene.enrol("ana", { plan: "business" });
        const { hash } = await scene.giveKey("ana");
        const scenes = [scene, ...others.map((other) => new Scene(other, store))];
        await Promise.all(
          scenes.flatMap((one) => Array.from({ length: 10 }, () => one.lookUp(hash, "x"))),
        );
        const heads = (await parts.audit.heads()).map(({ statement }) => statement);
        expect(heads.map(({ chainNumber }) => chainNumber).sort()).toEqual([1, 2, 3]);
        expect(heads.map(({ seq }) => seq)).toEqual([10, 10, 10]);
        expect(await verify(parts)).toEqual({ problem: null, chains: 3, records: 30 });
      },
    );

    it.everywhere(
      "D-6.5 the log verifies at any moment while it is written",
      async (parts, store) => {
        const scene = new Scene(parts, store);
        const writer = new Scene(await openSecond(store), store);
        await scene.enrol("ana", { plan: "enterprise", rateLimitPerMinute: 1_000_000 });
        const { hash } = await scene.giveKey("ana");
        let isWriting = true;
        const writing = (async () => {
          for (let i = 0; i < 60; i++) {
            await writer.lookUpMany(Array(20).fill({ keyHash: hash, username: "x" }));
          }
          isWriting = false;
        })();
        while (isWriting) {
          expect((await verify(parts)).problem).toBeNull();
          // A store that answers within the turn would leave the writer no time.
          await new Promise((resolve) => setImmediate(resolve));
        }
        await writing;
        expect((await verify(parts)).records).toBe(1_200);
      },
    );
  });
}
