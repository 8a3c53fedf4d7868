// D-6.3, D-8.5: what is remembered of people, and the versions that it goes by.
import type { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { versionSlotOf } from "../../../../src/adapters/sqlite/driver/person-versions.ts";
import type { LookupSubject } from "../../../../src/domain/reputation/lookups/lookup-batch.ts";
import type { CacheCounts } from "../../../../src/ports/runtime/runtime.ts";
import {
  openParts,
  PLATFORM_ACCOUNTS,
  PROFILES,
  type ReputationParts,
  realScene,
  type Scene,
  wordOf,
} from "../../../contract/lookups/reputation-harness.ts";
import { accessLog } from "../../../support/audit-views.ts";
import { remembering } from "../../../support/value-caches.ts";
import { SqliteFile } from "../support.ts";

const UNLIMITED = { plan: "enterprise", rateLimitPerMinute: 1_000_000 } as const;

/** An instance with a caller, whose caches tell how they have done: people first, then absent names. */
class Instance {
  readonly parts: ReputationParts;
  readonly scene: Scene;
  readonly #counts: readonly (() => CacheCounts)[];
  /** What names were answered from last. */
  readonly #last = new Map<string, LookupSubject | null>();
  hash = "";

  private constructor(parts: ReputationParts, counts: readonly (() => CacheCounts)[]) {
    this.parts = parts;
    this.scene = realScene(parts);
    this.#counts = counts;
  }

  static async open(file: SqliteFile): Promise<Instance> {
    const counts: (() => CacheCounts)[] = [];
    const parts = await openParts(await file.open(), <Value extends object>() => {
      const cache = remembering<Value>();
      counts.push(() => cache.counts());
      return cache;
    });
    return new Instance(parts, counts);
  }

  /** People and absent names that are remembered; callers are before them. */
  get entries(): readonly number[] {
    return this.#counts.slice(1).map((counts) => counts().entries);
  }

  /** Whether the lookup of a name is answered from what is remembered. */
  async isRemembered(username: string): Promise<boolean> {
    const outcome = await this.scene.lookUp(this.hash, username);
    const subject = outcome.kind === "answered" ? outcome.subject : null;
    const isSame = subject !== null && subject === this.#last.get(username);
    this.#last.set(username, subject);
    return isSame;
  }

  /** Which of these are remembered. */
  async remembered(usernames: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    for (const name of usernames) if (await this.isRemembered(name)) found.push(name);
    return found;
  }
}

/** An instance that has looked these people up, each twice. */
async function withPeople(
  usernames: readonly string[],
  body: (instance: Instance, tool: Database, file: SqliteFile) => Promise<void>,
) {
  await SqliteFile.use(async (file) => {
    const instance = await Instance.open(file);
    await instance.scene.enrol("caller", UNLIMITED);
    instance.hash = (await instance.scene.giveKey("caller")).hash;
    await instance.scene.push(PROFILES, ...usernames.map((username) => ({ username })));
    await instance.remembered(usernames);
    expect(await instance.remembered(usernames)).toEqual([...usernames]);
    await body(instance, file.openElsewhere(), file);
  });
}

const versionsOf = (tool: Database): Map<number, number> =>
  new Map(
    tool
      .query<{ slot: number; version: number }, []>("SELECT slot, version FROM repsync_versions")
      .all()
      .map(({ slot, version }) => [slot, version]),
  );

/** The slots that work raises. */
function raisedBy(tool: Database, work: () => void): number[] {
  const before = versionsOf(tool);
  work();
  return [...versionsOf(tool)]
    .filter(([slot, version]) => version !== before.get(slot))
    .map(([slot]) => slot);
}

describe("SQLite: version slots of people", () => {
  test("D-6.3 triggers raise the very slot that a lookup of the name reads, whatever the name", () =>
    withPeople([], async (_instance, tool) => {
      const names = [
        ...["a", "ab", "abc", "abcd", "abcde", "user00001", "ana@example.com", " ", "'\"%"],
        ...["日本語🙂", "🙂", "x".repeat(27), "x".repeat(28), "y".repeat(200), "a\u0000b", "é"],
      ];
      for (const name of names) {
        const insert = () => tool.run("INSERT INTO profiles (username) VALUES (?)", [name]);
        expect([name, raisedBy(tool, insert)]).toEqual([name, [versionSlotOf(name)]]);
      }
      const insertNull = () => tool.run("INSERT INTO profiles (username) VALUES (NULL)");
      expect(raisedBy(tool, insertNull)).toEqual([]);
    }));

  test("D-6.3 names spread over the 4,096 slots, numbered and alike ones too", () => {
    const patterns = [
      (i: number) => `user${String(i).padStart(5, "0")}`,
      (i: number) => `person-${i}`,
      (i: number) => `first${i % 100}.last${Math.floor(i / 100)}@example.com`,
      (i: number) => `${i}-team-of-a-company-with-a-long-name`,
    ];
    for (const [place, nameOf] of patterns.entries()) {
      const loads = new Map<number, number>();
      for (let i = 0; i < 10_000; i++) {
        const slot = versionSlotOf(nameOf(i));
        loads.set(slot, (loads.get(slot) ?? 0) + 1);
      }
      // By chance 3,740 slots would have 2.4 names each, the fullest about 10.
      expect([place, loads.size > 3_000]).toEqual([place, true]);
      expect([place, Math.max(...loads.values()) <= 16]).toEqual([place, true]);
      expect([...loads.keys()].every((slot) => slot >= 0 && slot < 4_096)).toBe(true);
    }
  });

  test("D-6.3, D-6.7 a change of one person costs the caches that person only", () => {
    const people = Array.from({ length: 20 }, (_, i) => `person-${i}`);
    const others = people.filter((name) => name !== "person-7");
    return withPeople(people, async (instance) => {
      const { scene, parts } = instance;
      const isCostly = async (change: () => Promise<unknown>) => {
        await change();
        expect(await instance.remembered(people)).toEqual(others);
      };
      await isCostly(() => scene.push(PROFILES, { username: "person-7", bio: "new" }));
      const account = { username: "person-7", platform: "github" };
      await isCostly(() => scene.push(PLATFORM_ACCOUNTS, account));
      let id = 0;
      await isCostly(async () => {
        id = (await scene.consent("person-7")).id;
      });
      await isCostly(() => parts.consents.revoke("person-7", { id, nowMs: Date.now() }));
      await isCostly(() => parts.membership.erase("person-7"));
      await scene.giveKey("stranger");
      await scene.setPlan("caller", { rateLimitPerMinute: 999_999 });
      expect(await instance.remembered(people)).toEqual(people);
    });
  });

  test("D-6.3 what another tool replaces, renames or removes is seen, whichever key it goes by", () =>
    withPeople(["ana", "bea", "cem", "dan"], async (instance, tool) => {
      const word = async (name: string) => wordOf(await instance.scene.lookUp(instance.hash, name));
      const idOf = (name: string) =>
        tool.query<{ id: number }, [string]>("SELECT id FROM profiles WHERE username = ?").get(name)
          ?.id ?? 0;
      tool.run("PRAGMA recursive_triggers = OFF");
      const id = idOf("ana");
      tool.run("INSERT OR REPLACE INTO profiles (id, username) VALUES (?, 'eve')", [id]);
      expect([await word("ana"), await word("eve")]).toEqual([
        "profile_not_found",
        "consent_required",
      ]);
      tool.run("UPDATE OR REPLACE profiles SET id = ? WHERE username = 'eve'", [idOf("bea")]);
      expect(await word("bea")).toBe("profile_not_found");
      tool.run("UPDATE profiles SET username = 'fay' WHERE username = 'cem'");
      expect([await word("cem"), await word("fay")]).toEqual([
        "profile_not_found",
        "consent_required",
      ]);
      tool.run("REPLACE INTO profiles (username, public) VALUES ('dan', 0)");
      expect(await word("dan")).toBe("profile_not_found");
    }));

  for (const key of [
    "(bio COLLATE NOCASE)",
    "(own)",
    "(lower(bio))",
    "(lower(bio)) WHERE id < 0; CREATE UNIQUE INDEX second ON profiles (lower(bio)) WHERE id > 0",
  ]) {
    test(`D-6.3 so is what goes by a unique key of the application: ${key}`, () =>
      withPeople(["ana", "bea"], async (instance, tool, file) => {
        tool.run("UPDATE profiles SET bio = username");
        tool.run("ALTER TABLE profiles ADD COLUMN own TEXT AS (lower(bio))");
        tool.run(`CREATE UNIQUE INDEX own ON profiles ${key}`);
        await Instance.open(file);
        const word = async (name: string) =>
          wordOf(await instance.scene.lookUp(instance.hash, name));
        expect(await word("ana")).toBe("consent_required");
        tool.run("UPDATE OR REPLACE profiles SET bio = 'ANA' WHERE username = 'bea'");
        expect(await word("ana")).toBe("profile_not_found");
      }));
  }

  test("D-6.3 versions only grow, and outlive an erasure as numbers without a name", () =>
    withPeople(["ana-of-the-log"], async ({ scene, parts }, tool) => {
      await scene.consent("ana-of-the-log");
      const before = versionsOf(tool).get(versionSlotOf("ana-of-the-log")) ?? 0;
      expect(await parts.membership.erase("ana-of-the-log")).toBe("erased");
      expect(versionsOf(tool).get(versionSlotOf("ana-of-the-log"))).toBeGreaterThan(before);
      expect(versionsOf(tool).size).toBe(4_096);
      const columns = tool.query("SELECT name FROM pragma_table_info('repsync_versions')").all();
      expect(columns).toEqual([{ name: "slot" }, { name: "version" }]);
    }));

  test("D-6.3 a start of another instance costs nothing where no trigger is missing", () =>
    withPeople(["ana", "bea"], async (instance, tool, file) => {
      const before = [...versionsOf(tool)];
      await Instance.open(file);
      expect([...versionsOf(tool)]).toEqual(before);
      expect(await instance.remembered(["ana", "bea"])).toEqual(["ana", "bea"]);
      tool.run("DROP TRIGGER repsync_change_profiles_delete");
      await Instance.open(file);
      expect(await instance.remembered(["ana", "bea"])).toEqual([]);
    }));
});

describe("SQLite: hidden and absent people", () => {
  const HIDDEN = ["hidden-0", "hidden-1", "hidden-2"];

  test("D-8.5 neither writes anything of its own, and both are remembered", () =>
    withPeople([], async (instance, tool) => {
      await instance.scene.push(
        PROFILES,
        ...HIDDEN.map((username) => ({ username, public: false })),
      );
      const subjects = () => tool.query("SELECT key FROM repsync_subjects").all();
      await instance.isRemembered("somebody else");
      const before = subjects();
      for (const names of [HIDDEN, ["absent-0", "absent-1", "absent-2"]]) {
        expect(await instance.remembered(names)).toEqual([]);
        expect(await instance.remembered(names)).toEqual(names);
      }
      expect(subjects()).toEqual(before);
      expect(instance.entries).toEqual([0, 7]);
    }));

  test("D-6.3 absent names are remembered apart from people, and long ones not at all", () =>
    withPeople(["ana"], async (instance) => {
      expect(await instance.isRemembered("x".repeat(201))).toBe(false);
      expect(await instance.isRemembered("x".repeat(200))).toBe(false);
      expect(await instance.isRemembered("x".repeat(201))).toBe(false);
      expect(await instance.isRemembered("x".repeat(200))).toBe(true);
      expect(instance.entries).toEqual([1, 1]);
    }));

  test("D-5.5, D-8.5 a person sees who looked for them while they were hidden", () =>
    withPeople([], async ({ scene, parts, hash }) => {
      await scene.enrol("owner");
      await scene.lookUp(hash, "owner");
      await parts.profiles.change("owner", { public: false }, Date.now());
      await scene.lookUp(hash, "owner");
      const found = await accessLog(parts.auditSearch, "owner", { limit: 9, before: null });
      expect(found.map(({ code }) => code)).toEqual(["profile_not_found", "consent_required"]);
      const [last] = await accessLog(parts.auditSearch, "owner", { limit: 1, before: null });
      expect(last?.code).toBe("profile_not_found");
    }));
});
