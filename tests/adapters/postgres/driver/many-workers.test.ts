// A fault that Bun's client had once (oven-sh/bun#32004, #33985): a pool with many who wait stood still.
import { expect, test } from "bun:test";
import { SQL } from "bun";
import {
  dropPostgresDatabase,
  makePostgresDatabase,
  postgresAvailable,
} from "../../../support/stores/shared-postgres.ts";

const WORKERS = 200;
const ROUNDS = 20;

test.skipIf(!postgresAvailable)(
  "many workers on few connections, awaited at the end, all come to their end",
  async () => {
    const url = await makePostgresDatabase();
    const sql = new SQL({ url, max: 5 });
    await sql.unsafe("create table notes (worker int4, round int4, primary key (worker, round))");
    const worker = async (n: number) => {
      for (let round = 0; round < ROUNDS; round++) {
        await sql.unsafe("insert into notes values ($1, $2)", [n, round]);
        const count = "select count(*)::int4 from notes where worker = $1";
        const [[found] = []] = await sql.unsafe(count, [n]).values();
        if (found !== round + 1) throw new Error(`${found} notes after ${round + 1}`);
      }
    };
    const outcomes = await Promise.allSettled(Array.from({ length: WORKERS }, (_, n) => worker(n)));
    expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
    const [[all] = []] = await sql.unsafe("select count(*)::int4 from notes").values();
    expect(all).toBe(WORKERS * ROUNDS);
    await sql.close();
    await dropPostgresDatabase(url);
  },
  120_000,
);
