// What a body waits for: a batch of lookups is one that reads and then writes.
import { describe, expect } from "bun:test";
import { PostgresDocuments } from "../../../../src/adapters/postgres/documents/postgres-documents.ts";
import { PostgresDatabase } from "../../../../src/adapters/postgres/driver/database.ts";
import { PostgresTables } from "../../../../src/adapters/postgres/tables/postgres-tables.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { Collection } from "../../../../src/ports/documents.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest as it, type Send, watchedDriver } from "../support.ts";

interface Thing {
  readonly id: string;
  readonly n: number;
}

const THINGS: Collection<Thing> = { name: "things", keyOf: ({ id }) => [id] };

const PARTS: Collection<Thing> = {
  ...{ name: "parts", keyOf: ({ id }) => [id] },
  indexes: { number: ({ n }) => [n] },
};

/** Counts how often something is sent after an answer has come. */
function roundTrips() {
  let isAnswered = true;
  const counts = { all: 0 };
  const send: Send = async (statement) => {
    if (isAnswered) counts.all++;
    isAnswered = false;
    try {
      return await statement();
    } finally {
      isAnswered = true;
    }
  };
  return { counts, send };
}

describe.skipIf(!postgresAvailable)("PostgreSQL round trips", () => {
  it("a body that reads once and then writes waits twice", async ({ url }) => {
    const { counts, send } = roundTrips();
    const driver = watchedDriver(url, send);
    const database = new PostgresDatabase({ driver, clock: new SystemClock() });
    const documents = new PostgresDocuments(database, new PostgresTables(database, "public"));
    await documents.prepare([THINGS]);
    counts.all = 0;
    const before = await documents.transact({ name: "test" }, async (tx) => {
      const [found, versions] = await tx.read(
        { from: THINGS, keys: [["a"], ["b"]], lock: true },
        { versionsOf: ["ana", "bea"] },
      );
      tx.put(THINGS, { id: "a", n: 1 });
      tx.put(THINGS, { id: "b", n: 2 });
      tx.remove(THINGS, ["c"]);
      tx.raise(["ana"]);
      return { found, versions };
    });
    expect([before, counts.all]).toEqual([{ found: [], versions: [0, 0] }, 2]);
    const [found, versions] = await documents.read({ name: "test" }, (at) =>
      at.read({ from: THINGS, keys: [["a"], ["b"]] }, { versionsOf: ["ana", "bea"] }),
    );
    expect([found, versions[0]]).toEqual([
      [
        { id: "a", n: 1 },
        { id: "b", n: 2 },
      ],
      1,
    ]);
    await database.close();
  });

  it("a part of a large collection is found by its index, with and without a limit", async ({
    url,
    sql,
  }) => {
    const plans: string[] = [];
    const driver = watchedDriver(url, async (statement, text, parameters) => {
      if (text.includes("as range(low, high)")) {
        const explained = await sql.unsafe(`explain ${text}`, [...parameters]);
        plans.push(JSON.stringify(explained));
      }
      return await statement();
    });
    const database = new PostgresDatabase({ driver, clock: new SystemClock() });
    const documents = new PostgresDocuments(database, new PostgresTables(database, "public"));
    await documents.prepare([PARTS]);
    await documents.transact({ name: "test" }, async (tx) => {
      for (let n = 0; n < 5_000; n++) tx.put(PARTS, { id: String(n), n });
    });
    await sql.unsafe("analyze repsync.parts");
    const within = [["17"]];
    const places = { index: "number", within: [[17]] };
    const found = await documents.read({ name: "test" }, (at) =>
      at.read(
        { from: PARTS, stretch: { within } },
        { from: PARTS, stretch: { within, isReverse: true, limit: 2 } },
        { from: PARTS, count: { within } },
        { from: PARTS, keysOf: places },
        { from: PARTS, asStored: { within } },
      ),
    );
    expect(found.map((answer) => (typeof answer === "number" ? answer : answer.length))).toEqual([
      1, 1, 1, 1, 1,
    ]);
    expect(plans.map((plan) => /Seq Scan|Index/.exec(plan)?.[0])).toEqual(Array(5).fill("Index"));
    await database.close();
  });
});
