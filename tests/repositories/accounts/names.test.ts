import { expect } from "bun:test";
import type { DocumentStore } from "../../../src/ports/documents.ts";
import { ACCOUNTS, ERASED_NAMES } from "../../../src/repositories/account-collections.ts";
import { Names } from "../../../src/repositories/accounts/names.ts";
import { hmacOfName, makeAccount } from "../support/people.ts";
import { repositoryTests } from "../support/repository-tests.ts";

const nameOf = (n: number) => `person-${n}`;
/** More than one message asks for, some of them twice, and one that nobody can have. */
const NAMES = [...Array.from({ length: 2_500 }, (_, n) => nameOf(n)), nameOf(1), "x".repeat(2_000)];
const UNKNOWN = { ownsProfile: false, hidesProfile: false, erased: null };

/** Names whose HMACs are counted. */
function namesOf(documents: DocumentStore) {
  const counts = { hmacs: 0 };
  const names = new Names(documents, (name) => {
    counts.hmacs++;
    return hmacOfName(name);
  });
  const within = () =>
    documents.transact({ name: "test.facts" }, (tx) => names.readFactsWithin(tx, NAMES));
  return { documents, names, within, counts };
}

repositoryTests("names", namesOf, (it) => {
  it("D-8.1, D-8.2 facts of many names come in parts, without an HMAC where nobody was erased", async ({
    documents,
    names,
    within,
    counts,
  }) => {
    expect((await within()).size).toBe(0);
    const foreign = { passwordHash: null, issuer: "https://id.example" };
    await documents.transact({ name: "test.accounts" }, async (tx) => {
      tx.put(ACCOUNTS, makeAccount(nameOf(3)));
      tx.put(ACCOUNTS, { ...makeAccount(nameOf(1_500), foreign), hidesProfile: true });
      tx.put(ACCOUNTS, makeAccount(nameOf(2_499), foreign));
    });
    const owner = { ...UNKNOWN, ownsProfile: true };
    const hider = { ...UNKNOWN, hidesProfile: true };
    const known = [
      [nameOf(3), owner],
      [nameOf(1_500), hider],
    ] as const;
    expect(await within()).toEqual(new Map(known));
    expect(await names.readFacts(NAMES)).toEqual(new Map(known));
    expect(counts).toEqual({ hmacs: 0 });
  });

  it.everywhere(
    "D-8.2 erased names are told among any number of others, with what their accounts tell since",
    async ({ documents, names, within, counts }) => {
      const at = "2026-03-01T12:00:00.000Z";
      await documents.transact({ name: "test.erased" }, async (tx) => {
        for (const [n, isTaken] of [
          [0, true],
          [2_400, false],
        ] as const) {
          tx.put(ERASED_NAMES, { hmac: hmacOfName(nameOf(n)), at, isTaken, month: null });
        }
        tx.put(ACCOUNTS, makeAccount(nameOf(2_400)));
      });
      const known = new Map([
        [nameOf(0), { ...UNKNOWN, erased: { at, isTaken: true } }],
        [nameOf(2_400), { ...UNKNOWN, ownsProfile: true, erased: { at, isTaken: false } }],
      ]);
      expect(await within()).toEqual(known);
      expect(await names.readFacts(NAMES)).toEqual(known);
      expect(counts).toEqual({ hmacs: 5_000 });
    },
  );
});
