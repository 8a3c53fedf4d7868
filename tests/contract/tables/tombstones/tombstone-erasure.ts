import { describe, expect } from "bun:test";
import { makeReputation } from "../../../../src/app/services.ts";
import type { Account } from "../../../../src/domain/reputation/accounts/account.ts";
import { NEW_ACCOUNT } from "../../../../src/domain/reputation/accounts/account.ts";
import type { Table } from "../../../../src/domain/sync/table/table.ts";
import { makeRegistry } from "../../../support/rows/make-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { type StoreHarness, storeTests } from "../../harness.ts";
import {
  AUDIT_KEY,
  BY_ROOT,
  MAC,
  NAME_KEY,
  PLATFORM_ACCOUNTS,
  PROFILES,
} from "../../lookups/reputation-harness.ts";
import { asWrites } from "../table-under-test.ts";
import { at, type TombstoneParts } from "./tombstone-table.ts";

const WITH_DELETES = {
  profiles: { ...PROFILES, deletes: true },
  accounts: { ...PLATFORM_ACCOUNTS, deletes: true },
};

/** A registry may key the table by anything. */
const BY_HANDLE: Table = makeRegistry({
  platform_accounts: {
    timestamp_column: "updated_at",
    upsert_key: ["handle"],
    deletes: true,
    columns: {
      handle: { type: "text" },
      username: { type: "text" },
      updated_at: { type: "datetime" },
    },
  },
}).get("platform_accounts") as Table;

/** What is left of deletes when a person is erased. */
export function tombstoneErasureTests(harness: StoreHarness<TombstoneParts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: tombstones and erasure`, () => {
    it("D-7.6, D-5.5 an erasure leaves no tombstone, and removes those that name the person", async (parts, store) => {
      const { profiles, accounts } = WITH_DELETES;
      const others = { ...accounts, name: "others" };
      const { membership } = await openStores(parts, [profiles, accounts, others]);
      await membership.enrol({ account: makeAccount("ana"), displayName: null });
      await membership.enrol({ account: makeAccount("bea"), displayName: null });
      const key = { username: "ana", platform: "ebay" };
      await writeTo(parts, others, [], { deleted: [{ index: 0, key, deletedAt: at(store, 0) }] });
      const row = (username: string, platform: string) => ({
        username,
        platform,
        updated_at: at(store, 0),
      });
      for (const name of ["ana", "bea"]) {
        const rows = [row(name, "github"), row(name, "ebay")];
        await writeTo(parts, accounts, asWrites(rows));
        await parts.program.remove(accounts, { username: name, platform: "ebay" });
      }
      expect(await membership.erase("ana")).toBe("erased");
      expect(await keysOf(parts, profiles)).toEqual([]);
      expect(await keysOf(parts, accounts)).toEqual([{ username: "bea", platform: "ebay" }]);
      expect(await keysOf(parts, others)).toEqual([key]);
      expect(await parts.tables.count(accounts)).toBe(1);
      await parts.program.remove(accounts, { username: "bea", platform: "github" });
      expect((await keysOf(parts, accounts)).length).toBe(2);
    });

    it("D-8.2, D-7.6 an erasure leaves no tombstone of what another program deletes meanwhile", async (parts, store) => {
      const { profiles, accounts } = WITH_DELETES;
      const { membership } = await openStores(parts, [profiles, accounts]);
      await membership.enrol({ account: makeAccount("ana"), displayName: null });
      // Deletes are recorded in their order: that of the person comes long after the erasure has begun.
      const names = [...Array.from({ length: 2_000 }, (_, i) => `bea${i}`), "ana"];
      const row = { platform: "ebay", updated_at: at(store, 0) };
      await writeTo(parts, accounts, asWrites(names.map((username) => ({ ...row, username }))));
      await parts.program.removeAll(accounts);
      await parts.program.removeAll(profiles);
      // That is all: a process that ends here leaves no more.
      expect(await membership.erase("ana")).toBe("erased");
      const query = { after: null, sinceTime: null, limitRows: 2_001 };
      const { items } = await parts.tombstones.list(accounts, query);
      expect(items.length).toBe(2_000);
      expect(items.filter(({ key }) => key["username"] === "ana")).toEqual([]);
      expect(await keysOf(parts, profiles)).toEqual([]);
    });

    it("D-8.2, D-7.6 a tombstone that arrives for an erased name is not kept, as it would keep the name", async (parts, store) => {
      const { profiles, accounts } = WITH_DELETES;
      const { membership, administration } = await openStores(parts, [profiles, accounts]);
      await membership.enrol({ account: makeAccount("ana"), displayName: null });
      await membership.erase("ana");
      const bury = async (...names: string[]) => {
        const deleted = names.map((username, index) => {
          return { index, key: { username, platform: "ebay" }, deletedAt: at(store, -1) };
        });
        await writeTo(parts, accounts, [], { deleted });
        return (await keysOf(parts, accounts)).map(({ username }) => username);
      };
      expect(await bury("ana", "bea", "anabel")).toEqual(["bea", "anabel"]);
      await administration.release("ana", BY_ROOT);
      expect(await bury("ana", "cem")).toEqual(["bea", "anabel", "cem"]);
    });

    it("D-8.2, D-7.6 no tombstone that arrives outlives an erasure at the same moment", async (parts, store) => {
      const { profiles, accounts } = WITH_DELETES;
      const { membership } = await openStores(parts, [profiles, accounts]);
      for (let round = 0; round < 3; round++) {
        const username = `ana${round}`;
        await membership.enrol({ account: makeAccount(username), displayName: null });
        const bury = async (platform: string) => {
          const key = { username, platform };
          const deleted = [{ index: 0, key, deletedAt: at(store, -1) }];
          await writeTo(parts, accounts, [], { deleted });
        };
        const buried = ["ebay", "etsy", "github", "x", "y", "z"].map(bury);
        await Promise.all([membership.erase(username), ...buried]);
      }
      expect(await keysOf(parts, accounts)).toEqual([]);
    });

    it("D-7.6, D-5.5 an erasure leaves no tombstone of rows with another key than the name", async (parts, store) => {
      const { membership } = await openStores(parts, [WITH_DELETES.profiles, BY_HANDLE]);
      // Somebody may be called like a column.
      await membership.enrol({ account: makeAccount("username"), displayName: null });
      const rows = ["@own", "@other"].map((handle) => ({
        ...{ handle, username: handle === "@own" ? "username" : "bea", updated_at: at(store, 0) },
      }));
      const key = { handle: "@gone" };
      const deleted = [{ index: 0, key, deletedAt: at(store, -1) }];
      await writeTo(parts, BY_HANDLE, asWrites(rows), { deleted });
      await membership.erase("username");
      expect(await keysOf(parts, BY_HANDLE)).toEqual([key]);
      expect(await parts.tables.count(BY_HANDLE)).toBe(1);
    });
  });
}

async function openStores(parts: TombstoneParts, tables: readonly Table[]) {
  await parts.tables.prepare(tables);
  const registry = new Map(tables.map((table) => [table.name, table]));
  const options = { mac: MAC, auditKey: AUDIT_KEY, nameKey: NAME_KEY, makeAlert: null };
  return makeReputation(parts, registry, options);
}

async function keysOf(parts: TombstoneParts, table: Table) {
  const query = { after: null, sinceTime: null, limitRows: 10 };
  return (await parts.tombstones.list(table, query)).items.map(({ key }) => key);
}

function makeAccount(username: string): Account {
  const email = `${username}@example.com`;
  return { ...NEW_ACCOUNT, username, email, passwordHash: "hash", createdAtMs: 0 };
}
