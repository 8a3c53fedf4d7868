import { describe, expect } from "bun:test";
import type { AuditRecord } from "../../../src/domain/reputation/audit/audit-chain.ts";
import {
  type AuditPlace,
  END_OF_TIME,
  newestFirst,
  placeAfter,
} from "../../../src/domain/reputation/audit/audit-item.ts";
import { SEGMENTS } from "../../../src/repositories/lookup-collections.ts";
import { listAudit, searchAudit } from "../../../src/usecases/reputation/audit/list-audit.ts";
import { type OpenedStore, openSecond, storeTests, timedTests } from "../../contract/harness.ts";
import {
  BY_ROOT,
  type ReputationHarness,
  type ReputationParts,
  Scene,
} from "../../contract/lookups/reputation-harness.ts";
import { auditRecords } from "../../support/audit-views.ts";
import { SEED } from "../../support/seed.ts";
import { SeededRandom } from "../../support/seeded-random.ts";
import { reputationTests } from "../support/reputation-tests.ts";

const UNLIMITED = { plan: "enterprise", rateLimitPerMinute: 10 ** 9 } as const;
const NAMES = ["ana", "bea", "cyd", "nobody-here", "root"] as const;
const TURNS = { isOver: false, next: async () => {} };
const WHOLE = { before: placeAfter(END_OF_TIME), from: "", names: null };

function list({ auditSearch }: ReputationParts, parameters: Record<string, string> = {}) {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  return listAudit({ auditSearch, clock, timer: { sleep: async () => {} } }, parameters);
}

/** Who looked whom up, or acted on whom, by the id of the request. */
type Asked = Map<string, { readonly by: string; readonly about: string }>;

/** A random history of several instances, some of whose clocks run behind. */
class History {
  readonly asked: Asked = new Map();
  readonly #random: SeededRandom;
  readonly #scenes: readonly Scene[];
  readonly #hashes: ReadonlyMap<string, string>;

  constructor(random: SeededRandom, scenes: readonly Scene[], hashes: ReadonlyMap<string, string>) {
    this.#random = random;
    this.#scenes = scenes;
    this.#hashes = hashes;
  }

