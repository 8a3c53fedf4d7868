// Signing in while the account changes hands.
import { expect, test } from "bun:test";
import { knownAddressKey } from "../../src/domain/reputation/accounts/attempts.ts";
import type { PasswordHasher } from "../../src/ports/crypto/crypto.ts";
import { storedSessionId } from "../../src/usecases/reputation/accounts/identity.ts";
import { KeyedMac } from "../../src/usecases/reputation/accounts/secrets.ts";
import { Semaphore } from "../../src/usecases/reputation/accounts/semaphore.ts";
import { signIn } from "../../src/usecases/reputation/accounts/sessions.ts";
import { openMemoryStore } from "../adapters/sqlite/stores-support.ts";
import {
  BY_ROOT,
  MAC,
  openParts,
  type ReputationParts,
  Scene,
} from "../contract/lookups/reputation-harness.ts";
import { accountDeps } from "../support/account-deps.ts";
import { FakeClock } from "../support/time/fake-clock.ts";
import { forgetful } from "../support/value-caches.ts";

const PEPPER_MAC = new KeyedMac(MAC, new Uint8Array(32));
const STORED_ID = storedSessionId(accountDeps({ pepperMac: PEPPER_MAC }), "session-1");

const ANAS = { username: "ana", id: STORED_ID };

const CALLER = { address: "203.0.113.7", gone: new AbortController().signal };

async function openScene() {
  const store = await openMemoryStore();
  const parts = await openParts(store.storage, forgetful);
  const { nowMs, advance, dispose } = store;
  return { store, parts, scene: new Scene(parts, { storage: parts, nowMs, advance, dispose }) };
}

test("D-5.4, D-6.3, D-5.4.4 a password that was right gives no session on an account that took the name meanwhile", async () => {
  const { store, parts, scene } = await openScene();
  const { nowMs, dispose } = store;
  await scene.enrol("ana", { passwordHash: "hash of the first" });
  const passwords: PasswordHasher = {
    hash: async () => "",
    async verify() {
      await parts.membership.erase("ana");
      await parts.administration.release("ana", BY_ROOT);
      await scene.enrol("ana", { passwordHash: "hash of the second", email: "b@example.com" });
      return true;
    },
  };
  const issued: string[] = [];
  const { accounts, sessions, signIns } = parts;
  const deps = {
    ...{
      accounts,
      sessions,
      signIns,
      passwords,
      passwordSemaphore: passwordSemaphore(),
      pepperMac: PEPPER_MAC,
    },
    tokens: {
      issue: async ({ sessionId }: { sessionId: string }) => `${issued.push(sessionId)}`,
      verify: async () => "token_invalid" as const,
    },
    clock: { nowMs, monotonicMs: nowMs },
    ids: { next: () => "session-1" },
  };
  const signingIn = signIn(accountDeps(deps), { username: "ana", password: "x" }, CALLER);
  await expect(signingIn).rejects.toThrow("Username or password is wrong");
  expect(issued).toEqual(["session-1"]);
  expect(await sessions.accountOf(ANAS)).toBeNull();
  await dispose();
});

test("D-8.2 who is erased while they sign in leaves no mark of their address", async () => {
  const { store, parts, scene } = await openScene();
  await scene.enrol("ana", { passwordHash: "hash" });
  const { nowMs, dispose } = store;
  const passwords: PasswordHasher = {
    hash: async () => "",
    async verify() {
      await parts.membership.erase("ana");
      return true;
    },
  };
  const deps = signInDeps(store, parts, passwords);
  const signingIn = signIn(accountDeps(deps), { username: "ana", password: "x" }, CALLER);
  await expect(signingIn).rejects.toThrow("Username or password is wrong");
  const mark = { key: knownAddressKey("ana", CALLER.address), limit: 1, windowMs: 1_000 };
  expect(await parts.signIns.retryAfterSeconds([{ ...mark, nowMs: nowMs() }])).toBeNull();
  await dispose();
});

test("D-5.4, D-5.4.3 of many guesses at once few passwords are looked at, two at a time", async () => {
  const { store, parts, scene } = await openScene();
  const { dispose } = store;
  await scene.enrol("ana", { passwordHash: "hash" });
  let looked = 0;
  let atOnce = 0;
  let most = 0;
  const passwords: PasswordHasher = {
    hash: async () => "",
    async verify() {
      looked++;
      most = Math.max(most, ++atOnce);
      await new Promise<void>((resolve) => setImmediate(resolve));
      atOnce--;
      return false;
    },
  };
  const deps = signInDeps(store, parts, passwords);
  const guesses = Array.from({ length: 100 }, () =>
    signIn(accountDeps(deps), { username: "ana", password: "x" }, CALLER).catch(
      ({ kind }: { readonly kind: string }) => kind,
    ),
  );
  const problems = await Promise.all(guesses);
  expect(problems.filter((problem) => problem === "credentials_invalid").length).toBe(10);
  expect(problems.filter((problem) => problem === "rate_limited").length).toBe(90);
  // The second of the last two may look before the first is counted.
  expect([looked <= 11, most]).toEqual([true, 2]);
  await dispose();
});

test("D-5.4, D-5.4.3 a password that is right gives no session when others failed too often while it was looked at", async () => {
  const { store, parts, scene } = await openScene();
  const { dispose } = store;
  await scene.enrol("ana", { passwordHash: "hash" });
  let others: Promise<unknown> = Promise.resolve();
  const passwords: PasswordHasher = {
    hash: async () => "",
    async verify(password) {
      if (password !== "right") return false;
      await others;
      return true;
    },
  };
  const deps = signInDeps(store, parts, passwords);
  const problemOf = (password: string) =>
    signIn(accountDeps(deps), { username: "ana", password }, CALLER).then(
      () => null,
      ({ kind }: { readonly kind: string }) => kind,
    );
  const right = problemOf("right");
  others = Promise.all(Array.from({ length: 10 }, () => problemOf("wrong")));
  expect(await right).toBe("rate_limited");
  expect(await others).toEqual(Array(10).fill("credentials_invalid"));
  expect(await parts.sessions.accountOf(ANAS)).toBeNull();
  await dispose();
});

function passwordSemaphore(): Semaphore {
  return new Semaphore({ maxRunning: 2, maxWaiting: 100, maxMs: 9_000, clock: new FakeClock() });
}

/** What signing in needs, over a real store, with passwords that a test watches. */
function signInDeps(
  { nowMs }: Awaited<ReturnType<typeof openScene>>["store"],
  parts: ReputationParts,
  passwords: PasswordHasher,
) {
  const { accounts, sessions, signIns } = parts;
  return {
    ...{
      accounts,
      sessions,
      signIns,
      passwords,
      passwordSemaphore: passwordSemaphore(),
      pepperMac: PEPPER_MAC,
    },
    tokens: { issue: async () => "", verify: async () => "token_invalid" as const },
    clock: { nowMs, monotonicMs: nowMs },
    ids: { next: () => "session-1" },
  };
}
