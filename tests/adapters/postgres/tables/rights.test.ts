// Tables of another role: what repsync may do with them is what it does. D-12.2, D-12.4.
import { describe, expect } from "bun:test";
import { openPostgresStorage } from "../../../../src/adapters/postgres/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import type { Table } from "../../../../src/domain/sync/table/table.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { type RunStorage, withRunParts } from "../../../support/run-parts.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { databaseTest, type TestDatabase } from "../support.ts";

const ENTRY: TableEntry = {
  ...{ upsert_key: ["k"], timestamp_column: "at" },
  columns: { k: { type: "integer" }, at: { type: "datetime" } },
};
const ITEMS = makeTable(ENTRY);
const DELETING = makeTable({ ...ENTRY, deletes: true });
const STAMPED = makeTable({ ...ENTRY, stamped: true });
const AT = "2024-01-01T00:00:00Z";
const RIGHTS = "select, insert, update, delete";

/** A role that may make tables of its own beside `items`, which is the owner's. */
class Guest {
  readonly name: string;
  readonly #url: URL;
  readonly #sql: TestDatabase["sql"];

  constructor({ sql, url }: TestDatabase) {
    this.#sql = sql;
    this.#url = new URL(url);
    this.name = this.#url.pathname.slice(1);
    this.#url.username = this.name;
  }

