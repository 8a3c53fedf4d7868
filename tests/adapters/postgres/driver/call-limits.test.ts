import { expect, test } from "bun:test";
import { PostgresDocuments } from "../../../../src/adapters/postgres/documents/postgres-documents.ts";
import { PostgresDatabase } from "../../../../src/adapters/postgres/driver/database.ts";
import { Failure } from "../../../../src/adapters/postgres/driver/errors.ts";
import { PostgresTables } from "../../../../src/adapters/postgres/tables/postgres-tables.ts";
import type { AppError } from "../../../../src/domain/shared/errors.ts";
import { type CallOptions, SYNC_CALLS } from "../../../../src/ports/documents.ts";
import { HurriedClock } from "../../../support/time/hurried-clock.ts";

/** How a body ends that is tried on a server that never takes a connection, and after how long, as the call's clock knows it. */
async function failOn(options: CallOptions): Promise<{ error: AppError; triedMs: number }> {
  const clock = new HurriedClock(1_000);
  const driver = {
    connect: () => Promise.reject(new Failure(new Error("The connection broke"))),
    close: async () => {},
  };
  const database = new PostgresDatabase({ driver, clock });
  const documents = new PostgresDocuments(database, new PostgresTables(database, "public"));
  const error = await documents.transact(options, async () => {}).catch((thrown) => thrown);
  return { error, triedMs: clock.monotonicMs() };
}

/** The time alone. */
async function triedMs(options: CallOptions): Promise<number> {
  const tried = await failOn(options);
  expect(tried.error.kind).toBe("store_unavailable");
  return tried.triedMs;
}

test("D-8.3 a call on PostgreSQL without a limit ends within the deadline of a request, and one with a limit by that", async () => {
  const request = await triedMs({ name: "test.request" });
  expect([request > 9_000, request <= 14_000]).toEqual([true, true]);
  const run = await triedMs({ name: "test.run", limit: SYNC_CALLS });
  expect([run > 19_000, run <= 24_000]).toEqual([true, true]);
});

test.each([
  ["has time for tries until its end", { triesMs: 5_000, endMs: 5_000 }],
  ["ends before its tries do", { triesMs: 9_000, endMs: 5_000 }],
])("D-8.3 a call on PostgreSQL that %s says why the last try failed", async (_, limit) => {
  const { error } = await failOn({ name: "test.why", limit });
  expect([error.message, (error.cause as Error).message]).toEqual([
    "PostgreSQL cannot be reached, or does not answer",
    "The connection broke",
  ]);
});
