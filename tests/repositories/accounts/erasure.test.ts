import { describe, expect } from "bun:test";
import { attemptsOf } from "../../../src/domain/reputation/accounts/attempts.ts";
import { formatMs } from "../../../src/domain/shared/time.ts";
import type { NewRejection } from "../../../src/domain/sync/run/rejections.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import { verifyAudit } from "../../../src/usecases/reputation/audit/verify-audit.ts";
import { openSecond, storeTests, timedTests } from "../../contract/harness.ts";
import {
  AUDIT_KEY,
  BY_ROOT,
  MAC,
  PLATFORM_ACCOUNTS,
  PROFILES,
  type ReputationHarness,
  type ReputationParts,
  Scene,
  wordOf,
} from "../../contract/lookups/reputation-harness.ts";
import { accessLog, auditRecords } from "../../support/audit-views.ts";
import {
  ARRIVALS,
  commitAlone,
  GUARD,
  NOTHING,
  type WriteToOptions,
  type WrittenTo,
  writeTo,
} from "../../support/rows/write-to.ts";
import { reputationTests } from "../support/reputation-tests.ts";

const NEWER = "2026-03-01T12:00:05Z";

reputationTests(erasureSuite);

/** What an erasure leaves behind, and who comes after. D-8.2. */
function erasureSuite(harness: ReputationHarness): void {
  describe(`erased names`, () => {
    rowTests(harness);
    nameTests(harness);
    usageTests(harness);
    remainTests(harness);
    meanwhileTests(harness);
  });
}

function rowTests(harness: ReputationHarness): void {
  const it = storeTests(harness);

  for (const [how, options] of ARRIVALS) {
    it(`D-8.2 ${how} leaves out rows for a name that was erased, and writes the others`, async (parts, store) => {
      await eraseAna(parts, store);
      for (const table of [PROFILES, PLATFORM_ACCOUNTS]) {
        const outcome = await write(
          parts,
          table,
          [row("ana", NEWER), row("anabel", NEWER), row("ana", null), row("bea", null)],
          options,
        );
        expect(outcome).toEqual({ ...NOTHING, changed: 2, erased: [0, 2] });
      }
      expect(await parts.profiles.read("ana")).toEqual({ profile: null, accounts: [] });
      expect((await parts.profiles.read("anabel")).accounts).toHaveLength(1);
    });
  }

  it("D-8.2 after the release rows are taken that are newer than the last erasure, and no older ones", async (parts, store) => {
    await eraseAna(parts, store);
    await parts.administration.release("ana", BY_ROOT);
    const times = [await sinceErasure(parts, -1), await sinceErasure(parts, 0), null];
    const rows = [...times, await sinceErasure(parts, 1)].map((at, i) => row("ana", at, `p${i}`));
    const outcome = await write(parts, PLATFORM_ACCOUNTS, rows, GUARD);
    expect(outcome).toEqual({ ...NOTHING, changed: 1, erased: [0, 1, 2] });
    const far = row("ana", "2999-01-01T00:00:00Z", "far ahead");
    expect((await write(parts, PLATFORM_ACCOUNTS, [far])).erased).toEqual([0]);
    expect((await parts.profiles.read("ana")).accounts).toMatchObject([{ platform: "p3" }]);
  });

  timedTests(harness)(
    "D-8.2 an erasure that comes later counts from then on",
    async (parts, store) => {
      const scene = await eraseAna(parts, store);
      await parts.administration.release("ana", BY_ROOT);
      await scene.enrol("ana");
      await store.advance(10_000);
      await parts.membership.erase("ana");
      await parts.administration.release("ana", BY_ROOT);
      const at = (second: string) => row("ana", `2026-03-01T12:00:${second}Z`, `at ${second}`);
      const rows = [at("05"), at("11")];
      expect(await write(parts, PLATFORM_ACCOUNTS, rows)).toMatchObject({
        changed: 1,
        erased: [0],
      });
    },
  );

  it("D-8.2 what is known of names tells their erasure", async (parts, store) => {
    await eraseAna(parts, store);
    const facts = async () => (await parts.names.readFacts(["ana", "bea"])).get("ana");
    expect(await facts()).toMatchObject({ ownsProfile: false, erased: { isTaken: true } });
    await parts.administration.release("ana", BY_ROOT);
    expect(await facts()).toMatchObject({ erased: { isTaken: false } });
    expect((await parts.names.readFacts(["bea"])).size).toBe(0);
  });
}

