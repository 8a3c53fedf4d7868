// Addresses and servers that are refused, in one line. D-12.2.
import { describe, expect, test } from "bun:test";
import { readAddress } from "../../../../src/adapters/postgres/driver/address.ts";
import { openPostgresStorage } from "../../../../src/adapters/postgres/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/make-table.ts";
import { withRunParts } from "../../../support/run-parts.ts";
import { postgresAvailable } from "../../../support/shared-postgres.ts";
import { databaseTest as it } from "../support.ts";

const clock = new SystemClock();
const ITEMS = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } });

/** The message of what opening throws. */
async function refusalAt(url: string): Promise<unknown> {
  return await openPostgresStorage({ url, clock }).then(
    async (storage) => await storage.close(),
    ({ kind, message }) => [kind, message],
  );
}

describe("addresses of PostgreSQL", () => {
  test("schema and sslmode are read, and given to no client", () => {
    const address = "postgresql://u:p%40@h:1/d?schema=app%20one&sslmode=require";
    expect(readAddress(address)).toEqual({
      url: "postgres://u:p%40@h:1/d",
      schema: "app one",
      sslMode: "require",
    });
    const plain = readAddress("postgres://u@h/d");
    expect([plain.schema, plain.sslMode]).toEqual(["public", "prefer"]);
  });

  test("what cannot be used is refused, without its password", () => {
    for (const address of ["postgres://h", "http://h/d", "postgres://u:secret@h/d?sslmode=allow"]) {
      expect(() => readAddress(address)).toThrow(/PostgreSQL/);
      expect(() => readAddress(address)).not.toThrow(/secret/);
    }
  });
});

describe.skipIf(!postgresAvailable)("databases of PostgreSQL", () => {
  it("a schema or a database that is not there is named, and nothing is made", async (database) => {
    expect(await refusalAt(`${database.url}?schema=absent`)).toEqual([
      "invalid_request",
      'The database has no schema "absent": create it, or name another one with ?schema=',
    ]);
    const other = new URL(database.url);
    other.pathname = "/absent";
    expect(await refusalAt(other.href)).toEqual([
      "invalid_request",
      "There is no such database on the server",
    ]);
  });

  it("a server that does not answer is told as such", async () => {
    expect(await refusalAt("postgres://u@127.0.0.1:1/d?sslmode=disable")).toEqual([
      "store_unavailable",
      "PostgreSQL cannot be reached, or does not answer",
    ]);
  });

  it("tables stand in the schema of the address", async (database) => {
    await database.sql.unsafe('create schema "App One"');
    const url = `${database.url}?schema=${encodeURIComponent("App One")}`;
    const storage = await openPostgresStorage({ url, clock });
    const table = await TableUnderTest.prepare(withRunParts(storage), ITEMS);
    await storage.documents.prepare(COLLECTIONS);
    await table.write({ k: "a" });
    expect(await table.rows()).toEqual([{ k: "a" }]);
    const [[rows] = []] = await database.sql
      .unsafe('select count(*)::int4 from "App One".items')
      .values();
    expect(rows).toBe(1);
    await storage.close();
  });
});
