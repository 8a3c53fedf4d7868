import { describe, expect } from "bun:test";
import type { Transaction } from "../../../src/ports/documents.ts";
import { ACCOUNTS } from "../../../src/repositories/account-collections.ts";
import {
  LOOKUP_LOG,
  type LookupLogDocument,
} from "../../../src/repositories/lookup-collections.ts";
import { pruneAudit, verifyAudit } from "../../../src/usecases/reputation/audit/verify-audit.ts";
import { openSecond, storeTests } from "../../contract/harness.ts";
import {
  AUDIT_KEY,
  BY_ROOT,
  MAC,
  type ReputationHarness,
  type ReputationParts,
  Scene,
  wordOf,
} from "../../contract/lookups/reputation-harness.ts";
import { auditRecords } from "../../support/audit-views.ts";
import { reputationTests } from "../support/reputation-tests.ts";

const NOW_MS = 1_772_366_400_000;
const FAR_MS = Date.UTC(2999, 0);
const ADMINISTRATOR = { role: "administrator" } as const;

reputationTests(administrationSuite);

/** What every `Administration` does, and `Membership.erase` by an administrator. */
function administrationSuite(harness: ReputationHarness): void {
  describe(`administration`, () => {
    suspensionTests(harness);
    changeTests(harness);
    lastAdministratorTests(harness);
  });
}

/** The actions of all records, the oldest first. The log has to verify. */
async function actions({ audit }: ReputationParts): Promise<readonly string[]> {
  expect(await verifyAudit({ audit, mac: MAC, auditKey: AUDIT_KEY })).toMatchObject({
    problem: null,
  });
  const records = await auditRecords(audit);
  const ofAdministration = records.filter(({ endpoint }) => endpoint === "admin");
  return ofAdministration
    .toSorted((a, b) => a.at.localeCompare(b.at))
    .map(({ purpose }) => purpose)
    .toSorted();
}