  async visit(body: () => Promise<void>): Promise<void> {
    await this.#sql.unsafe(`drop schema repsync cascade; create role ${this.name} login;
      create table public.items (k int8 primary key, at timestamptz);
      grant create on database ${this.name} to ${this.name}; grant usage, create on schema public to ${this.name}`);
    try {
      await body();
    } finally {
      await this.#sql.unsafe(`drop owned by ${this.name} cascade; drop role ${this.name}`);
    }
  }

  async grant(rights: string): Promise<void> {
    await this.#sql.unsafe(`grant ${rights} on public.items to ${this.name}`);
  }

  async serve<T>(tables: readonly Table[], body: (storage: RunStorage) => Promise<T>): Promise<T> {
    const options = { clock: new SystemClock(), tables, collections: COLLECTIONS };
    const storage = await openPostgresStorage({ url: this.#url.href, ...options });
    try {
      await storage.tables.prepare(tables);
      return await body(withRunParts(storage));
    } finally {
      await storage.close();
    }
  }

  /** What a start says is in the way of a table. */
  async problem(table: Table): Promise<string> {
    const failed = this.serve([table], async () => {});
    const message = await failed.then(
      () => "",
      (error) => String(error.message),
    );
    return /cannot be used: (.*)\. Leave it out/.exec(message)?.[1] ?? message;
  }

  /** Has the owner make the index that a start asks for. */
  async askForIndex(): Promise<void> {
    const problem = await this.problem(ITEMS);
    expect(problem).toStartWith("it lacks an index: let its owner say create index ");
    await this.#sql.unsafe(problem.replace("it lacks an index: let its owner say ", ""));
  }
}

describe.skipIf(!postgresAvailable)("PostgreSQL: tables of another role", () => {
  databaseTest(
    "D-12.2, D-12.4 each right and index that lacks is told as what its owner may say",
    (database) => {
      const guest = new Guest(database);
      const { sql } = database;
      return guest.visit(async () => {
        const grant = (rights: string) =>
          `let its owner say grant ${rights} on "public"."items" to ${guest.name}`;
        const rows = `the user may not read and write it: ${grant(RIGHTS)}; it lacks an index: let its owner say create index `;
        for (const right of RIGHTS.split(", ")) {
          await guest.grant(RIGHTS);
          await sql.unsafe(`revoke ${right} on public.items from ${guest.name}`);
          expect(await guest.problem(ITEMS)).toStartWith(rows);
        }
        await guest.grant(RIGHTS);
        await guest.askForIndex();
        expect(await guest.problem(ITEMS)).toBe("");
        expect(await guest.problem(DELETING)).toBe(
          `its deletes are noticed by triggers: ${grant("trigger")}`,
        );
        await guest.grant("trigger");
        expect(await guest.problem(DELETING)).toBe("");
        const since = () => sql`select complete_since from repsync._tables`.values();
        const begun = await since();
        await sql`create trigger own before update on public.items
          for each row execute function suppress_redundant_updates_trigger()`;
        expect(await guest.problem(DELETING)).toBe("");
        expect(await since()).toEqual(begun);
      });
    },
  );

  databaseTest("D-12.2 what another role owns is told with how to get it", (database) => {
    const guest = new Guest(database);
    return guest.visit(async () => {
      await database.open();
      await database.sql.unsafe(`grant all on schema repsync to ${guest.name};
        grant all on all tables in schema repsync to ${guest.name}`);
      const error = await guest.serve([], async () => {}).catch((thrown) => thrown);
      expect([error.kind, error.message, error.hint]).toEqual([
        "invalid_request",
        "The user of STORAGE_URL lacks a right in PostgreSQL: must be owner of function _changed",
        `Let a superuser say: grant OWNER to "${guest.name}", where OWNER is the role that owns it`,
      ]);
    });
  });

  databaseTest(
    "D-12.2 without the right to make triggers nothing is noticed, and the allowance for late commits counts",
    (database) => {
      const guest = new Guest(database);
      const { sql } = database;
      return guest.visit(async () => {
        await guest.grant(RIGHTS);
        await guest.askForIndex();
        await guest.serve([STAMPED], async ({ tables, documents, lateRows }) => {
          const table = new TableUnderTest({ tables, documents }, STAMPED);
          expect([tables.stampsOthers(STAMPED), documents.tellsCommits?.(STAMPED)]).toEqual([
            false,
            false,
          ]);
          expect(lateRows.lagSeconds(STAMPED)).toBe(60);
          await table.write({ k: 1, at: AT });
          expect(await table.page({ offsetRows: 1 })).toMatchObject({ rows: [], totalRows: 1 });
          await sql`insert into public.items values (2, null)`;
          expect(await table.page({ offsetRows: 1 })).toMatchObject({
            rows: [{ k: 1, at: AT }],
            totalRows: 2,
          });
        });
        await guest.grant("trigger");
        await guest.serve([STAMPED], async ({ tables, documents, lateRows }) => {
          const table = new TableUnderTest({ tables, documents }, STAMPED);
          expect([tables.stampsOthers(STAMPED), lateRows.lagSeconds(STAMPED)]).toEqual([true, 0]);
          await sql`insert into public.items values (3, null)`;
          expect(await table.column("k")).toEqual([2, 1, 3]);
          // Triggers go with the word, though the table is another's.
          await tables.prepare([ITEMS]);
          await sql`insert into public.items values (4, null)`;
          expect(await table.column("k")).toEqual([2, 4, 1, 3]);
        });
      });
    },
  );

  databaseTest(
    "D-7.6 the record of a table of another role is complete for all who read it, also where the owner lets triggers fire always",
    (database) => {
      const guest = new Guest(database);
      return guest.visit(async () => {
        await guest.grant(`${RIGHTS}, trigger`);
        await guest.askForIndex();
        const query = { after: null, sinceTime: null, limitRows: 1 };
        const look = async ({ tables, tombstones }: RunStorage) => {
          const { earliestAvailable } = await tombstones.list(DELETING, query);
          return [earliestAvailable, await tables.disturbed?.([DELETING])];
        };
        const begun = await guest.serve([DELETING], look);
        expect(await guest.serve([], look)).toEqual(begun);
        await database.sql.unsafe(
          "alter table public.items enable always trigger repsync_deletes_delete",
        );
        expect(begun[1]).toEqual([]);
        expect(await guest.serve([DELETING], look)).toEqual(begun);
      });
    },
  );

  databaseTest(
    "D-12.3, D-7.6 of a table that a subscription fills nothing is noticed either",
    async (database) => {
      const { sql } = database;
      const storage = await database.open();
      await storage.tables.prepare([ITEMS]);
      expect(storage.lateRows.lagSeconds(ITEMS)).toBe(0);
      const name = new URL(database.url).pathname.slice(1);
      await sql.unsafe(
        `create subscription ${name} connection 'dbname=nowhere' publication p with (connect = false)`,
      );
      try {
        await sql.begin(async (tx) => {
          await tx.unsafe("set local allow_system_table_mods = on");
          await tx.unsafe(`insert into pg_subscription_rel (srsubid, srrelid, srsubstate)
            select oid, 'public.items'::regclass, 'r' from pg_subscription where subname = '${name}'`);
        });
        await storage.tables.prepare([ITEMS]);
        expect(storage.lateRows.lagSeconds(ITEMS)).toBe(60);
        await expect(storage.tables.prepare([DELETING])).rejects.toThrow(
          'Table "items": its deletes are noticed by triggers, and what comes by a subscription fires none',
        );
      } finally {
        await sql.unsafe(
          `alter subscription ${name} set (slot_name = none); drop subscription ${name}`,
        );
      }
    },
  );
});
