// A whole life in one store, and its erasure: for tests that look for what is left of the name. D-8.2.

import { attemptsOf } from "../../../src/domain/reputation/accounts/attempts.ts";
import type { NewRejection } from "../../../src/domain/sync/run/rejections.ts";
import {
  BY_ROOT,
  PLATFORM_ACCOUNTS,
  PROFILES,
  type ReputationParts,
  type Scene,
} from "../../contract/lookups/reputation-harness.ts";
import { commitAlone } from "../../support/rows/write-to.ts";

/** What everything about the person has in it. */
export const NAME = "unmistakable-zoe";

/** Leaves traces of the person in all that a store keeps, erases the person, and releases the name. */
export async function liveAndErase(scene: Scene, parts: ReputationParts): Promise<void> {
  const nowMs = scene.store.nowMs();
  await scene.enrol(NAME, { email: `${NAME}@example.com` });
  await parts.profiles.change(NAME, { displayName: NAME, bio: NAME, public: false }, nowMs);
  await parts.profiles.change(NAME, { public: true }, nowMs);
  await parts.profiles.change(NAME, { public: false }, nowMs);
  const row = { username: NAME, platform: "github", handle: NAME, verified: true };
  await scene.push(PLATFORM_ACCOUNTS, row);
  await scene.push(PROFILES, { username: NAME, bio: "merged", created_at: "2020-01-01T00:00:00Z" });
  await scene.consent(NAME);
  const key = await scene.giveKey(NAME, { id: "key-1" });
  await scene.enrol("bea");
  await scene.lookUp(key.hash, "bea");
  await scene.lookUp((await scene.giveKey("bea")).hash, NAME);
  const { sessions, signIns } = parts;
  const { rejected } = parts.storage;
  const session = { id: "session", username: NAME, expiresAtMs: nowMs + 3_600_000 };
  await sessions.begin(session, { passwordHash: "hash", atMs: nowMs });
  const limits = { limit: 10, windowMs: 3_600_000, nowMs };
  const { keys, beginning } = attemptsOf(NAME);
  for (const key of [...keys, [...beginning, "203.0.113.9"]]) {
    await signIns.count([{ key, ...limits }]);
  }
  const rejection: NewRejection = {
    ...{ table: "profiles", direction: "pull", key: { username: NAME }, fingerprint: "f" },
    ...{ message: `${NAME} is refused`, record: { username: NAME }, lastAtMs: nowMs },
  };
  const refused: NewRejection[] = [rejection, { ...rejection, direction: "push", record: null }];
  await commitAlone(parts.storage, PROFILES, { rejected: refused });
  const dropped = await rejected.list({
    ...{ table: "profiles", direction: "push", limit: 1, behindId: null },
  });
  await rejected.remove(dropped[0]?.id ?? "");
  await parts.membership.erase(NAME);
  await scene.push(PLATFORM_ACCOUNTS, { ...row, username: "bea", handle: "bea" });
  await parts.administration.release(NAME, BY_ROOT);
}
