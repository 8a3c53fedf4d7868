// A fault that Bun's client had once (oven-sh/bun#33665): of many statements at once some got the columns of others.
import { expect, test } from "bun:test";
import { SQL } from "bun";
import {
  dropPostgresDatabase,
  makePostgresDatabase,
  postgresAvailable,
} from "../../../support/stores/shared-postgres.ts";

const STATEMENTS = 2_400;
const SHAPES = 24;

test.skipIf(!postgresAvailable)(
  "statements of many shapes at once each get their own rows",
  async () => {
    const url = await makePostgresDatabase();
    const sql = new SQL({ url, max: 8 });
    await sql.unsafe("create table items (id int4 primary key, name text not null)");
    await sql.unsafe("insert into items select n, 'item ' || n from generate_series(1, 500) as n");
    let wrong = 0;
    const statement = async (n: number) => {
      const ids = Array.from({ length: 1 + (n % SHAPES) }, (_, i) => 1 + ((n * 7 + i) % 500));
      const places = ids.map((_, i) => `$${i + 1}`).join(", ");
      const text = `select id, name from items where id in (${places}) order by id`;
      const rows = await sql.unsafe(text, ids).values();
      const expected = ids.toSorted((a, b) => a - b).map((id) => [id, `item ${id}`]);
      if (JSON.stringify(rows) !== JSON.stringify(expected)) wrong++;
    };
    await Promise.all(Array.from({ length: STATEMENTS }, (_, n) => statement(n)));
    expect(wrong).toBe(0);
    await sql.close();
    await dropPostgresDatabase(url);
  },
  120_000,
);