  async write(most: number): Promise<void> {
    const scene = this.#random.pick(this.#scenes);
    if (this.#random.chance(0.2)) return await this.#release(scene);
    const calls = Array.from({ length: this.#random.int(1, most) }, () => {
      const [by, keyHash] = this.#random.pick([...this.#hashes]);
      return { keyHash, username: this.#random.pick(NAMES), requestId: this.#ask(by) };
    });
    for (const { requestId, username } of calls) {
      const { by } = this.asked.get(requestId) ?? { by: "" };
      this.asked.set(requestId, { by, about: username });
    }
    await scene.lookUpMany(calls);
    await scene.store.advance(this.#random.int(-300, 1_000));
  }

  async #release({ parts }: Scene): Promise<void> {
    const username = `gone-${this.asked.size}`;
    const account = await parts.accounts.find("ana");
    if (account === null) throw new Error("There is no ana");
    const email = `${username}@example.com`;
    await parts.membership.enrol({ account: { ...account, username, email }, displayName: null });
    await parts.membership.erase(username);
    const requestId = this.#ask("root");
    this.asked.set(requestId, { by: "root", about: username });
    await parts.administration.release(username, { by: "root", requestId });
  }

  #ask(by: string): string {
    const requestId = `asked-${this.asked.size}`;
    this.asked.set(requestId, { by, about: "" });
    return requestId;
  }
}

async function beginHistory(store: OpenedStore<ReputationParts>, scenes: readonly Scene[]) {
  const [scene] = scenes;
  const hashes = new Map<string, string>();
  for (const name of ["ana", "bea"]) {
    await scene?.enrol(name, UNLIMITED);
    hashes.set(name, (await scene?.giveKey(name))?.hash ?? "");
  }
  const random = new SeededRandom(SEED + store.nowMs());
  return { random, history: new History(random, scenes, hashes) };
}

async function everyRecord({ audit }: ReputationParts): Promise<readonly AuditRecord[]> {
  return (await auditRecords(audit)).toSorted(newestFirst);
}

const idOf = ({ chainId, seq }: AuditPlace) => `${chainId}-${seq}`;

reputationTests(auditSearchSuite);

/** What every `AuditSearch` finds. */
function auditSearchSuite(harness: ReputationHarness): void {
  const it = storeTests(harness);
  const timed = timedTests(harness);

  describe("looking through the audit log", () => {
    it("D-9.5 a new log has nothing to list", async (parts) => {
      expect(await list(parts)).toEqual({ items: [], nextCursor: null });
      expect(await list(parts, { account: "ana" })).toEqual({ items: [], nextCursor: null });
    });

    timed(
      "D-9.5 lookups and acts of administrators are listed, newest first",
      async (parts, store) => {
        const scene = new Scene(parts, store);
        await scene.enrol("ana");
        await scene.enrol("bea");
        const { hash } = await scene.giveKey("ana");
        await scene.lookUp(hash, "bea", "profile");
        await store.advance(1_000);
        await parts.membership.erase("bea");
        await parts.administration.release("bea", BY_ROOT);
        const { items, nextCursor } = await list(parts);
        const [, lookup] = items;
        expect(nextCursor).toBeNull();
        expect(items.map(({ id: _id, ...rest }) => rest)).toEqual([
          {
            at: "2026-03-01T12:00:01.000Z",
            kind: "admin",
            account: "root",
            subject: null,
            purpose: null,
            action: "release",
            decision: "allowed",
            code: null,
            requestId: "request-of-root",
          },
          {
            at: "2026-03-01T12:00:00.000Z",
            kind: "lookup",
            account: "ana",
            subject: null,
            purpose: "profile_lookup",
            action: null,
            decision: "denied",
            code: "consent_required",
            requestId: lookup?.requestId ?? "",
          },
        ]);
        expect(new Set(items.map(({ id }) => id)).size).toBe(2);
      },
    );

    timed.everywhere(
      "D-9.5 a name finds where it called, was looked up or acted on, and is told as subject",
      async (parts, store) => {
        const scene = new Scene(parts, store);
        await scene.enrol("ana");
        await scene.enrol("bea");
        const { hash } = await scene.giveKey("ana");
        for (const [username, endpoint] of [
          ["bea", "reputation"],
          ["nobody", "platforms"],
          ["ana", "profile"],
        ] as const) {
          await scene.lookUp(hash, username, endpoint);
          await store.advance(1_000);
        }
        const shown = async (account: string) =>
          (await list(parts, { account })).items.map((item) => [
            ...[item.account, item.subject, item.purpose ?? item.action],
          ]);
        expect(await shown("bea")).toEqual([["ana", "bea", "reputation_lookup"]]);
        expect(await shown("nobody")).toEqual([["ana", "nobody", "platforms_lookup"]]);
        expect(await shown("ana")).toEqual([
          ["ana", "ana", "profile_lookup"],
          ["ana", null, "platforms_lookup"],
          ["ana", null, "reputation_lookup"],
        ]);
        expect(await shown("cyd")).toEqual([]);
        // Nobody can tell any more what was about somebody who was erased, but for what happened to the name.
        await parts.membership.erase("bea");
        await parts.administration.release("bea", { by: null, requestId: "request-by-command" });
        expect(await shown("bea")).toEqual([["", "bea", "release"]]);
        await scene.enrol("bea");
        await scene.giveKey("bea");
        expect(await shown("bea")).toEqual([["", "bea", "release"]]);
        await parts.membership.erase("ana");
        expect(await shown("ana")).toEqual([]);
        expect((await list(parts)).items.map(({ account }) => account)).toEqual(["", "", "", ""]);
      },
    );

    timed(
      "D-9.5 from is inclusive and until is not, in whatever form they come",
      async (parts, store) => {
        const scene = new Scene(parts, store);
        await scene.enrol("ana");
        const { hash } = await scene.giveKey("ana");
        for (let i = 0; i < 4; i++) {
          await scene.lookUp(hash, "x");
          await store.advance(1);
        }
        const millis = async (parameters: Record<string, string>) =>
          (await list(parts, parameters)).items.map(({ at }) => at.slice(20, 23)).join(" ");
        expect(await millis({ from: "2026-03-01T12:00:00.001Z" })).toBe("003 002 001");
        expect(await millis({ until: "2026-03-01T12:00:00.002Z" })).toBe("001 000");
        expect(await millis({ until: "2026-03-01T12:00:00.002001Z" })).toBe("002 001 000");
        expect(await millis({ from: "2026-03-01T12:00:00.000001Z" })).toBe("003 002 001");
        expect(await millis({ from: "2026-03-01 14:00:00.001+02:00" })).toBe("003 002 001");
        expect(await millis({ from: "2026-03-01T14:00:00.001 02:00" })).toBe("003 002 001");
        expect(await millis({ from: "2026-03-01", until: "2026-03-02" })).toBe("003 002 001 000");
        expect(await millis({ from: "2026-03-02" })).toBe("");
        expect(await millis({ from: "9999-12-31T23:59:59.999999Z" })).toBe("");
        expect(await millis({ until: "0001-01-01" })).toBe("");
        expect(
          await millis({ from: "2026-03-01T12:00:00.003Z", until: "2026-03-01T12:00:00.001Z" }),
        ).toBe("");
      },
    );

    it("D-9.5 the stretches of a long log are found latest first, those of a name that all may have too", async (parts) => {
      const { documents } = parts.storage;
      const timeOf = (number: number) => new Date(Date.UTC(2026, 2, 1) + number).toISOString();
      for (let first = 0; first < 1_100; first += 100) {
        await documents.transact({ name: "test.put" }, async (tx) => {
          for (let number = first; number < first + 100; number++) {
            const at = { firstAt: timeOf(number), lastAt: timeOf(number) };
            const place = { chainId: "c", firstSeq: number + 1, lastSeq: number + 1 };
            // Without a filter any name may be in it.
            tx.put(SEGMENTS, { ...place, ...at, number });
          }
        });
      }
      const { auditSearch } = parts;
      const latest = Array.from({ length: 700 }, (_, i) => 1_100 - i);
      for (const names of [null, await auditSearch.namesOf("ana")]) {
        const query = { upTo: END_OF_TIME, from: "", names, limit: 700 };
        const found = await auditSearch.stretches(query);
        expect(found.map(({ lastSeq }) => lastSeq)).toEqual(latest);
        const recent = await auditSearch.stretches({ ...query, from: timeOf(700) });
        expect(recent.map(({ lastSeq }) => lastSeq)).toEqual(latest.slice(0, 400));
      }
    });

    timed(
      "D-9.5 every record is found once in the order of times, whatever is written meanwhile",
      async (parts, store) => {
        const isShared = harness.options.isShared;
        const others = isShared ? [await openSecond(store), await openSecond(store)] : [];
        const scenes = [parts, ...others].map((one) => new Scene(one, store));
        const { random, history } = await beginHistory(store, scenes);
        for (let i = 0; i < 40; i++) await history.write(90);
        for (const name of [null, ...NAMES]) {
          const there = await everyRecord(parts);
          const limit = random.int(1, 60);
          const bounds = { records: random.int(1, 2_000), stretches: random.int(1, 6) };
          const names = name === null ? null : await parts.auditSearch.namesOf(name);
          const from = random.chance(0.5) ? "" : random.pick(there).at;
          const found: AuditRecord[] = [];
          for (let before: AuditPlace | null = WHOLE.before; before !== null; ) {
            const { auditSearch } = random.pick(scenes).parts;
            const deps = { auditSearch, turns: TURNS };
            const part = await searchAudit(deps, { before, from, names, limit }, bounds);
            expect(part.records.length).toBeLessThanOrEqual(limit);
            found.push(...part.records);
            before = part.next;
            if (random.chance(0.2)) await history.write(20);
          }
          const wanted = there.filter(({ requestId, at }) => {
            const asked = history.asked.get(requestId);
            return at >= from && (name === null || asked?.by === name || asked?.about === name);
          });
          const wasThere = new Set(there.map(idOf));
          const ids = found.map(idOf);
          expect([SEED, name, ids.filter((id) => wasThere.has(id))]).toEqual([
            ...[SEED, name, wanted.map(idOf)],
          ]);
          expect(ids).toEqual([...new Set(found.toSorted(newestFirst).map(idOf))]);
        }
      },
    );
  });
}