function nameTests(harness: ReputationHarness): void {
  const it = storeTests(harness);

  it("D-8.2, D-8.8 a release leaves an audit record that names nobody, and one that was refused leaves none", async (parts, store) => {
    const scene = await eraseAna(parts, store);
    const verified = () => verifyAudit({ audit: parts.audit, mac: MAC, auditKey: AUDIT_KEY });
    expect(await parts.administration.release("bea", BY_ROOT)).toBe(false);
    expect(await verified()).toMatchObject({ problem: null, records: 0 });
    expect(await parts.administration.release("ana", BY_ROOT)).toBe(true);
    expect(await verified()).toEqual({ problem: null, chains: 1, records: 1 });
    const [record] = await auditRecords(parts.audit);
    expect(record).toMatchObject({
      ...{ endpoint: "admin", purpose: "release", decision: "allowed", code: null, status: 200 },
      requestId: "request-of-root",
    });
    expect(JSON.stringify(record)).not.toMatch(/ana|"root"/);
    await scene.enrol("ana");
    const page = { limit: 10, before: null };
    expect(await accessLog(parts.auditSearch, "ana", page)).toEqual([]);
    await parts.membership.erase("ana");
    await parts.administration.release("ana", { by: null, requestId: "by the command line" });
    expect(await verified()).toMatchObject({ problem: null, records: 2 });
  });

  it("D-8.2 an administrator's account takes an erased name", async (parts, store) => {
    const scene = await eraseAna(parts, store);
    const account = await scene.enrol("bea");
    const own = { ...account, username: "ana", email: null };
    expect(await parts.accounts.create(own)).toBe("created");
    expect(await parts.administration.release("ana", BY_ROOT)).toBe(false);
    const newer = row("ana", await sinceErasure(parts, 1));
    expect(await write(parts, PROFILES, [newer])).toEqual({ ...NOTHING, changed: 1 });
  });

  it("D-8.2 a token begins a new person if it was issued in the second of the erasure, or later", async (parts, store) => {
    const scene = await eraseAna(parts, store);
    const account = await scene.enrol("bea");
    const own = {
      ...account,
      username: "ana",
      email: null,
      passwordHash: null,
      issuer: "https://id",
    };
    const second = Math.floor(Date.parse(await sinceErasure(parts, 0)) / 1000) * 1000;
    const create = (tokenIssuedAtMs: number | null) =>
      parts.accounts.create(own, { tokenIssuedAtMs });
    expect(await create(null)).toBe("erased_since");
    expect(await create(second - 1)).toBe("erased_since");
    expect(await parts.accounts.find("ana")).toBeNull();
    expect(await create(second)).toBe("created");
    const newer = row("ana", await sinceErasure(parts, 1));
    expect(await write(parts, PROFILES, [newer])).toMatchObject({ changed: 1 });
  });

  it("D-8.2 an account of a name that was never erased needs no time of its token", async (parts, store) => {
    const account = await new Scene(parts, store).enrol("bea");
    const own = { ...account, username: "cem", email: null, passwordHash: null };
    expect(await parts.accounts.create(own, { tokenIssuedAtMs: null })).toBe("created");
  });
}

