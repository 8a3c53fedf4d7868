import { expect, test } from "bun:test";
import { PostgresDocuments } from "../../../../src/adapters/postgres/documents/postgres-documents.ts";
import { PostgresDatabase } from "../../../../src/adapters/postgres/driver/database.ts";
import { Failure } from "../../../../src/adapters/postgres/driver/errors.ts";
import { PostgresTables } from "../../../../src/adapters/postgres/tables/postgres-tables.ts";
import { type CallOptions, SYNC_CALLS } from "../../../../src/ports/documents.ts";
import { HurriedClock } from "../../../support/time/hurried-clock.ts";

/** Milliseconds for which a body is tried on a server that never takes a connection, as the call and its clock know them. */
async function triedMs(options: CallOptions): Promise<number> {
  const clock = new HurriedClock(1_000);
  const driver = {
    connect: () => Promise.reject(new Failure(new Error("The connection broke"))),
    close: async () => {},
  };
  const database = new PostgresDatabase({ driver, clock });
  const documents = new PostgresDocuments(database, new PostgresTables(database, "public"));
  const outcome = await documents.transact(options, async () => {}).catch(({ kind }) => kind);
  expect(outcome).toBe("store_unavailable");
  return clock.monotonicMs();
}

test("D-8.3 a call on PostgreSQL without a limit ends within the deadline of a request, and one with a limit by that", async () => {
  const request = await triedMs({ name: "test.request" });
  expect([request > 9_000, request <= 14_000]).toEqual([true, true]);
  const run = await triedMs({ name: "test.run", limit: SYNC_CALLS });
  expect([run > 19_000, run <= 24_000]).toEqual([true, true]);
});