function suspensionTests(harness: ReputationHarness): void {
  const it = storeTests(harness);

  it("D-8.8 a suspended account's keys are refused after the check of the key, neither counted nor audited", async (parts, store) => {
    const scene = new Scene(parts, store);
    const account = await scene.enrol("caller");
    const good = await scene.giveKey("caller");
    const revoked = await scene.giveKey("caller");
    await parts.apiKeys.revoke("caller", { id: revoked.id, nowMs: store.nowMs() });
    expect(wordOf(await scene.lookUp(good.hash, "x"))).toBe("profile_not_found");
    const suspended = await parts.administration.suspend("caller", BY_ROOT, NOW_MS);
    expect(suspended).toEqual({ ...account, suspendedAtMs: NOW_MS });
    for (let i = 0; i < 40; i++) {
      expect(wordOf(await scene.lookUp(good.hash, "x"))).toBe("account_suspended");
    }
    expect(wordOf(await scene.lookUp(revoked.hash, "x"))).toBe("api_key_revoked");
    const { reading } = await parts.usage.read("caller", { callsPerMinute: 30, callsPerMonth: 5 });
    expect(reading.month?.used).toBe(1);
    const verified = await verifyAudit({ audit: parts.audit, mac: MAC, auditKey: AUDIT_KEY });
    expect(verified).toEqual({ problem: null, chains: 2, records: 2 });
    expect(await parts.administration.restore("caller", BY_ROOT)).toEqual(account);
    expect(wordOf(await scene.lookUp(good.hash, "x"))).toBe("profile_not_found");
    expect(await actions(parts)).toEqual(["restore", "suspend"]);
  });

  it.everywhere(
    "D-6.5 acts of one process go on in its chain, several at once too, and those of another one in another",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const names = ["ana", "bea", "cem"];
      for (const name of names) await scene.enrol(name);
      const other = await openSecond(store);
      for (const { administration } of [parts, other]) {
        await Promise.all(
          names.flatMap((name) => [
            administration.suspend(name, BY_ROOT, NOW_MS),
            administration.restore(name, BY_ROOT),
          ]),
        );
      }
      const verified = await verifyAudit({ audit: parts.audit, mac: MAC, auditKey: AUDIT_KEY });
      expect(verified).toEqual({ problem: null, chains: 2, records: 12 });
    },
  );

  it("D-6.5 acts go on in no chain that was closed, pruned as it may be, or whose end another program changed", async (parts, store) => {
    const scene = new Scene(parts, store);
    await scene.enrol("ana");
    const signing = { audit: parts.audit, mac: MAC, auditKey: AUDIT_KEY };
    const act = () => parts.administration.restore("ana", BY_ROOT);
    const change = async (of: (tx: Transaction, end: readonly LookupLogDocument[]) => void) => {
      const keys = (await parts.audit.heads()).flatMap(({ statement: { chainId } }) => [
        ["head", chainId],
        ["tail", chainId],
      ]);
      await parts.storage.documents.transact({ name: "test.change" }, async (tx) => {
        const [end] = await tx.read({ from: LOOKUP_LOG, keys });
        of(tx, end);
      });
    };
    await act();
    const clock = { nowMs: () => FAR_MS, monotonicMs: () => 0 };
    expect(await pruneAudit({ ...signing, clock }, 1)).toEqual({ problem: null, removed: 1 });
    await act();
    expect(await verifyAudit(signing)).toEqual({ problem: null, chains: 1, records: 1 });
    await change((tx, [, tail]) => tx.remove(LOOKUP_LOG, LOOKUP_LOG.keyOf(tail as never)));
    await act();
    await act();
    expect(await verifyAudit(signing)).toEqual({ problem: null, chains: 2, records: 3 });
    const heads: LookupLogDocument[] = [];
    await change((_, end) => heads.push(...end.filter(({ kind }) => kind === "head")));
    await act();
    // The ends of before, under records that go on.
    await change((tx) => {
      for (const head of heads) tx.put(LOOKUP_LOG, head);
    });
    await act();
    expect((await parts.audit.heads()).length).toBe(3);
    expect((await verifyAudit(signing)).problem?.kind).toBe("extra");
    await change((tx, end) => {
      for (const doc of end) if (doc.kind === "head") tx.put(LOOKUP_LOG, { ...doc, seq: 9 });
    });
    await act();
    expect((await parts.audit.heads()).length).toBe(4);
    expect((await verifyAudit(signing)).problem?.message).toContain("its head is not as signed");
  });

  it("D-8.8 a suspended person is looked up as before", async (parts, store) => {
    const scene = new Scene(parts, store);
    await scene.enrol("caller");
    const { hash } = await scene.giveKey("caller");
    await scene.enrol("ana");
    await scene.consent("ana");
    await parts.administration.suspend("ana", BY_ROOT, NOW_MS);
    expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("allowed");
  });

  it("D-8.8 suspend() ends the account's sessions and keeps the time of the first", async (parts, store) => {
    const scene = new Scene(parts, store);
    await scene.enrol("ana");
    const { sessions } = parts;
    await scene.enrol("bea");
    for (const username of ["ana", "bea"]) {
      const session = { id: `of ${username}`, username, expiresAtMs: FAR_MS };
      await sessions.begin(session, { passwordHash: "hash", atMs: NOW_MS });
    }
    await parts.administration.suspend("ana", BY_ROOT, NOW_MS);
    expect(await sessions.accountOf({ username: "ana", id: "of ana" })).toBeNull();
    expect(await sessions.accountOf({ username: "bea", id: "of bea" })).not.toBeNull();
    const again = await parts.administration.suspend("ana", BY_ROOT, NOW_MS + 1);
    expect(again).toMatchObject({ suspendedAtMs: NOW_MS });
  });

  if (!harness.options.isShared) return;

  it("D-8.8 the next lookup of another instance sees a suspension and its end", async (parts, store) => {
    const scene = new Scene(parts, store);
    const second = await openSecond(store);
    await scene.enrol("caller");
    const { hash } = await scene.giveKey("caller");
    for (let round = 0; round < 5; round++) {
      expect(wordOf(await scene.lookUp(hash, "x"))).toBe("profile_not_found");
      await second.administration.suspend("caller", BY_ROOT, NOW_MS);
      expect(wordOf(await scene.lookUp(hash, "x"))).toBe("account_suspended");
      await second.administration.restore("caller", BY_ROOT);
    }
    expect(wordOf(await scene.lookUp(hash, "x"))).toBe("profile_not_found");
  });
}

