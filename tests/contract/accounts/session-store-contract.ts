import { describe, expect } from "bun:test";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { openSecond, type StoreHarness, storeTests } from "../harness.ts";

type Parts = Pick<FullStorage, "sessions" | "close">;

const MINUTE_MS = 60_000;

/** What every `SessionStore` does. */
export function sessionStoreContract(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: sessions`, () => {
    it("D-5.4 isKnown() knows a session that was begun, for its account only", async ({
      sessions,
    }, store) => {
      const expiresAtMs = store.nowMs() + MINUTE_MS * 60;
      await sessions.begin({ id: "s1", username: "ana", expiresAtMs });
      await sessions.begin({ id: "s2", username: "Ana é\0$.", expiresAtMs });
      expect(await sessions.isKnown("s1", "ana")).toBe(true);
      expect(await sessions.isKnown("s2", "Ana é\0$.")).toBe(true);
      expect(await sessions.isKnown("s1", "Ana é\0$.")).toBe(false);
      expect(await sessions.isKnown("s1", "Ana")).toBe(false);
      expect(await sessions.isKnown("S1", "ana")).toBe(false);
      expect(await sessions.isKnown("", "")).toBe(false);
    });

    it("D-5.4 isKnown() knows a session that ends with the last day that a date can be of", async ({
      sessions,
    }) => {
      await sessions.begin({ id: "s1", username: "ana", expiresAtMs: 8_640_000_000_000_000 });
      expect(await sessions.isKnown("s1", "ana")).toBe(true);
    });

    it("D-5.4 end() ends one session, and may be called again", async ({ sessions }, store) => {
      const expiresAtMs = store.nowMs() + MINUTE_MS * 60;
      for (const id of ["s1", "s2"]) await sessions.begin({ id, username: "ana", expiresAtMs });
      await sessions.end("s1");
      await sessions.end("s1");
      await sessions.end("unknown");
      expect(await sessions.isKnown("s1", "ana")).toBe(false);
      expect(await sessions.isKnown("s2", "ana")).toBe(true);
    });

    it("D-8.7 endAllOf() ends the sessions of one account, and may be called again", async ({
      sessions,
    }, store) => {
      const expiresAtMs = store.nowMs() + MINUTE_MS * 60;
      for (const id of ["s1", "s2"]) await sessions.begin({ id, username: "ana", expiresAtMs });
      await sessions.begin({ id: "s3", username: "bob", expiresAtMs });
      await sessions.endAllOf("ana");
      await sessions.endAllOf("ana");
      expect(await sessions.isKnown("s1", "ana")).toBe(false);
      expect(await sessions.isKnown("s2", "ana")).toBe(false);
      expect(await sessions.isKnown("s3", "bob")).toBe(true);
    });

    it("D-5.4 a session is not known from its end on", async ({ sessions }, store) => {
      const begunAtMs = store.nowMs();
      const begin = (id: string, minutes: number) =>
        sessions.begin({ id, username: "ana", expiresAtMs: begunAtMs + minutes * MINUTE_MS });
      await begin("past", -1);
      await begin("short", 10);
      await begin("long", 60);
      const known = async () => {
        const ids = ["past", "short", "long", "later"];
        const answers = await Promise.all(ids.map((id) => sessions.isKnown(id, "ana")));
        return ids.filter((_, n) => answers[n]);
      };
      expect(await known()).toEqual(["short", "long"]);
      await store.advance(9 * MINUTE_MS);
      expect(await known()).toEqual(["short", "long"]);
      await store.advance(2 * MINUTE_MS);
      expect(await known()).toEqual(["long"]);
      await begin("later", 60);
      expect(await known()).toEqual(["long", "later"]);
    });

    it("D-9.3 extend() moves the end of a session that lives, later only", async ({
      sessions,
    }, store) => {
      const begunAtMs = store.nowMs();
      const at = (minutes: number) => begunAtMs + minutes * MINUTE_MS;
      for (const id of ["longer", "ended", "same", "over"]) {
        await sessions.begin({ id, username: "ana", expiresAtMs: at(id === "over" ? 5 : 60) });
      }
      await sessions.end("ended");
      await store.advance(10 * MINUTE_MS);
      expect(await sessions.extend("longer", at(90))).toBe(true);
      expect(await sessions.extend("same", at(1))).toBe(true);
      for (const id of ["ended", "over", "unknown"]) {
        expect([id, await sessions.extend(id, at(90))]).toEqual([id, false]);
        expect([id, await sessions.isKnown(id, "ana")]).toEqual([id, false]);
      }
      await store.advance(40 * MINUTE_MS);
      expect(await sessions.isKnown("same", "ana")).toBe(true);
      await store.advance(20 * MINUTE_MS);
      expect(await sessions.isKnown("same", "ana")).toBe(false);
      expect(await sessions.isKnown("longer", "ana")).toBe(true);
    });

    if (!harness.options.isShared) return;

    it("D-6.3 a session that one instance ends is known to no other one", async ({
      sessions,
    }, store) => {
      const other = await openSecond(store);
      for (let n = 0; n < 20; n++) {
        const [here, there] = n % 2 ? [sessions, other.sessions] : [other.sessions, sessions];
        await here.begin({ id: `s${n}`, username: "ana", expiresAtMs: store.nowMs() + 3_600_000 });
        expect(await there.isKnown(`s${n}`, "ana")).toBe(true);
        expect(await here.isKnown(`s${n}`, "ana")).toBe(true);
        await there.end(`s${n}`);
        expect(await here.isKnown(`s${n}`, "ana")).toBe(false);
      }
    });

    it("D-5.4 sessions outlive the instance that began them", async (storage, store) => {
      const other = await openSecond(store);
      const ids = Array.from({ length: 20 }, (_, n) => `s${n}`);
      const expiresAtMs = store.nowMs() + 3_600_000;
      await Promise.all(
        ids.map((id) => storage.sessions.begin({ id, username: "ana", expiresAtMs })),
      );
      await storage.sessions.end("s0");
      await storage.close();
      const answers = await Promise.all(ids.map((id) => other.sessions.isKnown(id, "ana")));
      expect(answers).toEqual(ids.map((id) => id !== "s0"));
    });
  });
}
