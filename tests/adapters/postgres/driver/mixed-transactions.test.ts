// A fault that Bun's client had once (oven-sh/bun#30494): statements of a pool got answers of transactions beside them.
import { expect, test } from "bun:test";
import { SQL } from "bun";
import {
  dropPostgresDatabase,
  makePostgresDatabase,
  postgresAvailable,
} from "../../../support/stores/shared-postgres.ts";

const TRANSACTIONS = 1_500;

test.skipIf(!postgresAvailable)(
  "transactions on reserved connections and statements beside them each get their own answers",
  async () => {
    const url = await makePostgresDatabase();
    const sql = new SQL({ url, max: 10 });
    await sql.unsafe("create table counters (n int4 primary key, value int8 not null)");
    await sql.unsafe("insert into counters select n, 0 from generate_series(0, 49) as n");
    let wrong = 0;
    const transaction = async (n: number) => {
      const connection = await sql.reserve();
      await connection.unsafe("begin").simple();
      const text = "update counters set value = value + 1 where n = $1 returning n, $2::text";
      const [[slot, own] = []] = await connection.unsafe(text, [n % 50, `own ${n}`]).values();
      if (slot !== n % 50 || own !== `own ${n}`) wrong++;
      await connection.unsafe("commit").simple();
      connection.release();
    };
    const statement = async (n: number) => {
      const [[own] = []] = await sql.unsafe("select $1::text", [`beside ${n}`]).values();
      if (own !== `beside ${n}`) wrong++;
    };
    const work = Array.from({ length: TRANSACTIONS }, (_, n) => [transaction(n), statement(n)]);
    await Promise.all(work.flat());
    const [[sum] = []] = await sql.unsafe("select sum(value)::int4 from counters").values();
    expect([sum, wrong]).toEqual([TRANSACTIONS, 0]);
    await sql.close();
    await dropPostgresDatabase(url);
  },
  120_000,
);
