// A fault that Bun's client had once: a statement whose parameters changed their types was answered by what was prepared first.
import { expect, test } from "bun:test";
import { SQL } from "bun";
import {
  dropPostgresDatabase,
  makePostgresDatabase,
  postgresAvailable,
} from "../../../support/stores/shared-postgres.ts";

const STATEMENTS = 400;
const VALUES: readonly (string | number | boolean | null)[] = [
  "5",
  5,
  true,
  null,
  2.5,
  "",
  -1,
  false,
];

test.skipIf(!postgresAvailable)(
  "a parameter may be of another type each time, and what fails leaves the connection usable",
  async () => {
    const url = await makePostgresDatabase();
    const sql = new SQL({ url, max: 1 });
    const connection = await sql.reserve();
    let wrong = 0;
    for (let n = 0; n < STATEMENTS; n++) {
      const value = VALUES[n % VALUES.length] ?? null;
      const asked = connection.unsafe("select $1::text", [value === null ? null : String(value)]);
      const [[text] = []] = await asked.values();
      if (text !== (value === null ? null : String(value))) wrong++;
      const casts = connection.unsafe("select $1::int4 + $2::int4", [n, value]).values();
      const sum = await casts.then(
        ([[found] = []]) => found,
        () => "refused",
      );
      const known =
        value === null
          ? null
          : Number.isInteger(Number(value)) && value !== ""
            ? n + Number(value)
            : null;
      const isRight = sum === "refused" || (known === null ? true : sum === known);
      if (!isRight) wrong++;
    }
    expect(wrong).toBe(0);
    expect((await connection.unsafe("select 1 as one"))[0]).toEqual({ one: 1 });
    connection.release();
    await sql.close();
    await dropPostgresDatabase(url);
  },
  120_000,
);
