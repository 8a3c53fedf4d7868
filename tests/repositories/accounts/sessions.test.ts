import { expect } from "bun:test";
import { SESSIONS } from "../../../src/repositories/accounts/account-collections.ts";
import { Sessions } from "../../../src/repositories/accounts/sessions.ts";
import { repositoryTests } from "../support/repository-tests.ts";

const MINUTE_MS = 60_000;

repositoryTests(
  "sessions",
  (documents) => new Sessions(documents),
  (it) => {
    it("D-5.4 isKnown() knows a session that was begun, for its account only", async (sessions, _, {
      clock,
    }) => {
      const expiresAtMs = clock.nowMs() + MINUTE_MS * 60;
      await sessions.begin({ id: "s1", username: "ana", expiresAtMs });
      await sessions.begin({ id: "s2", username: "Ana é\0$.", expiresAtMs });
      expect(await sessions.isKnown({ username: "ana", id: "s1" })).toBe(true);
      expect(await sessions.isKnown({ username: "Ana é\0$.", id: "s2" })).toBe(true);
      expect(await sessions.isKnown({ username: "Ana é\0$.", id: "s1" })).toBe(false);
      expect(await sessions.isKnown({ username: "Ana", id: "s1" })).toBe(false);
      expect(await sessions.isKnown({ username: "ana", id: "S1" })).toBe(false);
      expect(await sessions.isKnown({ username: "", id: "" })).toBe(false);
    });

    it("D-5.4 isKnown() knows a session that ends with the last day that a date can be of", async (sessions) => {
      await sessions.begin({ id: "s1", username: "ana", expiresAtMs: 8_640_000_000_000_000 });
      expect(await sessions.isKnown({ username: "ana", id: "s1" })).toBe(true);
    });

    it("D-5.4 end() ends one session, and may be called again", async (sessions, _, { clock }) => {
      const expiresAtMs = clock.nowMs() + MINUTE_MS * 60;
      for (const id of ["s1", "s2"]) await sessions.begin({ id, username: "ana", expiresAtMs });
      await sessions.end({ username: "ana", id: "s1" });
      await sessions.end({ username: "ana", id: "s1" });
      await sessions.end({ username: "ana", id: "unknown" });
      expect(await sessions.isKnown({ username: "ana", id: "s1" })).toBe(false);
      expect(await sessions.isKnown({ username: "ana", id: "s2" })).toBe(true);
    });

    it("D-8.7 endAllOf() ends the sessions of one account, and may be called again", async (sessions, _, {
      clock,
    }) => {
      const expiresAtMs = clock.nowMs() + MINUTE_MS * 60;
      for (const id of ["s1", "s2"]) await sessions.begin({ id, username: "ana", expiresAtMs });
      await sessions.begin({ id: "s3", username: "bob", expiresAtMs });
      await sessions.endAllOf("ana");
      await sessions.endAllOf("ana");
      expect(await sessions.isKnown({ username: "ana", id: "s1" })).toBe(false);
      expect(await sessions.isKnown({ username: "ana", id: "s2" })).toBe(false);
      expect(await sessions.isKnown({ username: "bob", id: "s3" })).toBe(true);
    });

    it("D-5.4 a session is not known from its end on", async (sessions, _, { clock }) => {
      const begunAtMs = clock.nowMs();
      const begin = (id: string, minutes: number) =>
        sessions.begin({ id, username: "ana", expiresAtMs: begunAtMs + minutes * MINUTE_MS });
      await begin("past", -1);
      await begin("short", 10);
      await begin("long", 60);
      const known = async () => {
        const ids = ["past", "short", "long", "later"];
        const answers = await Promise.all(
          ids.map((id) => sessions.isKnown({ username: "ana", id })),
        );
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

    it("D-9.3 extend() moves the end of a session that lives, later only", async (sessions, _, {
      clock,
    }) => {
      const begunAtMs = clock.nowMs();
      const at = (minutes: number) => begunAtMs + minutes * MINUTE_MS;
      for (const id of ["longer", "ended", "same", "over"]) {
        await sessions.begin({ id, username: "ana", expiresAtMs: at(id === "over" ? 5 : 60) });
      }
      await sessions.end({ username: "ana", id: "ended" });
      clock.advance(10 * MINUTE_MS);
      expect(await sessions.extend({ username: "ana", id: "longer" }, at(90))).toBe(true);
      expect(await sessions.extend({ username: "ana", id: "same" }, at(1))).toBe(true);
      for (const id of ["ended", "over", "unknown"]) {
        expect([id, await sessions.extend({ username: "ana", id }, at(90))]).toEqual([id, false]);
        expect([id, await sessions.isKnown({ username: "ana", id })]).toEqual([id, false]);
      }
      clock.advance(40 * MINUTE_MS);
      expect(await sessions.isKnown({ username: "ana", id: "same" })).toBe(true);
      clock.advance(20 * MINUTE_MS);
      expect(await sessions.isKnown({ username: "ana", id: "same" })).toBe(false);
      expect(await sessions.isKnown({ username: "ana", id: "longer" })).toBe(true);
    });

    it("D-6.3 a session that one instance ends is known to no other one", async (sessions, other, {
      clock,
    }) => {
      for (let n = 0; n < 20; n++) {
        const [here, there] = n % 2 ? [sessions, other] : [other, sessions];
        await here.begin({ id: `s${n}`, username: "ana", expiresAtMs: clock.nowMs() + 3_600_000 });
        expect(await there.isKnown({ username: "ana", id: `s${n}` })).toBe(true);
        expect(await here.isKnown({ username: "ana", id: `s${n}` })).toBe(true);
        await there.end({ username: "ana", id: `s${n}` });
        expect(await here.isKnown({ username: "ana", id: `s${n}` })).toBe(false);
      }
    });

    it("D-5.4 sessions outlive the instance that began them", async (sessions, other, {
      clock,
    }) => {
      const ids = Array.from({ length: 20 }, (_, n) => `s${n}`);
      const expiresAtMs = clock.nowMs() + 3_600_000;
      await Promise.all(ids.map((id) => sessions.begin({ id, username: "ana", expiresAtMs })));
      await sessions.end({ username: "ana", id: "s0" });
      const answers = await Promise.all(ids.map((id) => other.isKnown({ username: "ana", id })));
      expect(answers).toEqual(ids.map((id) => id !== "s0"));
    });

    it("D-5.4 sessions that have ended are dropped in passing, a hundred at a time", async (sessions, _, {
      documents,
      clock,
    }) => {
      const endsAtMs = clock.nowMs() + 1_000;
      const begin = (id: string, expiresAtMs: number) =>
        sessions.begin({ id, username: "ana", expiresAtMs });
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
      await begin("a", endsAtMs + MINUTE_MS);
      expect(await count()).toBe(151);
      clock.advance(1);
      await begin("b", endsAtMs + MINUTE_MS);
      expect(await count()).toBe(52);
      await begin("c", endsAtMs + MINUTE_MS);
      expect(await count()).toBe(3);
    });
  },
);
