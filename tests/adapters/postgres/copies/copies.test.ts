import { describe, expect } from "bun:test";
import { NodeMac } from "../../../../src/adapters/node-crypto/node-crypto.ts";
import type { EmptyStore } from "../../../../src/ports/copies/store-copies.ts";
import { copyStore, moveStore } from "../../../../src/usecases/operations/copy-store.ts";
import { copiesContract, copiesOf } from "../../../contract/copies/copies-contract.ts";
import { POSTGRESQL } from "../../../http/support/backends.ts";
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
