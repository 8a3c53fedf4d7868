// Settings that an operator gave the database or the role, each of which changes what PostgreSQL says. D-12.2, D-3.3.
import { describe, expect, test } from "bun:test";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { runCliProcess } from "../../cli/support/cli-process.ts";
import { Person } from "../reputation/people.ts";
import { connectSql, POSTGRESQL } from "../support/backends.ts";
import { SYNC_KEY, startApp } from "../support/sync-app.ts";

const ITEMS: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["k", "day"],
  update_columns: "__all__",
  deletes: true,
  columns: {
    k: { type: "text" },
    day: { type: "date" },
    at: { type: "datetime" },
    r: { type: "real" },
    extra: { type: "json" },
  },
};
/** In the order of pages. */
const ROWS = [
  { k: "b", day: "2024-02-03", at: null, r: null },
  { k: "a", day: "2024-02-03", at: "2024-05-01T10:00:00.123456Z", r: 0.12345678901234566 },
  { k: "c\\'", day: "2024-02-04", at: "2024-05-01T10:00:01Z", r: 1e308 },
].map((row) => ({ ...row, extra: row.r === null ? null : { text: "\\x" } }));
/** A schema whose names stand for those of the server. */
const OTHER_NAMES = `
create schema other;
create function other.clock_timestamp() returns timestamptz language sql as 'select null::timestamptz';
create function other.concat(text, text) returns text language sql as 'select null::text';
create function other.current_setting(text) returns text language sql as 'select null::text';
create function other.hashtextextended(text, int8) returns int8 language sql as 'select null::int8';
create table other.pg_class (oid int); create table other.pg_attribute (oid int);`;

describe.skipIf(!POSTGRESQL.isAvailable)("settings of a database of PostgreSQL", () => {
  test.each([
    ["bytea_output = escape"],
    ["array_nulls = off"],
    ["extra_float_digits = -15"],
    ["quote_all_identifiers = on"],
    ["search_path = other, pg_catalog, public"],
    ["datestyle = 'German, DMY'"],
    ["timezone = 'Asia/Kathmandu'"],
    ["standard_conforming_strings = off"],
    ["default_transaction_isolation = serializable"],
  ])(
    "D-12.2, D-3.3 %s changes nothing",
    async (setting) => {
      const url = await POSTGRESQL.makeUrl();
      const sql = connectSql(url);
      await sql.unsafe(OTHER_NAMES);
      await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set ${setting}`);
      const env = { STORAGE_URL: url };
      const tables = { items: ITEMS };
      await (await startApp({ env, tables })).stop();
      const app = await startApp({ env, tables });
      const pushed = await app.push("items", { records: ROWS });
      expect(pushed.json).toEqual({
        ...{ table: "items", received: 3, upserted: 3, integrity: "no_checksum" },
      });
      expect(await app.records("items")).toEqual(ROWS);
      const other = connectSql(url);
      await other.unsafe("delete from public.items where k operator(pg_catalog.=) 'a'");
      const headers = { "X-Sync-Key": SYNC_KEY };
      const { json } = await app.send("/api/v1/sync/deleted/items", { headers });
      expect(json["items"]).toMatchObject([{ key: { k: "a", day: "2024-02-03" } }]);
      const ana = await Person.signUp(app, "ana");
      await ana.consent();
      const cli = await runCliProcess(["status"], { env: { ...env, SYNC_TABLES: app.tablesFile } });
      expect(cli).toMatchObject({ code: 0, stderr: "" });
      const path = "/v1/public/profiles/ana/reputation";
      const key = { "X-API-Key": await ana.issueKey() };
      expect((await app.send(path, { headers: key })).status).toBe(200);
    },
    60_000,
  );
});
