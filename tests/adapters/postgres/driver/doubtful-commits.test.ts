// Commits whose answer is lost: the server is asked what became of them.
import { describe, expect } from "bun:test";
import { BunDriver, type Driver } from "../../../../src/adapters/postgres/driver/bun-driver.ts";
import { PostgresDatabase } from "../../../../src/adapters/postgres/driver/database.ts";
import { Failure } from "../../../../src/adapters/postgres/driver/errors.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { CommitInDoubt } from "../../../../src/ports/documents.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest as it, type TestDatabase } from "../support.ts";

const LOST = () => new Failure(new Error("The connection broke"));

const FUTURE_ID = "999999999999";

/** What becomes of the first commit, whose answer never comes. */
interface Fate {
  readonly isDone: boolean;
  /** True: nobody can be asked. */
  readonly isUnknown?: boolean;
  /** True: the server fell since, and may have given the id to another. */
  readonly isReborn?: boolean;
  /** True: the server fell since, and has not given the id yet. */
  readonly isForgotten?: boolean;
  /** True: the commit is never answered, and the connection stays. */
  readonly isSilent?: boolean;
}

/** A driver that loses the answer of the first commit. */
function losing(
  driver: Driver,
  { isDone, isUnknown = false, isReborn = false, isForgotten = false, isSilent = false }: Fate,
): Driver {
  let isLost = false;
  return {
    async connect() {
      const connection = await driver.connect();
      return {
        query: async (text, parameters) => {
          if (!text.includes("pg_xact_status")) return await connection.query(text, parameters);
          if (isUnknown) throw LOST();
          const lines = await connection.query(text, isForgotten ? [FUTURE_ID] : parameters);
          return isReborn ? lines.map(([status]) => [status, "another"]) : lines;
        },
        script: async (text) => {
          if (text !== "commit" || isLost) return await connection.script(text);
          isLost = true;
          await connection.script(isDone ? "commit" : "rollback");
          if (isSilent) await new Promise(() => {});
          throw LOST();
        },
        release: (isUsable) => connection.release(isUsable),
      };
    },
    close: () => driver.close(),
  };
}

/** Adds a line in a transaction: what that gives, how often its body ran, and how many lines there are, by the one connection. */
async function add({ url, sql }: TestDatabase, fate: Fate) {
  await sql.unsafe("create table lines (n int8)");
  const options = { url, tls: false, maxConnections: 1 } as const;
  const driver = losing(new BunDriver(options), fate);
  const callLimit = { triesMs: 1_000, endMs: fate.isSilent ? 1_000 : 30_000 };
  const database = new PostgresDatabase({ driver, clock: new SystemClock(), callLimit });
  let runs = 0;
  const outcome = await database
    .transact({ name: "test.add" }, async (tx) => {
      runs++;
      await tx.query("insert into lines values (1)");
      return "added";
    })
    .catch((error: unknown) => error);
  const [[lines] = []] = await database.ask("test.count", "select count(*)::int4 from lines");
  await database.close();
  return { outcome, runs, lines };
}

describe.skipIf(!postgresAvailable)("PostgreSQL commits in doubt", () => {
  it("D-8.3 a commit that was done is known to be, and is not done again", async (database) => {
    expect(await add(database, { isDone: true })).toEqual({ outcome: "added", runs: 1, lines: 1 });
  });

  it("D-8.3 a commit that was not done is known not to be, and its body runs again", async (database) => {
    expect(await add(database, { isDone: false })).toEqual({ outcome: "added", runs: 2, lines: 1 });
  });

  it("D-8.3 an id that a server which fell has not given yet is of a commit that was not done", async (database) => {
    const outcome = await add(database, { isDone: false, isForgotten: true });
    expect(outcome).toEqual({ outcome: "added", runs: 2, lines: 1 });
  });

  it("D-8.3 a commit of which nobody knows is told as such, and its body is not run again", async (database) => {
    const { outcome, runs, lines } = await add(database, { isDone: true, isUnknown: true });
    expect([outcome instanceof CommitInDoubt, runs, lines]).toEqual([true, 1, 1]);
  });

  it("D-8.3 a commit that is not answered in its time is told as unknown", async (database) => {
    const { outcome, runs } = await add(database, { isDone: true, isSilent: true });
    expect([outcome instanceof CommitInDoubt, runs]).toEqual([true, 1]);
  });

  it("D-3.8, D-8.3 after a crash an id that is committed may be another's, and one that is not is ours", async (database) => {
    const unknown = await add(database, { isDone: true, isReborn: true });
    expect([unknown.outcome instanceof CommitInDoubt, unknown.runs]).toEqual([true, 1]);
    await database.sql.unsafe("drop table lines");
    const again = await add(database, { isDone: false, isReborn: true });
    expect(again).toEqual({ outcome: "added", runs: 2, lines: 1 });
  });
});
