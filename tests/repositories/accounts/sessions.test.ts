import { expect } from "bun:test";
import { SESSIONS, SIGN_INS } from "../../../src/repositories/account-collections.ts";
import { SignIns } from "../../../src/repositories/accounts/sessions.ts";
import { makeAccount, People } from "../support/people.ts";
import { repositoryTests } from "../support/repository-tests.ts";

const MINUTE_MS = 60_000;

/** With these accounts. */
async function withAccounts(people: People, ...names: readonly string[]): Promise<void> {
  for (const name of names) await people.accounts.create(makeAccount(name));
}

repositoryTests(
  "sessions",
  (documents) => new People(documents),
  (it) => {
    it("D-5.4 accountOf() gives the account of a session that was begun, for that account only", async (people) => {
      await withAccounts(people, "ana", "Ana é\0$.");
      await people.begin("s1", "ana");
      await people.begin("s2", "Ana é\0$.");
      expect(await people.sessions.accountOf({ username: "ana", id: "s1" })).toEqual({
        ...makeAccount("ana"),
        lastSignInAtMs: 1,
      });
      expect(await people.isKnown("s2", "Ana é\0$.")).toBe(true);
      expect(await people.isKnown("s1", "Ana é\0$.")).toBe(false);
      expect(await people.isKnown("s1", "Ana")).toBe(false);
      expect(await people.isKnown("S1", "ana")).toBe(false);
      for (const odd of ["", "\ud800", "x".repeat(2_000)]) {
        expect(await people.isKnown(odd, odd)).toBe(false);
      }
    });

    it("D-5.4, D-6.3 begin() begins nothing on an account that changed hands, is gone or suspended", async (people) => {
      const { accounts, sessions } = people;
      const NOW_MS = 1_772_366_400_000;
      await accounts.create(makeAccount("ana", { passwordHash: "another" }));
      const suspended = makeAccount("bob", { passwordHash: "hash", suspendedAtMs: NOW_MS });
      await accounts.create(suspended);
      const begin = (username: string) =>
        sessions.begin(
          { id: "s", username, expiresAtMs: 2 * NOW_MS },
          { passwordHash: "hash", atMs: 5 },
        );
      expect(await begin("ana")).toBeNull();
      expect(await begin("nobody")).toBeNull();
      expect(await begin("bob")).toEqual(suspended);
      for (const name of ["ana", "bob", "nobody"]) {
        expect([name, await people.isKnown("s", name)]).toEqual([name, false]);
      }
      expect((await accounts.find("bob"))?.lastSignInAtMs).toBeNull();
    });

    it.everywhere(
      "D-8.5.4 begin() keeps the last sign-in as the one event of its marks",
      async (people, _, { documents }) => {
        await withAccounts(people, "ana");
        const { passwordHash } = makeAccount("ana");
        const markAt = (nowMs: number) => ({ key: ["m"], limit: 1, windowMs: 100, nowMs });
        for (const atMs of [1_000, 1_090]) {
          const session = { id: `s${atMs}`, username: "ana", expiresAtMs: 8_000_000_000_000 };
          await people.sessions.begin(session, { passwordHash, atMs, marks: [markAt(atMs)] });
        }
        const signIns = new SignIns(documents);
        const waits = [1_189, 1_190].map((atMs) => signIns.retryAfterSeconds([markAt(atMs)]));
        expect(await Promise.all(waits)).toEqual([1, null]);
        const [all] = await documents.read({ name: "test" }, (at) =>
          at.read({ from: SIGN_INS, stretch: {} }),
        );
        expect(all).toEqual([{ key: ["m"], atMs: [1_090], endsAtMs: 1_190 }]);
      },
    );

    it("D-5.4 the end of a session that began elsewhere is known, also until the last day that a date can be of", async ({
      sessions,
    }) => {
      await sessions.noteEnd("e1", 8_640_000_000_000_000);
      const foreign = (id: string) => sessions.findForeign({ username: "ana", id });
      expect(await foreign("e1")).toEqual({ hasEnded: true, account: null });
      expect(await foreign("e2")).toEqual({ hasEnded: false, account: null });
      expect(await sessions.accountOf({ username: "", id: "e1" })).toBeNull();
    });

    it("D-5.4 end() ends one session, and may be called again", async (people) => {
      await withAccounts(people, "ana");
      for (const id of ["s1", "s2"]) await people.begin(id, "ana");
      for (const id of ["s1", "s1", "unknown"]) await people.sessions.end({ username: "ana", id });
      expect(await people.isKnown("s1", "ana")).toBe(false);
      expect(await people.isKnown("s2", "ana")).toBe(true);
    });

    it("D-8.7 endAllOf() ends the sessions of one account, and may be called again", async (people) => {
      await withAccounts(people, "ana", "bob");
      for (const id of ["s1", "s2"]) await people.begin(id, "ana");
      await people.begin("s3", "bob");
      for (let n = 0; n < 2; n++) await people.sessions.endAllOf("ana");
      expect(await people.isKnown("s1", "ana")).toBe(false);
      expect(await people.isKnown("s2", "ana")).toBe(false);
      expect(await people.isKnown("s3", "bob")).toBe(true);
    });

    it.everywhere(
      "D-8.7 endAllOf() keeps since when tokens of a provider have to be issued: the next second",
      async (people, other, { clock }) => {
        await withAccounts(people, "ana");
        const find = () => other.sessions.findForeign({ username: "ana", id: "e1" });
        expect(await find()).toEqual({ hasEnded: false, account: makeAccount("ana") });
        const before = clock.nowMs();
        await people.sessions.endAllOf("ana");
        const { account } = await find();
        const sinceMs = account?.tokensSinceMs ?? 0;
        expect(account).toEqual(makeAccount("ana", { tokensSinceMs: sinceMs }));
        expect(sinceMs % 1000).toBe(0);
        expect([sinceMs > before, sinceMs <= clock.nowMs() + 1000]).toEqual([true, true]);
      },
    );

    it.everywhere(
      "D-8.7 no session that begins at the same moment outlives endAllOf()",
      async (people, other) => {
        await withAccounts(people, "ana");
        for (let round = 0; round < 10; round++) {
          const id = `s${round}`;
          const begun = people.begin(id, "ana").then(() => other.sessions.endAllOf("ana"));
          await Promise.all([begun, other.sessions.endAllOf("ana")]);
          expect(await people.isKnown(id, "ana")).toBe(false);
        }
      },
    );

    it("D-5.4 a session is not known from its end on", async (people, _, { clock }) => {
      await withAccounts(people, "ana");
      const begunAtMs = clock.nowMs();
      const begin = (id: string, minutes: number) =>
        people.begin(id, "ana", begunAtMs + minutes * MINUTE_MS);
      await begin("past", -1);
      await begin("short", 10);
      await begin("long", 60);
      const known = async () => {
        const ids = ["past", "short", "long", "later"];
        const answers = await Promise.all(ids.map((id) => people.isKnown(id, "ana")));
        return ids.filter((_, n) => answers[n]);
      };
      expect(await known()).toEqual(["short", "long"]);
      clock.advance(9 * MINUTE_MS);
      expect(await known()).toEqual(["short", "long"]);
      clock.advance(2 * MINUTE_MS);
      expect(await known()).toEqual(["long"]);
      await begin("later", 60);
      expect(await known()).toEqual(["long", "later"]);
    });

    it("D-9.3 extend() moves the end of a session that lives, later only", async (people, _, {
      clock,
    }) => {
      await withAccounts(people, "ana");
      const begunAtMs = clock.nowMs();
      const at = (minutes: number) => begunAtMs + minutes * MINUTE_MS;
      for (const id of ["longer", "ended", "same", "over"]) {
        await people.begin(id, "ana", at(id === "over" ? 5 : 60));
      }
      const extend = (id: string, minutes: number) =>
        people.sessions.extend({ username: "ana", id }, at(minutes));
      await people.sessions.end({ username: "ana", id: "ended" });
      clock.advance(10 * MINUTE_MS);
      expect(await extend("longer", 90)).toBe(true);
      expect(await extend("same", 1)).toBe(true);
      for (const id of ["ended", "over", "unknown"]) {
        expect([id, await extend(id, 90)]).toEqual([id, false]);
        expect([id, await people.isKnown(id, "ana")]).toEqual([id, false]);
      }
      clock.advance(40 * MINUTE_MS);
      expect(await people.isKnown("same", "ana")).toBe(true);
      clock.advance(20 * MINUTE_MS);
      expect(await people.isKnown("same", "ana")).toBe(false);
      expect(await people.isKnown("longer", "ana")).toBe(true);
    });

    it.everywhere(
      "D-6.3 a session that one instance ends is known to no other one",
      async (people, other) => {
        await withAccounts(people, "ana");
        for (let n = 0; n < 20; n++) {
          const [here, there] = n % 2 ? [people, other] : [other, people];
          const id = `s${n}`;
          await here.begin(id, "ana");
          expect(await there.isKnown(id, "ana")).toBe(true);
          expect(await here.isKnown(id, "ana")).toBe(true);
          await there.sessions.end({ username: "ana", id });
          expect(await here.isKnown(id, "ana")).toBe(false);
        }
      },
    );

    it("D-5.4 sessions that have ended are dropped in passing, a hundred at a time", async (people, _, {
      documents,
      clock,
    }) => {
      await withAccounts(people, "ana");
      const endsAtMs = clock.nowMs() + 1_000;
      const begin = (id: string) => people.begin(id, "ana", endsAtMs + MINUTE_MS);
      await documents.transact({ name: "test" }, async (tx) => {
        for (let n = 0; n < 150; n++) {
          tx.put(SESSIONS, { id: `s${n}`, username: "ana", expiresAtMs: endsAtMs });
        }
      });
      const count = async () => {
        const [found] = await documents.read({ name: "test" }, (at) =>
          at.read({ from: SESSIONS, count: {} }),
        );
        return found;
      };
      clock.advance(999);
      await begin("a");
      expect(await count()).toBe(151);
      clock.advance(1);
      await begin("b");
      expect(await count()).toBe(52);
      await begin("c");
      expect(await count()).toBe(3);
    });
  },
);
