// D-6.3 under load: what was revoked never answers again, on no instance.
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { ValueCache } from "../../../../src/ports/runtime/value-cache.ts";
import { openSecond } from "../../../contract/harness.ts";
import { openParts, Scene, wordOf } from "../../../contract/lookups/reputation-harness.ts";
import { asReputation, remembering } from "../reputation-support.ts";
import { openFileStore } from "../stores-support.ts";
import { SqliteFile } from "../support.ts";

/** Every commit waits for the disk; in memory that processes share there is none. */
const QUICK_FOLDER = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const TIMEOUT_MS = 1_800_000;
/** `npm run test:revocation` sets more. */
const ROUNDS = Number(process.env["REVOCATION_ROUNDS"] ?? 100);
/** Rounds of two processes take longer. */
const PROCESS_ROUNDS = ROUNDS / 2;
const UNLIMITED = { plan: "enterprise", rateLimitPerMinute: 1_000_000_000 } as const;
const CHILD = new URL("./lookups-child.ts", import.meta.url).pathname;

describe("SQLite: revocation", () => {
  test(
    `D-6.3 in ${ROUNDS} rounds on two instances no lookup begun after a revocation is allowed`,
    async () => {
      const store = await asReputation(await openFileStore({ parent: QUICK_FOLDER }), remembering);
      try {
        const here = new Scene(store.storage, store);
        const there = new Scene(await openSecond(store), store);
        await here.enrol("ana", UNLIMITED);
        const { hash } = await here.giveKey("ana");
        let isEnding = false;
        const readers = [here, there, there].map(async (scene) => {
          while (!isEnding) {
            await scene.lookUp(hash, "ana");
            // A lookup waits for nothing but the disk: without this nobody else would have a turn.
            await new Promise((resolve) => setImmediate(resolve));
          }
        });
        const seen = { allowed: 0, refused: 0 };
        for (let round = 0; round < ROUNDS; round++) {
          const [writer, reader] = round % 2 === 0 ? [here, there] : [there, here];
          const { id } = await writer.consent("ana");
          if (wordOf(await reader.lookUp(hash, "ana")) === "allowed") seen.allowed++;
          await writer.parts.consents.revoke("ana", { id, nowMs: store.nowMs() });
          if (wordOf(await reader.lookUp(hash, "ana")) === "consent_required") seen.refused++;
        }
        isEnding = true;
        await Promise.all(readers);
        expect(seen).toEqual({ allowed: ROUNDS, refused: ROUNDS });
      } finally {
        await store.dispose();
      }
    },
    TIMEOUT_MS,
  );

  test(
    `D-6.3 in ${PROCESS_ROUNDS} rounds of keys and consents on two processes no lookup begun after a revocation is allowed`,
    () =>
      SqliteFile.use(async (file) => {
        const storage = await file.open();
        const parts = await openParts(storage, remembering);
        const time = { nowMs: () => Date.now(), advance: async () => {}, dispose: async () => {} };
        const scene = new Scene(parts, { storage: parts, ...time });
        await scene.enrol("ana", UNLIMITED);
        const key = await scene.giveKey("ana");
        const args = [process.execPath, CHILD, file.path, key.hash, "ana"];
        const child = Bun.spawn(args, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
        const output = Readable.fromWeb(child.stdout as never);
        const lines = createInterface({ input: output })[Symbol.asyncIterator]();
        const askChild = async () => {
          child.stdin.write("?\n");
          await child.stdin.flush();
          return (await lines.next()).value;
        };
        expect((await lines.next()).value).toBe("ready");
        const seen = new Map<string, number>();
        for (let round = 0; round < PROCESS_ROUNDS; round++) {
          const { id } = await scene.consent("ana");
          const before = await askChild();
          await parts.consents.revoke("ana", { id, nowMs: Date.now() });
          const pair = `${before}, ${await askChild()}`;
          seen.set(pair, (seen.get(pair) ?? 0) + 1);
        }
        expect([...seen]).toEqual([["allowed, consent_required", PROCESS_ROUNDS]]);
        await parts.apiKeys.revoke("ana", { id: key.id, nowMs: Date.now() });
        expect(await askChild()).toBe("api_key_revoked");
        child.stdin.end();
        expect(await child.exited).toBe(0);
      }, QUICK_FOLDER),
    TIMEOUT_MS,
  );

  test("D-6.3 a fill that comes after the revocation is never answered from", async () => {
    const held: (() => void)[] = [];
    // What was read before the revocation arrives in the cache only after it.
    const holding = <Value extends object>(): ValueCache<Value> => {
      const cache = remembering<Value>();
      return { ...boundTo(cache), set: (...fill) => held.push(() => cache.set(...fill)) };
    };
    const store = await asReputation(await openFileStore(), holding);
    try {
      const scene = new Scene(store.storage, store);
      const other = new Scene(await openSecond(store), store);
      await scene.enrol("ana", UNLIMITED);
      const key = await scene.giveKey("ana");
      const { id } = await scene.consent("ana");
      expect(wordOf(await scene.lookUp(key.hash, "ana"))).toBe("allowed");
      expect(held.length).toBe(2);
      await other.parts.consents.revoke("ana", { id, nowMs: store.nowMs() });
      for (const fill of held.splice(0)) fill();
      expect(wordOf(await scene.lookUp(key.hash, "ana"))).toBe("consent_required");
      await other.parts.apiKeys.revoke("ana", { id: key.id, nowMs: store.nowMs() });
      for (const fill of held.splice(0)) fill();
      expect(wordOf(await scene.lookUp(key.hash, "ana"))).toBe("api_key_revoked");
    } finally {
      await store.dispose();
    }
  });

  test("D-6.3, D-6.7 a change by another tool of SQLite is seen too", () =>
    SqliteFile.use(async (file) => {
      const { scene, hash } = await rememberAna(file);
      const tool = file.openElsewhere();
      tool.run("DELETE FROM profiles");
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("profile_not_found");
    }));

  test("D-6.3 a start of another instance ends what is remembered: changes may have gone uncounted", () =>
    SqliteFile.use(async (file) => {
      const { scene, hash } = await rememberAna(file);
      const tool = file.openElsewhere();
      tool.run("DROP TRIGGER repsync_change_profiles_update");
      tool.run("UPDATE profiles SET public = 0");
      await openParts(await file.open(), remembering);
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("profile_not_found");
    }));
});

/** An instance that has just answered a lookup of ana, and remembers what it was answered from. */
async function rememberAna(file: SqliteFile) {
  const parts = await openParts(await file.open(), remembering);
  const time = { nowMs: () => Date.now(), advance: async () => {}, dispose: async () => {} };
  const scene = new Scene(parts, { storage: parts, ...time });
  await scene.enrol("ana", UNLIMITED);
  const { hash } = await scene.giveKey("ana");
  await scene.consent("ana");
  expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("allowed");
  return { scene, hash };
}

function boundTo<Value extends object>(cache: ValueCache<Value>): ValueCache<Value> {
  return {
    get: (key) => cache.get(key),
    set: (key, value) => cache.set(key, value),
    delete: (key) => cache.delete(key),
    clear: () => cache.clear(),
    counts: () => cache.counts(),
  };
}
