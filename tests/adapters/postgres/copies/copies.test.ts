import { describe, expect } from "bun:test";
import { NodeMac } from "../../../../src/adapters/node-crypto/node-crypto.ts";
import type { EmptyStore } from "../../../../src/ports/copies/store-copies.ts";
import { copyStore, moveStore } from "../../../../src/usecases/operations/copy-store.ts";
import { copiesContract, copiesOf } from "../../../contract/copies/copies-contract.ts";
import { POSTGRESQL } from "../../../http/support/backends.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest, type TestDatabase } from "../support.ts";

copiesContract(copiesOf(POSTGRESQL));

const mac = new NodeMac();

async function openTransactions({ sql }: TestDatabase): Promise<number> {
  const text = `select count(*)::int as n from pg_stat_activity
    where datname = current_database() and state = 'idle in transaction'`;
  return (await sql.unsafe(text))[0].n;
}

describe.skipIf(!postgresAvailable)("PostgreSQL as the source of a copy", () => {
  databaseTest(
    "D-10.7 keeps no transaction open while a store is claimed, nor behind a copy that did not begin",
    async (database) => {
      const { source } = copiesOf(POSTGRESQL);
      const stopped = await source(database.url);
      const open: number[] = [];
      const claim = async () => {
        open.push(await openTransactions(database));
        throw new Error("Not empty");
      };
      const target = {
        kind: "none",
        begin: () => Promise.reject(new Error("Full")),
      } as unknown as EmptyStore;
      try {
        await expect(moveStore({ source: stopped, claim, mac }, {})).rejects.toThrow("Not empty");
        await expect(copyStore(stopped, { target, mac }, {})).rejects.toThrow("Full");
        open.push(await openTransactions(database));
        expect(open).toEqual([0, 0]);
      } finally {
        await stopped.close();
      }
    },
  );
});

describe.skipIf(!postgresAvailable)("PostgreSQL as the target of a copy", () => {
  databaseTest("D-12.5 nothing is left of a copy that was given up", async ({ sql, url }) => {
    await sql.unsafe("drop schema repsync cascade");
    const table = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } });
    const target = await copiesOf(POSTGRESQL).claim(url);
    expect(target.refusals?.(table, { k: "é".repeat(1_001) })).toEqual([
      "its key has more than 2000 bytes, for which an index of PostgreSQL may have no room",
    ]);
    await target.giveUp();
    expect(await sql`select to_regnamespace('repsync')`.values()).toEqual([[null]]);
    await sql`create table public.listings (k int)`;
    await expect(copiesOf(POSTGRESQL).claim(url)).rejects.toThrow("another program has a table");
    expect(await sql`select to_regnamespace('repsync')`.values()).toEqual([[null]]);
  });
});
