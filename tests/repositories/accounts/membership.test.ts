import { describe, expect } from "bun:test";
import {
  addressKey,
  changesKey,
  failuresKey,
  knownAddressKey,
} from "../../../src/domain/reputation/accounts/attempts.ts";
import { openSecond, storeTests } from "../../contract/harness.ts";
import {
  BY_ROOT,
  PLATFORM_ACCOUNTS,
  PROFILES,
  type ReputationHarness,
  Scene,
  wordOf,
} from "../../contract/lookups/reputation-harness.ts";
import { accessLog } from "../../support/audit-views.ts";
import { reputationTests } from "../support/reputation-tests.ts";

const ALL_KEYS = { limit: 100, beforeId: null };

reputationTests(membershipSuite);

/** What every `Membership` and `ProfileStore` does. */
function membershipSuite(harness: ReputationHarness): void {
  const it = storeTests(harness);

  describe(`membership`, () => {
    it("D-5.4 enrol() makes an account and its profile, which has its time", async (parts, store) => {
      const account = await new Scene(parts, store).enrol("ana");
      expect(await parts.accounts.find("ana")).toEqual(account);
      const { profile, accounts } = await parts.profiles.read("ana");
      const at = "2026-03-01T12:00:00Z";
      expect([profile, accounts]).toMatchObject([
        { username: "ana", display_name: null, verified: false, created_at: at, updated_at: at },
        [],
      ]);
    });

    it("D-5.4, D-8.1 enrol() of a name or an address that is taken, by rows that came by sync too, writes nothing", async (parts, store) => {
      const scene = new Scene(parts, store);
      const account = await scene.enrol("ana");
      await scene.push(PROFILES, { username: "cleo" });
      await scene.push(PLATFORM_ACCOUNTS, { username: "dian", platform: "github", verified: true });
      const enrol = (username: string, email: string) =>
        parts.membership.enrol({ account: { ...account, username, email }, displayName: null });
      expect(await enrol("ana", "other@example.com")).toBe("username_taken");
      expect(await enrol("bea", "ANA@example.com")).toBe("email_taken");
      for (const name of ["cleo", "dian"]) {
        expect(await enrol(name, `${name}@example.com`)).toBe("username_taken");
      }
      for (const name of ["bea", "cleo", "dian"]) {
        expect(await parts.accounts.find(name)).toBeNull();
      }
      for (const name of ["bea", "dian"]) {
        expect((await parts.profiles.read(name)).profile).toBeNull();
      }
    });

    it.everywhere("D-5.4 of many enrolments of one name at once one wins", async (parts, store) => {
      const scene = new Scene(parts, store);
      const tries = Array.from({ length: 8 }, (_, i) =>
        scene.enrol("ana", { email: `${i}@example.com` }).then(
          () => 1,
          () => 0,
        ),
      );
      expect((await Promise.all(tries)).filter((one) => one === 1).length).toBe(1);
    });

    it("D-5.5 change() changes the given fields and leaves the others", async (parts, store) => {
      const scene = new Scene(parts, store);
      await scene.push(PROFILES, { username: "ana", bio: "old", verified: true, location: "Łódź" });
      const nowMs = store.nowMs();
      const changes = { displayName: "Ana", bio: "nový 🙂", public: false };
      const row = await parts.profiles.change("ana", changes, nowMs);
      expect(row).toMatchObject({
        display_name: "Ana",
        bio: "nový 🙂",
        public: false,
        verified: false,
        location: "Łódź",
      });
      expect(row?.["updated_at"]).toBe("2026-03-01T12:00:00Z");
      await store.advance(1_000);
      expect(await parts.profiles.change("ana", {}, store.nowMs())).toEqual(row);
      expect(await parts.profiles.change("nobody", { bio: "x" }, nowMs)).toBeNull();
    });

    it.everywhere(
      "D-5.5 erase() leaves nothing to whoever has the name next, made at the same moment or not",
      async (parts, store) => {
        const scene = new Scene(parts, store);
        const { id: _, ...key } = await scene.giveKey("bea");
        const grant = { purpose: "reputation_lookup", expiresAt: null } as const;
        for (let round = 0; round < 8; round++) {
          await scene.enrol("ana");
          const nowMs = store.nowMs();
          const hash = `hash ${round}`;
          await Promise.all([
            parts.membership.erase("ana"),
            parts.apiKeys.create({ ...key, id: `key ${round}`, username: "ana", hash }, nowMs),
            parts.consents.grant("ana", { ...grant, nowMs }),
          ]);
          expect(await parts.apiKeys.list("ana", ALL_KEYS)).toEqual([]);
          const all = { filter: { status: null, purpose: null }, limit: 100, beforeId: null };
          expect(await parts.consents.list("ana", { ...all, nowMs })).toEqual([]);
          expect(await parts.administration.release("ana", BY_ROOT)).toBe(true);
        }
      },
    );

    it("D-5.5 erase() removes everything about a person at once, and nobody else", async (parts, store) => {
      const scene = new Scene(parts, store);
      for (const name of ["ana", "bea"]) {
        await scene.enrol(name);
        await scene.consent(name);
        await scene.push(PLATFORM_ACCOUNTS, { username: name, platform: "github", verified: true });
        const session = { id: `session-${name}`, username: name, expiresAtMs: Date.UTC(2100, 0) };
        await parts.sessions.begin(session, { passwordHash: "hash", atMs: 1 });
      }
      const ana = await scene.giveKey("ana");
      const bea = await scene.giveKey("bea");
      expect(wordOf(await scene.lookUp(ana.hash, "bea"))).toBe("allowed");
      expect(wordOf(await scene.lookUp(bea.hash, "ana"))).toBe("allowed");
      expect(await parts.membership.erase("ana")).toBe("erased");
      expect(await parts.membership.erase("ana")).toBe("absent");
      expect(await parts.accounts.find("ana")).toBeNull();
      expect(await parts.profiles.read("ana")).toEqual({ profile: null, accounts: [] });
      expect(await parts.apiKeys.list("ana", ALL_KEYS)).toEqual([]);
      expect(await parts.sessions.accountOf({ username: "ana", id: "session-ana" })).toBeNull();
      expect(wordOf(await scene.lookUp(ana.hash, "bea"))).toBe("api_key_invalid");
      expect(wordOf(await scene.lookUp(bea.hash, "ana"))).toBe("profile_not_found");
      expect(wordOf(await scene.lookUp(bea.hash, "bea"))).toBe("allowed");
      expect(await parts.sessions.accountOf({ username: "bea", id: "session-bea" })).not.toBeNull();
    });

    it("D-5.5, D-8.5 erase() removes what is counted of the person's sign-ins, and of nobody else", async (parts, store) => {
      const scene = new Scene(parts, store);
      const nowMs = store.nowMs();
      const { signIns } = parts;
      const address = "203.0.113.9";
      const own = [failuresKey('a"'), changesKey('a"'), knownAddressKey('a"', address)];
      const others = [failuresKey("a"), changesKey("b"), knownAddressKey("a", address)];
      const counters = [...own, ...others, addressKey(address)].map((key) => ({
        key,
        limit: 1,
        windowMs: 1_000,
        nowMs,
      }));
      await scene.enrol('a"');
      expect(await signIns.count(counters)).toBeNull();
      await parts.membership.erase('a"');
      const waits = counters.map((counter) => signIns.retryAfterSeconds([counter]));
      expect(await Promise.all(waits)).toEqual([null, null, null, 1, 1, 1, 1]);
    });

    it("D-5.5 after erase() audit records name neither caller nor person, also when the name comes back", async (parts, store) => {
      const scene = new Scene(parts, store);
      await scene.enrol("ana");
      await scene.enrol("bea");
      await scene.consent("bea");
      const key = await scene.giveKey("ana");
      await scene.lookUp(key.hash, "bea");
      await parts.membership.erase("ana");
      const page = { limit: 10, before: null };
      expect(
        (await accessLog(parts.auditSearch, "bea", page)).map(({ account }) => account),
      ).toEqual([""]);
      await parts.membership.erase("bea");
      for (const name of ["ana", "bea"]) await parts.administration.release(name, BY_ROOT);
      await scene.enrol("ana");
      await scene.enrol("bea");
      expect(await accessLog(parts.auditSearch, "bea", page)).toEqual([]);
    });

    if (!harness.options.isShared) return;

    it.everywhere("D-6.3 erase() is seen by another instance at once", async (parts, store) => {
      const scene = new Scene(parts, store);
      const other = new Scene(await openSecond(store), store);
      await scene.enrol("ana");
      await scene.enrol("bea");
      await scene.consent("bea");
      const key = await scene.giveKey("ana");
      expect(wordOf(await other.lookUp(key.hash, "bea"))).toBe("allowed");
      await parts.membership.erase("bea");
      expect(wordOf(await other.lookUp(key.hash, "bea"))).toBe("profile_not_found");
      await parts.membership.erase("ana");
      expect(wordOf(await other.lookUp(key.hash, "bea"))).toBe("api_key_invalid");
    });
  });
}
