// Stores in databases of their own, with a bare client beside them.
import { test } from "bun:test";
import { SQL } from "bun";
import {
  BunDriver,
  type Driver,
  type Parameter,
} from "../../../src/adapters/postgres/driver/bun-driver.ts";
import { openPostgresStorage } from "../../../src/adapters/postgres/storage.ts";
import { castType, held } from "../../../src/adapters/postgres/tables/columns.ts";
import { SystemClock } from "../../../src/adapters/system/system.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { COLLECTIONS } from "../../../src/repositories/collections.ts";
import type { OtherProgram } from "../../contract/tables/tombstones/tombstone-table.ts";
import { type RunStorage, withRunParts } from "../../support/run-parts.ts";
import {
  dropPostgresDatabase,
  makePreparedDatabase,
} from "../../support/stores/shared-postgres.ts";
import { pollUntil } from "../../support/time/poll-until.ts";

const TEST_TIMEOUT_MS = 120_000;

/** One test's database. */
export interface TestDatabase {
  readonly url: string;
  /** The database as other programs see it. */
  readonly sql: SQL;
  /** Opens an instance, closed after the test; `storeClock` is in place of the server's. */
  open(storeClock?: Pick<Clock, "nowMs">): Promise<RunStorage>;
  dispose(): Promise<void>;
}

export async function makeDatabase(): Promise<TestDatabase> {
  const url = await makePreparedDatabase();
  const sql = new SQL({ url, max: 2 });
  const opened: FullStorage[] = [];
  return {
    url,
    sql,
    async open(storeClock) {
      const storage = await openPostgresStorage({ url, clock: new SystemClock(), storeClock });
      opened.push(storage);
      // As a service does at its start.
      await storage.documents.prepare(COLLECTIONS);
      return withRunParts(storage);
    },
    async dispose() {
      for (const storage of opened) await storage.close();
      await sql.close();
      await dropPostgresDatabase(url);
    },
  };
}

/** Lets the server's time pass for leases: their ends come nearer. */
export async function makeOlder({ sql }: TestDatabase, durationMs: number): Promise<void> {
  await sql.unsafe(
    `update repsync.leases set doc = jsonb_set(doc::jsonb, '{endsAtMs}', to_jsonb((doc->>'endsAtMs')::int8 - ${Math.round(durationMs)}))::json`,
  );
}

/** A program that uses a client of its own. */
export function otherProgram({ sql }: TestDatabase): OtherProgram {
  const lists = (table: Table, row: Row) => {
    const columns = table.columns.filter(({ name }) => Object.hasOwn(row, name));
    return columns.map((column) => ({
      name: `"${column.name}"`,
      type: castType(column),
      text: held(column, row[column.name] ?? null) ?? null,
    }));
  };
  const where = (table: Table, key: Row, from: number) =>
    lists(table, key)
      .map(({ name, type }, i) => `${name} = $${from + i}::text::${type}`)
      .join(" and ");
  return {
    async insert(table, row) {
      const cells = lists(table, row);
      const values = cells.map(({ type }, i) => `$${i + 1}::text::${type}`);
      const text = `insert into "${table.name}" (${cells.map(({ name }) => name)}) values (${values})`;
      await sql.unsafe(
        text,
        cells.map((cell) => cell.text),
      );
    },
    async update(table, key, changes) {
      const cells = lists(table, changes);
      const set = cells.map(({ name, type }, i) => `${name} = $${i + 1}::text::${type}`);
      const text = `update "${table.name}" set ${set} where ${where(table, key, cells.length + 1)}`;
      await sql.unsafe(
        text,
        [...cells, ...lists(table, key)].map((cell) => cell.text),
      );
    },
    async remove(table, key) {
      const text = `delete from "${table.name}" where ${where(table, key, 1)}`;
      await sql.unsafe(
        text,
        lists(table, key).map((cell) => cell.text),
      );
    },
    async removeAll(table) {
      await sql.unsafe(`delete from "${table.name}"`);
    },
  };
}

/** Has another program write `items`, held up at row "last" of its statement until what it meets waits as well. */
export async function duringStatement(
  { sql, url }: TestDatabase,
  statement: string,
  meet: (others: SQL) => Promise<unknown>,
): Promise<void> {
  const others = new SQL({ url, max: 3 });
  const waiting = (wanted: number) =>
    pollUntil(`${wanted} that wait`, async () => {
      const [found] = await sql`select count(*)::int4 as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      return found.n >= wanted;
    });
  await others.unsafe(`create function public.hold() returns trigger language plpgsql as $$ begin
      if coalesce(new.k, old.k) = 'last' then perform pg_advisory_xact_lock(1); end if;
      return coalesce(new, old);
    end $$;
    create trigger hold before insert or delete on items for each row execute function public.hold()`);
  const holder = await sql.reserve();
  await holder`select pg_advisory_lock(1)`;
  // Of a deadlock it would be the victim.
  const writing = others.unsafe(`set deadlock_timeout = '1ms'; ${statement}`).execute();
  let meeting: Promise<unknown> | undefined;
  try {
    await waiting(1);
    meeting = meet(others);
    await waiting(2);
  } finally {
    await holder`select pg_advisory_unlock(1)`;
    holder.release();
    await Promise.all([writing, meeting]);
    await others.close();
  }
}

/** Sends a statement, or what stands for it; of `parameters` a script has none. */
export type Send = <T>(
  statement: () => Promise<T>,
  text: string,
  parameters: readonly Parameter[],
) => Promise<T>;

/** A driver of one connection whose statements all go through a function. */
export function watchedDriver(url: string, send: Send): Driver {
  const driver = new BunDriver({ url, tls: false, maxConnections: 1 });
  return {
    async connect() {
      const connection = await driver.connect();
      return {
        query: (text, parameters = []) =>
          send(() => connection.query(text, parameters), text, parameters),
        script: (text) => send(() => connection.script(text), text, []),
        release: (isUsable) => connection.release(isUsable),
      };
    },
    close: () => driver.close(),
  };
}

/** Defines a test with a database of its own. */
export function databaseTest(name: string, body: (database: TestDatabase) => Promise<void>): void {
  test(
    name,
    async () => {
      const database = await makeDatabase();
      try {
        await body(database);
      } finally {
        await database.dispose();
      }
    },
    TEST_TIMEOUT_MS,
  );
}
