// D-6.3 What one instance revoked, another answers no more from what it remembers.
import { describe, expect, test } from "bun:test";
import type { ValueCache } from "../../../../src/ports/runtime/runtime.ts";
import { openSecond } from "../../../contract/harness.ts";
import {
  openParts,
  realScene,
  Scene,
  wordOf,
} from "../../../contract/lookups/reputation-harness.ts";
import { remembering } from "../../../support/value-caches.ts";
import { asReputation } from "../reputation-support.ts";
import { openFileStore } from "../stores-support.ts";
import { SqliteFile } from "../support.ts";

const UNLIMITED = { plan: "enterprise", rateLimitPerMinute: 1_000_000_000 } as const;

describe("SQLite: revocation", () => {
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
  const scene = realScene(parts);
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