function changeTests(harness: ReputationHarness): void {
  const it = storeTests(harness);
  const BUSINESS = { plan: "business", callsPerMonth: null, rateLimitPerMinute: null } as const;

  it("D-8.8 what is done to an account that is not there is refused, and leaves no record", async (parts) => {
    const { administration, membership } = parts;
    expect(await administration.suspend("ana", BY_ROOT, NOW_MS)).toBeNull();
    expect(await administration.restore("ana", BY_ROOT)).toBeNull();
    expect(await administration.changePlan("ana", BUSINESS, BY_ROOT)).toBeNull();
    expect(await administration.setPassword("ana", "hash", BY_ROOT)).toBeNull();
    expect(await membership.erase("ana", BY_ROOT)).toBe("absent");
    expect(await parts.accounts.find("ana")).toBeNull();
    expect(await actions(parts)).toEqual([]);
  });

  it("D-5.7, D-8.8 changePlan() changes the plan of one account and leaves the rest", async (parts, store) => {
    const scene = new Scene(parts, store);
    const ana = await scene.enrol("ana");
    const bea = await scene.enrol("bea");
    const { administration, accounts } = parts;
    expect(await administration.changePlan("ana", BUSINESS, BY_ROOT)).toEqual({
      ...ana,
      ...BUSINESS,
    });
    const numbers = { plan: "enterprise", callsPerMonth: 7, rateLimitPerMinute: 9_000 } as const;
    await administration.changePlan("ana", numbers, BY_ROOT);
    expect(await accounts.find("ana")).toEqual({ ...ana, ...numbers });
    expect(await accounts.find("bea")).toEqual(bea);
    expect(await actions(parts)).toEqual(["plan", "plan"]);
  });

  it("D-8.8 setPassword() changes a password and ends all sessions, and none of a provider's account", async (parts, store) => {
    const scene = new Scene(parts, store);
    const ana = await scene.enrol("ana");
    const foreign = { ...ana, username: "fay", email: null, passwordHash: null };
    await parts.accounts.create(foreign);
    const { accounts, sessions } = parts;
    const session = { id: "of ana", username: "ana", expiresAtMs: FAR_MS };
    await sessions.begin(session, { passwordHash: "hash", atMs: NOW_MS });
    const changed = { ...ana, passwordHash: "new", lastSignInAtMs: NOW_MS };
    expect(await parts.administration.setPassword("ana", "new", BY_ROOT)).toEqual(changed);
    expect(await accounts.find("ana")).toEqual(changed);
    expect(await sessions.accountOf({ username: "ana", id: "of ana" })).toBeNull();
    await expect(parts.administration.setPassword("fay", "new", BY_ROOT)).rejects.toMatchObject({
      ...{ kind: "conflict", message: "This account has no password here" },
    });
    expect((await accounts.find("fay"))?.passwordHash).toBeNull();
    expect(await actions(parts)).toEqual(["password"]);
  });

  it("D-8.8 an erasure by an administrator leaves a record that names nobody", async (parts, store) => {
    const scene = new Scene(parts, store);
    await scene.enrol("ana");
    expect(await parts.membership.erase("ana", BY_ROOT)).toBe("erased");
    expect(await parts.accounts.find("ana")).toBeNull();
    expect(await actions(parts)).toEqual(["erase"]);
    const records = await auditRecords(parts.audit);
    expect(JSON.stringify(records)).not.toMatch(/ana|"root"/);
  });
}

const LAST_ADMINISTRATOR = {
  ...{ kind: "conflict", message: "This is the last administrator that is not suspended" },
};

function lastAdministratorTests(harness: ReputationHarness): void {
  const it = storeTests(harness);

  it("D-8.8 the last administrator that is not suspended stays", async (parts, store) => {
    const scene = new Scene(parts, store);
    const { administration, membership, accounts } = parts;
    const root = await scene.enrol("root", ADMINISTRATOR);
    await scene.enrol("user");
    const refused = async () => {
      for (const refuse of [
        () => administration.suspend("root", BY_ROOT, NOW_MS),
        () => membership.erase("root", BY_ROOT),
        () => membership.erase("root"),
      ]) {
        await expect(refuse()).rejects.toMatchObject(LAST_ADMINISTRATOR);
      }
      expect(await accounts.find("root")).toEqual(root);
    };
    await refused();
    await scene.enrol("second", ADMINISTRATOR);
    await administration.suspend("second", BY_ROOT, NOW_MS);
    await refused();
    expect(await membership.erase("second")).toBe("erased");
    expect(await membership.erase("user", BY_ROOT)).toBe("erased");
    expect(await actions(parts)).toEqual(["erase", "suspend"]);
  });

  it.everywhere(
    "D-8.8 of administrators that suspend and erase one another at once one stays",
    async (parts, store) => {
      const scene = new Scene(parts, store);
      const { administration, membership, accounts } = parts;
      for (let round = 0; round < 5; round++) {
        const names = ["a", "b", "c"].map((name) => `${name}${round}`);
        for (const name of names) await scene.enrol(name, ADMINISTRATOR);
        const [a = "", b = "", c = ""] = names;
        const outcomes = await Promise.allSettled([
          administration.suspend(a, BY_ROOT, NOW_MS),
          membership.erase(b, BY_ROOT),
          administration.suspend(c, BY_ROOT, NOW_MS),
        ]);
        expect(outcomes.filter(({ status }) => status === "rejected")).toMatchObject([
          { reason: LAST_ADMINISTRATOR },
        ]);
        const left = await Promise.all(names.map((name) => accounts.find(name)));
        const active = left.filter((one) => one?.suspendedAtMs === null);
        expect(active).toHaveLength(1);
        // For the next round.
        const last = active[0]?.username ?? "";
        await parts.storage.documents.transact({ name: "test" }, async (tx) => {
          tx.remove(ACCOUNTS, [last]);
        });
      }
    },
  );
}
