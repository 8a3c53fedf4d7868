import { describe, expect } from "bun:test";
import type { Account } from "../../../src/domain/reputation/accounts/account.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { type OpenedStore, openSecond, type StoreHarness, storeTests } from "../harness.ts";

type Parts = Pick<FullStorage, "accounts" | "sessions" | "close">;

/** What every `AccountStore` does. */
export function accountStoreContract(harness: StoreHarness<Parts>): void {
  describe(`${harness.name}: accounts`, () => {
    createTests(harness);
    changeTests(harness);
    removeTests(harness);
    if (harness.options.isShared) sharingTests(harness);
  });
}

function createTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-5.4 find() gives an account as it was created", async ({ accounts }) => {
    const own = makeAccount("ana", {
      email: "Ana@Example.ORG",
      role: "administrator",
      plan: "enterprise",
      callsPerMonth: 999_999_999_999_999,
      rateLimitPerMinute: 0,
    });
    const foreign = makeAccount("Ana é😀$.\0'\"", {
      passwordHash: null,
      issuer: "https://id.example/é",
      createdAtMs: 0,
    });
    expect(await accounts.create(own)).toBe("created");
    expect(await accounts.create(foreign)).toBe("created");
    expect(await accounts.find(own.username)).toEqual(own);
    expect(await accounts.find(foreign.username)).toEqual(foreign);
  });

  it("D-5.4 usernames are compared exactly", async ({ accounts }) => {
    const names = ["ana", "Ana", "ana ", "an\u00e1", "ana\u0301", "1", "01", "$ana", "a.na"];
    for (const name of names) expect(await accounts.create(makeAccount(name))).toBe("created");
    for (const name of names) expect((await accounts.find(name))?.username).toBe(name);
    for (const name of ["ANA", "", "an", "anaa", "%", "__proto__"]) {
      expect(await accounts.find(name)).toBeNull();
    }
  });

  it("D-5.2 create() tells which of username and e-mail address is taken", async ({ accounts }) => {
    await accounts.create(makeAccount("ana", { email: "Ana@example.org" }));
    const conflict = (username: string, email: string | null) =>
      accounts.create(makeAccount(username, { email }));
    expect(await conflict("ana", "other@example.org")).toBe("username_taken");
    expect(await conflict("ana", null)).toBe("username_taken");
    expect(await conflict("bob", "Ana@example.org")).toBe("email_taken");
    expect(await conflict("ana", "ana@EXAMPLE.org")).toBe("username_taken");
    expect(await accounts.find("bob")).toBeNull();
    expect((await accounts.find("ana"))?.email).toBe("Ana@example.org");
  });

  it("D-5.2, D-5.4.1 e-mail addresses that differ only in case are one, beyond ASCII too", async ({
    accounts,
  }) => {
    await accounts.create(makeAccount("a", { email: "ÉMILE@exämple.org" }));
    expect(await accounts.create(makeAccount("b", { email: "émile@EXÄMPLE.ORG" }))).toBe(
      "email_taken",
    );
    expect(await accounts.create(makeAccount("c", { email: "emile@exämple.org" }))).toBe("created");
  });

  it("D-5.4 any number of accounts have no e-mail address", async ({ accounts }) => {
    for (const name of ["a", "b", "c"]) {
      expect(await accounts.create(makeAccount(name))).toBe("created");
    }
  });

  it("D-5.4 a new account has no session of an earlier one of its name", async (storage, store) => {
    await storage.accounts.create(makeAccount("ana"));
    await storage.accounts.remove("ana");
    await beginSession(store, "left", "ana");
    await beginSession(store, "other", "bob");
    await storage.accounts.create(makeAccount("ana"));
    expect(await storage.sessions.isKnown("left", "ana")).toBe(false);
    expect(await storage.sessions.isKnown("other", "bob")).toBe(true);
  });
}

function changeTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-5.7 update() changes the given fields and resolves to the whole account", async ({
    accounts,
  }) => {
    const ana = makeAccount("ana", { email: "ana@example.org" });
    await accounts.create(ana);
    await accounts.create(makeAccount("bob"));
    const plan = { plan: "enterprise", callsPerMonth: null, rateLimitPerMinute: 9000 } as const;
    expect(await accounts.update("ana", plan)).toEqual({ ...ana, ...plan });
    expect(await accounts.update("ana", { role: "administrator" })).toEqual({
      ...ana,
      ...plan,
      role: "administrator",
    });
    const changes = { issuer: "other", callsPerMonth: 5 };
    const changed = { ...ana, ...plan, role: "administrator", ...changes } as const;
    expect(await accounts.update("ana", changes)).toEqual(changed);
    expect(await accounts.update("ana", {})).toEqual(changed);
    expect(await accounts.find("ana")).toEqual(changed);
    expect(await accounts.find("bob")).toEqual(makeAccount("bob"));
  });

  it("D-8.7 changePassword() changes the password it knows, and ends all sessions but one", async (storage, store) => {
    const { accounts, sessions } = storage;
    const ana = makeAccount("ana");
    await accounts.create(ana);
    await accounts.create(makeAccount("bob"));
    for (const id of ["a1", "a2", "a3"]) await beginSession(store, id, "ana");
    await beginSession(store, "b1", "bob");
    const known = async () => {
      const ids = ["a1", "a2", "a3"];
      const answers = await Promise.all(ids.map((id) => sessions.isKnown(id, "ana")));
      return ids.filter((_, n) => answers[n]);
    };
    const wrong = { from: "another hash", to: "new", keptSession: null };
    expect(await accounts.changePassword("ana", wrong)).toBe(false);
    expect(await accounts.find("ana")).toEqual(ana);
    expect(await known()).toEqual(["a1", "a2", "a3"]);
    const first = { from: ana.passwordHash, to: "new", keptSession: "a2" };
    expect(await accounts.changePassword("ana", first)).toBe(true);
    expect(await accounts.find("ana")).toEqual({ ...ana, passwordHash: "new" });
    expect(await known()).toEqual(["a2"]);
    expect(await accounts.changePassword("ana", first)).toBe(false);
    const any = { from: null, to: "newer", keptSession: null };
    expect(await accounts.changePassword("ana", any)).toBe(true);
    expect(await known()).toEqual([]);
    expect(await accounts.changePassword("nobody", any)).toBe(false);
    expect(await sessions.isKnown("b1", "bob")).toBe(true);
  });

  it("D-5.7 update() of an unknown account is null and makes none", async ({ accounts }) => {
    expect(await accounts.update("ana", { plan: "business" })).toBeNull();
    expect(await accounts.find("ana")).toBeNull();
  });
}

function removeTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-5.5 remove() ends an account and its sessions, and nobody else's", async (storage, store) => {
    const { accounts, sessions } = storage;
    await accounts.create(makeAccount("ana"));
    await accounts.create(makeAccount("bob"));
    for (const id of ["a1", "a2"]) await beginSession(store, id, "ana");
    await beginSession(store, "b1", "bob");
    expect(await accounts.remove("ana")).toBe(true);
    expect(await accounts.find("ana")).toBeNull();
    expect(await sessions.isKnown("a1", "ana")).toBe(false);
    expect(await sessions.isKnown("a2", "ana")).toBe(false);
    expect(await accounts.find("bob")).not.toBeNull();
    expect(await sessions.isKnown("b1", "bob")).toBe(true);
    expect(await accounts.remove("ana")).toBe(false);
    expect(await accounts.remove("")).toBe(false);
  });

  it("D-5.5 remove() frees the username and the e-mail address", async ({ accounts }) => {
    await accounts.create(makeAccount("ana", { email: "ana@example.org" }));
    await accounts.remove("ana");
    expect(await accounts.create(makeAccount("bob", { email: "Ana@example.org" }))).toBe("created");
    expect(await accounts.create(makeAccount("ana"))).toBe("created");
  });
}

function sharingTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  it("D-5.4 of many create()s of one username at once, one wins", async ({ accounts }, store) => {
    const other = await openSecond(store);
    for (let round = 0; round < 5; round++) {
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 ? accounts : other.accounts).create(
            makeAccount(`ana${round}`, { email: `${round}.${n}@example.org` }),
          ),
        ),
      );
      expect(outcomes.toSorted()).toEqual(["created", ...Array(9).fill("username_taken")]);
      const winner = outcomes.indexOf("created");
      expect((await accounts.find(`ana${round}`))?.email).toBe(`${round}.${winner}@example.org`);
    }
  });

  it("D-5.4 of many create()s with one e-mail address at once, one wins", async ({
    accounts,
  }, store) => {
    const other = await openSecond(store);
    for (let round = 0; round < 5; round++) {
      const emails = [`ana${round}@example.org`, `ANA${round}@example.org`];
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 ? accounts : other.accounts).create(
            makeAccount(`ana${round}-${n}`, { email: emails[n % 2]! }),
          ),
        ),
      );
      expect(outcomes.toSorted()).toEqual(["created", ...Array(9).fill("email_taken")]);
    }
  });

  it("D-6.3 what one instance does to an account, the other sees at once", async (storage, store) => {
    const other = await openSecond(store);
    await storage.accounts.create(makeAccount("ana"));
    await beginSession(store, "s", "ana");
    for (const callsPerMonth of [1, 2, 3]) {
      await storage.accounts.update("ana", { callsPerMonth });
      expect((await other.accounts.find("ana"))?.callsPerMonth).toBe(callsPerMonth);
    }
    expect(await other.sessions.isKnown("s", "ana")).toBe(true);
    await storage.accounts.remove("ana");
    expect(await other.accounts.find("ana")).toBeNull();
    expect(await other.sessions.isKnown("s", "ana")).toBe(false);
    await other.accounts.create(makeAccount("ana", { role: "administrator" }));
    await other.close();
    expect((await storage.accounts.find("ana"))?.role).toBe("administrator");
  });

  it("D-5.7 update()s of different fields at once are all kept", async ({ accounts }, store) => {
    const other = await openSecond(store);
    for (let round = 0; round < 10; round++) {
      const name = `ana${round}`;
      await accounts.create(makeAccount(name));
      await Promise.all([
        accounts.update(name, { callsPerMonth: 7 }),
        other.accounts.update(name, { role: "administrator" }),
        accounts.update(name, { plan: "business" }),
        other.accounts.update(name, { rateLimitPerMinute: 8 }),
      ]);
      expect(await accounts.find(name)).toEqual({
        ...makeAccount(name),
        callsPerMonth: 7,
        role: "administrator",
        plan: "business",
        rateLimitPerMinute: 8,
      });
    }
  });
}

function makeAccount(username: string, changes: Partial<Account> = {}): Account {
  return {
    username,
    email: null,
    passwordHash: "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA",
    role: "user",
    issuer: "repsync",
    plan: "free",
    callsPerMonth: null,
    rateLimitPerMinute: null,
    createdAtMs: 1_772_366_400_123,
    ...changes,
  };
}

async function beginSession(
  store: OpenedStore<Parts>,
  id: string,
  username: string,
): Promise<void> {
  await store.storage.sessions.begin({ id, username, expiresAtMs: store.nowMs() + 3_600_000 });
}