function usageTests(harness: ReputationHarness): void {
  const it = timedTests(harness);

  it("D-8.2 calls of the month go on counting for the name, whatever erasures come between", async (parts, store) => {
    const scene = new Scene(parts, store);
    const used = async () => {
      const limits = { callsPerMonth: 100, callsPerMinute: 100 };
      return (await parts.usage.read("ana", limits)).reading.month?.used ?? 0;
    };
    const call = async (times: number) => {
      const { hash } = await scene.giveKey("ana");
      for (let i = 0; i < times; i++) {
        expect(wordOf(await scene.lookUp(hash, "nobody"))).toBe("profile_not_found");
      }
    };
    await scene.enrol("ana");
    await call(3);
    expect(await used()).toBe(3);
    for (const calls of [0, 2]) {
      await parts.membership.erase("ana");
      expect(await used()).toBe(0);
      await parts.administration.release("ana", BY_ROOT);
      await scene.enrol("ana");
      expect(await used()).toBe(3);
      await call(calls);
    }
    expect(await used()).toBe(5);
  });
}

function remainTests(harness: ReputationHarness): void {
  const it = storeTests(harness);

  it("D-8.2 erase() removes what waits in the rejected store of the person, and of nobody else", async (parts, store) => {
    const scene = new Scene(parts, store);
    await scene.enrol("ana");
    const { rejected } = parts.storage;
    const names = ["ana", "ana$", 'bea","username":"ana', "anabel"];
    const waiting = names.flatMap((name) => [
      rejection("profiles", "pull", name),
      rejection("platform_accounts", "push", name),
    ]);
    const refused = [...waiting, rejection("others", "pull", "ana")];
    await commitAlone(parts.storage, PROFILES, { rejected: refused });
    const all = { table: null, direction: null, limit: 100, behindId: null };
    const [newest] = await rejected.list({ ...all, table: "platform_accounts" });
    const anas = (await rejected.list(all)).find(
      ({ table, key }) => table === "profiles" && key["username"] === "ana",
    );
    await rejected.remove(newest?.id ?? "");
    await rejected.remove(anas?.id ?? "");
    expect(await rejected.dropped("profiles", "pull")).toHaveLength(1);
    await parts.membership.erase("ana");
    const left = await rejected.list(all);
    expect(left.map(({ table, key }) => `${table} ${key["username"]}`).sort()).toEqual(
      [
        ...names.slice(1).map((name) => `profiles ${name}`),
        ...names.slice(1, 3).map((name) => `platform_accounts ${name}`),
        "others ana",
      ].sort(),
    );
    expect(await rejected.dropped("profiles", "pull")).toEqual([]);
    expect(await rejected.dropped("platform_accounts", "push")).toHaveLength(1);
  });

  it("D-8.2 erase() removes records that name the person in another column than the key", async (parts, store) => {
    const scene = new Scene(parts, store);
    await scene.enrol("ana");
    const { rejected } = parts.storage;
    const record = { platform: "github", username: "ana" };
    const waiting = rejection("platform_accounts", "pull", "x");
    const refused = [{ ...waiting, key: { platform: "github" }, record }];
    await commitAlone(parts.storage, PROFILES, { rejected: refused });
    await parts.membership.erase("ana");
    const all = { table: null, direction: null, limit: 100, behindId: null };
    expect(await rejected.list(all)).toEqual([]);
  });
}

