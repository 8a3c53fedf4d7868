import { expect } from "bun:test";
import type { Account } from "../../../src/domain/reputation/accounts/account.ts";
import { ACCOUNTS } from "../../../src/repositories/account-collections.ts";
import { countingReads } from "../support/counting-reads.ts";
import { makeAccount, People } from "../support/people.ts";
import { repositoryTests } from "../support/repository-tests.ts";

const FAR_MS = Date.UTC(2100, 0);

const nameOf = (n: number) => `person-${String(n).padStart(4, "0")}`;

repositoryTests(
  "accounts",
  (documents) => new People(documents),
  (it) => {
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

    it("D-5.2 create() tells which of username and e-mail address is taken", async ({
      accounts,
    }) => {
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

    it("D-11.8.4 e-mail addresses that differ only in how an accent is written are one", async ({
      accounts,
    }) => {
      await accounts.create(makeAccount("a", { email: "a\u0301na@example.org" }));
      const composed = makeAccount("b", { email: "\u00c1na@example.org" });
      expect(await accounts.create(composed)).toBe("email_taken");
      expect((await accounts.find("a"))?.email).toBe("a\u0301na@example.org");
    });

    it("D-5.2, D-5.4.1 e-mail addresses that differ only in case are one, beyond ASCII too", async ({
      accounts,
    }) => {
      await accounts.create(makeAccount("a", { email: "ÉMILE@exämple.org" }));
      expect(await accounts.create(makeAccount("b", { email: "émile@EXÄMPLE.ORG" }))).toBe(
        "email_taken",
      );
      expect(await accounts.create(makeAccount("c", { email: "emile@exämple.org" }))).toBe(
        "created",
      );
    });

    it("D-9.3 hasAdministrator() tells whether anybody administers", async (people) => {
      const { accounts } = people;
      expect(await accounts.hasAdministrator()).toBe(false);
      await accounts.create(makeAccount("ana"));
      expect(await accounts.hasAdministrator()).toBe(false);
      await accounts.create(makeAccount("root", { role: "administrator" }));
      expect(await accounts.hasAdministrator()).toBe(true);
      await people.remove("root");
      expect(await accounts.hasAdministrator()).toBe(false);
    });

    it("D-5.4 any number of accounts have no e-mail address", async ({ accounts }) => {
      for (const name of ["a", "b", "c"]) {
        expect(await accounts.create(makeAccount(name))).toBe("created");
      }
    });

    it("D-5.4 a new account has no session of an earlier one of its name", async (people) => {
      await people.accounts.create(makeAccount("ana"));
      await people.remove("ana");
      await people.accounts.create(makeAccount("bob"));
      await people.leave("left", "ana");
      await people.begin("other", "bob");
      await people.accounts.create(makeAccount("ana"));
      expect(await people.isKnown("left", "ana")).toBe(false);
      expect(await people.isKnown("other", "bob")).toBe(true);
    });

    it("D-8.8 a session keeps the last sign-in of its account, and makes none", async ({
      accounts,
      sessions,
    }) => {
      await accounts.create(makeAccount("ana"));
      await accounts.create(makeAccount("bob"));
      const { passwordHash } = makeAccount("ana");
      const begin = (username: string, atMs: number) =>
        sessions.begin({ id: "s", username, expiresAtMs: FAR_MS }, { passwordHash, atMs });
      await begin("ana", 1_772_366_400_000);
      await begin("ana", 1_772_366_500_000);
      expect(await begin("nobody", 1_772_366_500_000)).toBeNull();
      expect(await accounts.find("ana")).toEqual({
        ...makeAccount("ana"),
        lastSignInAtMs: 1_772_366_500_000,
      });
      expect(await accounts.find("bob")).toEqual(makeAccount("bob"));
      expect(await accounts.find("nobody")).toBeNull();
    });

    it("D-8.7 changePassword() changes the password it knows, and ends all sessions but one", async (people) => {
      const { accounts } = people;
      const hash = "the hash of before";
      const ana = makeAccount("ana", { passwordHash: hash });
      await accounts.create(ana);
      await accounts.create(makeAccount("bob"));
      for (const id of ["a1", "a2", "a3"]) await people.begin(id, "ana");
      await people.begin("b1", "bob");
      const known = async () => {
        const ids = ["a1", "a2", "a3"];
        const answers = await Promise.all(ids.map((id) => people.isKnown(id, "ana")));
        return ids.filter((_, n) => answers[n]);
      };
      const wrong = { from: "another hash", to: "new", keptSession: null };
      expect(await accounts.changePassword("ana", wrong)).toBe(false);
      expect(await accounts.find("ana")).toEqual({ ...ana, lastSignInAtMs: 1 });
      expect(await known()).toEqual(["a1", "a2", "a3"]);
      const first = { from: hash, to: "new", keptSession: "a2" };
      expect(await accounts.changePassword("ana", first)).toBe(true);
      expect(await accounts.find("ana")).toEqual({
        ...{ ...ana, lastSignInAtMs: 1 },
        passwordHash: "new",
      });
      expect(await known()).toEqual(["a2"]);
      expect(await accounts.changePassword("ana", first)).toBe(false);
      const any = { from: "new", to: "newer", keptSession: null };
      expect(await accounts.changePassword("ana", any)).toBe(true);
      expect(await known()).toEqual([]);
      expect(await accounts.changePassword("nobody", any)).toBe(false);
      expect(await people.isKnown("b1", "bob")).toBe(true);
    });
    const all = { text: null, limit: 100, afterUsername: null };
    const names = (found: readonly Account[]) => found.map(({ username }) => username);

    it("D-8.8 list() gives accounts in the order of their names, in parts", async ({
      accounts,
    }) => {
      const inOrder = ["-", "Ana", "ana", "ana ", "b", "é", "\uffee", "😀"];
      for (const name of inOrder.toReversed()) await accounts.create(makeAccount(name));
      const { found } = await accounts.list(all);
      expect(names(found)).toEqual(inOrder);
      expect(found[2]).toEqual(makeAccount("ana"));
      const parts: string[] = [];
      for (let afterUsername: string | null = null; ; ) {
        const { found: part } = await accounts.list({ ...all, limit: 3, afterUsername });
        parts.push(...names(part));
        if (part.length < 3) break;
        afterUsername = names(part).at(-1) ?? null;
      }
      expect(parts).toEqual(inOrder);
    });

    it.everywhere(
      "D-8.8 list() finds text in names and addresses, never a pattern",
      async ({ accounts }) => {
        await accounts.create(makeAccount("ana"));
        await accounts.create(makeAccount("Ana%", { email: "x.y+z@EXAMPLE.org" }));
        await accounts.create(makeAccount("b_b", { email: "*[a-z]@example.org" }));
        await accounts.create(makeAccount("$b.b", { email: "É@example.org" }));
        const found = async (text: string) => names((await accounts.list({ ...all, text })).found);
        expect(await found("AN")).toEqual(["Ana%", "ana"]);
        expect(await found("%")).toEqual(["Ana%"]);
        expect(await found("_")).toEqual(["b_b"]);
        expect(await found("b.b")).toEqual(["$b.b"]);
        expect(await found("[a-z]")).toEqual(["b_b"]);
        expect(await found("x.Y+Z@example")).toEqual(["Ana%"]);
        expect(await found("@example.ORG")).toEqual(["$b.b", "Ana%", "b_b"]);
        expect(await found("É")).toEqual(["$b.b"]);
        expect(await found("$b")).toEqual(["$b.b"]);
        for (const text of [".*", "^a", "a$", "\\", "\0", "'", "anab"]) {
          expect(await found(text)).toEqual([]);
        }
      },
    );

    it("D-8.8 list() searches more accounts than one read brings, and no more than it has to", async (_, __, {
      documents,
    }) => {
      await documents.transact({ name: "test.accounts" }, async (tx) => {
        for (let n = 0; n < 2_500; n++) tx.put(ACCOUNTS, makeAccount(nameOf(n)));
      });
      const counted = countingReads(documents);
      const { accounts } = new People(counted.documents);
      const part = async (text: string | null, limit: number, afterUsername: string | null) => {
        counted.read = 0;
        const { found, next } = await accounts.list({ text, limit, afterUsername });
        expect(next).toBeNull();
        return [names(found), counted.read];
      };
      expect(await part("99", 3, null)).toEqual([[99, 199, 299].map(nameOf), 1_000]);
      expect(await part("99", 3, nameOf(299))).toEqual([[399, 499, 599].map(nameOf), 1_000]);
      expect(await part("2499", 3, null)).toEqual([[nameOf(2_499)], 2_500]);
      expect(await part("2001", 1, nameOf(999))).toEqual([[nameOf(2_001)], 1_500]);
      expect(await part(null, 3, nameOf(1_998))).toEqual([[1_999, 2_000, 2_001].map(nameOf), 3]);
      expect(await part("nobody", 3, null)).toEqual([[], 2_500]);
      const found: string[] = [];
      for (let after: string | null = null; ; after = found.at(-1) ?? null) {
        const { found: page } = await accounts.list({
          text: "7",
          limit: 100,
          afterUsername: after,
        });
        found.push(...names(page));
        if (page.length < 100) break;
      }
      const all = Array.from({ length: 2_500 }, (_, n) => nameOf(n));
      expect(found).toEqual(all.filter((name) => name.includes("7")));
    });

    it("D-8.8 a search of list() ends where it has looked at many, and goes on from there", async (_, __, {
      documents,
    }) => {
      const deepName = (n: number) => `person-${n + 10_000}`;
      await documents.transact({ name: "test.accounts" }, async (tx) => {
        for (let n = 0; n < 21_500; n++) tx.put(ACCOUNTS, makeAccount(deepName(n)));
      });
      const counted = countingReads(documents);
      const { accounts } = new People(counted.documents);
      const search = { text: deepName(21_000), limit: 3 };
      const first = await accounts.list({ ...search, afterUsername: null });
      expect([first, counted.read]).toEqual([{ found: [], next: deepName(19_999) }, 20_000]);
      const { found, next } = await accounts.list({ ...search, afterUsername: first.next });
      expect([names(found), next, counted.read]).toEqual([[deepName(21_000)], null, 21_500]);
    });

    it("D-5.5 remove() ends an account and its sessions, and nobody else's", async (people) => {
      const { accounts } = people;
      await accounts.create(makeAccount("ana"));
      await accounts.create(makeAccount("bob"));
      for (const id of ["a1", "a2"]) await people.begin(id, "ana");
      await people.begin("b1", "bob");
      expect(await people.remove("ana")).toBe(true);
      expect(await accounts.find("ana")).toBeNull();
      expect(await people.isKnown("a1", "ana")).toBe(false);
      expect(await people.isKnown("a2", "ana")).toBe(false);
      expect(await accounts.find("bob")).not.toBeNull();
      expect(await people.isKnown("b1", "bob")).toBe(true);
      expect(await people.remove("ana")).toBe(false);
      expect(await people.remove("")).toBe(false);
    });

    it("D-5.5 remove() frees the username and the e-mail address", async (people) => {
      const { accounts } = people;
      await accounts.create(makeAccount("ana", { email: "ana@example.org" }));
      await people.remove("ana");
      expect(await accounts.create(makeAccount("bob", { email: "Ana@example.org" }))).toBe(
        "created",
      );
      expect(await accounts.create(makeAccount("ana"))).toBe("created");
    });

    it.everywhere(
      "D-5.4 of many create()s of one username at once, one wins",
      async ({ accounts }, other) => {
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
          expect((await accounts.find(`ana${round}`))?.email).toBe(
            `${round}.${winner}@example.org`,
          );
        }
      },
    );

    it.everywhere(
      "D-5.4 of many create()s with one e-mail address at once, one wins",
      async ({ accounts }, other) => {
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
      },
    );

    it.everywhere(
      "D-6.3 what one instance does to an account, the other sees at once",
      async (people, other) => {
        await people.accounts.create(makeAccount("ana"));
        await people.begin("s", "ana");
        for (const to of ["a", "b", "c"]) {
          const from = (await people.accounts.find("ana"))?.passwordHash ?? "";
          await people.accounts.changePassword("ana", { from, to, keptSession: "s" });
          expect((await other.accounts.find("ana"))?.passwordHash).toBe(to);
        }
        expect(await other.isKnown("s", "ana")).toBe(true);
        await people.remove("ana");
        expect(await other.accounts.find("ana")).toBeNull();
        expect(await other.isKnown("s", "ana")).toBe(false);
        await other.accounts.create(makeAccount("ana", { role: "administrator" }));
        expect((await people.accounts.find("ana"))?.role).toBe("administrator");
      },
    );
  },
);
