import { describe, expect } from "bun:test";
import type { Clock } from "../../../../src/ports/runtime/runtime.ts";
import { ITEMS, ItemsWithDeletes } from "../../../contract/tables/tombstones/tombstone-table.ts";
import { tombstonesContract } from "../../../contract/tables/tombstones/tombstones-contract.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import {
  databaseTest,
  duringStatement,
  makeDatabase,
  otherProgram,
  type TestDatabase,
} from "../support.ts";

describe.skipIf(!postgresAvailable)("PostgreSQL", () => {
  tombstonesContract({
    name: "PostgreSQL",
    options: { isShared: true, randomRuns: 10, holds: "own types" },
    async open() {
      const database = await makeDatabase();
      const program = otherProgram(database);
      const openInstance = async () => Object.assign(await database.open(), { program });
      return {
        storage: await openInstance(),
        openSecond: openInstance,
        // The server is on this machine.
        nowMs: () => Date.now(),
        advance: () => Promise.resolve(),
        dispose: () => database.dispose(),
      };
    },
  });

  databaseTest(
    "D-7.6 tombstones are listed by their places wherever the server puts them, and taken in to the millisecond",
    async (database) => {
      const clock = { ms: Date.parse("2026-01-01T00:00:00Z"), nowMs: () => clock.ms };
      const { items, parts } = await prepareItems(database, clock);
      const keys = async (sinceTime: string | null) =>
        (await items.page({ sinceTime })).items.map(({ key }) => key["k"]);
      for (const k of ["a", "b"]) await items.bury(k, "2025-01-01T00:00:00Z");
      expect(await keys(null)).toEqual(["a", "b"]);
      await database.sql.unsafe("vacuum");
      clock.ms++;
      await items.bury("c", "2025-01-01T00:00:00Z");
      expect(await keys(null)).toEqual(["a", "b", "c"]);
      const time = "2026-01-01T00:00:00.001Z";
      expect(await keys(time)).toEqual(["c"]);
      expect(await parts.tombstones.prune(ITEMS, time)).toBe(2);
      expect(await keys(null)).toEqual(["c"]);
    },
  );

  for (const [how, statement, listed] of [
    ["deletes", "delete from items where k in ('a', 'last')", ["a", "last"]],
    ["brings back", "insert into items (k, at) values ('a', now()), ('last', now())", []],
  ] as const) {
    databaseTest(
      `D-7.6 a program that ${how} a row beside repsync waits for nothing that waits for it`,
      async (database) => {
        const { items } = await prepareItems(database);
        if (how === "deletes") await database.sql`insert into items (k) values ('a'), ('last')`;
        else await items.bury("a", "2025-01-01T00:00:00Z");
        await duringStatement(database, statement, async () =>
          how === "deletes"
            ? await items.bury("a", "2025-01-01T00:00:00Z")
            : await items.write([{ k: "a", at: "2026-01-01T00:00:00Z" }]),
        );
        const page = await items.page({});
        expect(page.items.map(({ key }) => key["k"]).toSorted()).toEqual([...listed]);
      },
    );
  }

  databaseTest(
    "D-7.6 a program that brings back a row waits for no row that moves there",
    async (database) => {
      const { items, parts } = await prepareItems(database);
      await items.bury("a", "2025-01-01T00:00:00Z");
      await items.insert({ k: "b", at: "2026-01-01T00:00:00Z" });
      const statement = "insert into items (k, at) values ('a', now()), ('last', now())";
      let refused: unknown;
      await duringStatement(database, statement, async () => {
        const moving = parts.documents.transact({ name: "test.move" }, ({ tables }) =>
          tables.change(ITEMS, "k", "b", { k: "a" }),
        );
        refused = await moving.catch((error) => error);
      });
      expect(refused).toMatchObject({ kind: "invalid_request" });
      expect([await items.listed(), (await items.rows()).map(({ k }) => k)]).toEqual([
        [],
        ["a", "b", "last"],
      ]);
    },
  );

  databaseTest(
    "D-7.6 a row that a rule deletes as soon as it comes back leaves a tombstone again",
    async (database) => {
      const { items } = await prepareItems(database);
      await items.bury("a", "2025-01-01T00:00:00Z");
      await database.sql.unsafe(`create function public.refuse() returns trigger language plpgsql as
        $$ begin delete from items where k = new.k; return null; end $$;
        create trigger refuse after insert on items for each row execute function public.refuse()`);
      await items.write([{ k: "a", at: "2026-01-01T00:00:00Z" }]);
      const { items: listed } = await items.page({});
      expect(listed).toEqual([{ key: { k: "a" }, deletedAt: "2026-01-01T00:00:00Z" }]);
    },
  );
});

/** The items of an instance, which another program uses as well. */
async function prepareItems(database: TestDatabase, storeClock?: Pick<Clock, "nowMs">) {
  const program = otherProgram(database);
  const parts = Object.assign(await database.open(storeClock), { program });
  return { items: await ItemsWithDeletes.prepare(parts), parts };
}