function meanwhileTests(harness: ReputationHarness): void {
  const it = storeTests(harness);

  for (const [size, count] of [
    ["small", 1],
    ["large", 100],
  ] as const) {
    it.everywhere(
      `D-8.2 no row of the person outlives an erasure at the same moment as a ${size} push`,
      async (parts, store) => {
        const scene = new Scene(parts, store);
        for (let round = 0; round < 5; round++) {
          const name = `ana${round}`;
          await scene.enrol(name);
          const others = Array.from({ length: count }, (_, i) => row(`other${i}`, NEWER));
          await Promise.all([
            write(parts, PLATFORM_ACCOUNTS, [...others, row(name, later(store))], GUARD),
            parts.membership.erase(name),
            write(parts, PROFILES, [...others, row(name, later(store))]),
          ]);
          expect(await parts.profiles.read(name)).toEqual({ profile: null, accounts: [] });
        }
      },
    );
  }

  it.everywhere(
    "D-8.2 no rejected record of the person outlives an erasure at the same moment",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      for (let round = 0; round < 5; round++) {
        const name = `ana${round}`;
        await scene.enrol(name);
        const reject = (...names: string[]) => {
          const pulled = names.map((one) => rejection("profiles", "pull", one));
          const pushed = names.map((one) => rejection("profiles", "push", one));
          return commitAlone(parts.storage, PROFILES, { rejected: [...pulled, ...pushed] });
        };
        const before = reject(name, `bea${round}`);
        await Promise.all([before, parts.membership.erase(name), reject(`${name}b`, name)]);
        await reject(name);
      }
      const { rejected } = parts.storage;
      const all = { table: null, direction: null, limit: 100, behindId: null };
      const left = (await rejected.list(all)).map(({ key }) => key["username"]);
      expect(left.filter((name) => /^ana\d$/.test(String(name)))).toEqual([]);
      expect(left.length).toBe(20);
    },
  );

  it.everywhere(
    "D-8.2, D-8.5 nothing that is counted of the person outlives an erasure at the same moment",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      for (let round = 0; round < 5; round++) {
        const name = `ana${round}`;
        await scene.enrol(name);
        const window = { limit: 1, windowMs: 60_000, nowMs: store.nowMs() };
        const { keys, beginning } = attemptsOf(name);
        const counters = [...keys, [...beginning, "203.0.113.9"]].map((key) => ({
          key,
          ...window,
        }));
        const count = () => parts.signIns.count(counters, name);
        await Promise.all([count(), parts.membership.erase(name), count()]);
        await count();
        expect(await parts.signIns.retryAfterSeconds(counters)).toBeNull();
      }
    },
  );

  if (!harness.options.isShared) return;

  it.everywhere(
    "D-8.2 another instance leaves out what was erased, and knows a release",
    async (parts, store) => {
      const other = await openSecond(store);
      await eraseAna(parts, store);
      expect((await write(other, PROFILES, [row("ana", NEWER)])).erased).toEqual([0]);
      expect(await other.administration.release("ana", BY_ROOT)).toBe(true);
      await new Scene(parts, store).enrol("ana");
    },
  );
}

async function eraseAna(parts: ReputationParts, store: Scene["store"]): Promise<Scene> {
  const scene = new Scene(parts, store);
  await scene.enrol("ana");
  expect(await parts.membership.erase("ana")).toBe("erased");
  return scene;
}

/** A time so many milliseconds after Ana's erasure. */
async function sinceErasure(parts: ReputationParts, durationMs: number): Promise<string> {
  const { erased } = (await parts.names.readFacts(["ana"])).get("ana") ?? {};
  return formatMs(Date.parse(erased?.at ?? "") + durationMs);
}

/** A time after any erasure of the test. */
function later(store: Scene["store"]): string {
  return new Date(store.nowMs() + 60_000).toISOString();
}

function row(username: string, updatedAt: string | null, platform = "github"): Row {
  return { username, platform, updated_at: updatedAt };
}

async function write(
  parts: ReputationParts,
  table: Table,
  rows: readonly Row[],
  options: WriteToOptions = {},
): Promise<WrittenTo> {
  const writes = rows.map((fields, index) => {
    const columns = table.pushColumns.map(({ name }) => [name, fields[name] ?? null] as const);
    return { index, row: Object.fromEntries(columns) };
  });
  return await writeTo(parts.storage, table, writes, options);
}

function rejection(
  table: string,
  direction: NewRejection["direction"],
  username: string,
): NewRejection {
  return {
    ...{ table, direction, key: { username }, fingerprint: `of ${username}`, lastAtMs: 1 },
    ...{ message: "refused", record: direction === "pull" ? { username, bio: "b" } : null },
  };
}
