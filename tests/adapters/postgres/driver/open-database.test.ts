// Addresses and servers that are refused, in one line. D-12.2.
import { describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { readAddress } from "../../../../src/adapters/postgres/driver/open-database.ts";
import { openPostgresStorage } from "../../../../src/adapters/postgres/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { hasStore } from "../../../../src/app/stores.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { TableUnderTest } from "../../../contract/tables/table-under-test.ts";
import { MemoryLogger } from "../../../support/memory-logger.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { withRunParts } from "../../../support/run-parts.ts";
import { postgresAvailable } from "../../../support/stores/shared-postgres.ts";
import { startRelay } from "../../../support/tcp-relay.ts";
import { databaseTest as it } from "../support.ts";

const clock = new SystemClock();
const ITEMS = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } });

/** The message of what opening throws. */
async function refusalAt(url: string): Promise<unknown> {
  return await openPostgresStorage({ url, clock }).then(
    async (storage) => await storage.close(),
    ({ kind, message }) => [kind, message],
  );
}

/** What a server answers that takes no connection. */
function refusalOf(state: string): Buffer {
  const fields = ["SFATAL", `C${state}`, "Mno", ""].map((field) => `${field}\0`).join("");
  const head = Buffer.from("E\0\0\0\0");
  head.writeUInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, Buffer.from(fields)]);
}

describe("addresses of PostgreSQL", () => {
  test("D-12.2 schema and sslmode are read, and given to no client", () => {
    const address = "postgresql://u:p%40@h:1/d?schema=app%20one&sslmode=require";
    expect(readAddress(address)).toEqual({
      url: "postgres://u:p%40@h:1/d",
      schema: "app one",
      sslMode: "require",
    });
    const plain = readAddress("postgres://u@h/d");
    expect([plain.schema, plain.sslMode]).toEqual(["public", "prefer"]);
  });

  test("D-12.2 what cannot be used is refused, without its password", () => {
    const refused = {
      "postgres://h": /must be postgres:/,
      "http://h/d": /must be postgres:/,
      "postgres://u:se#cret@h/d": /must be postgres:/,
      "postgres://u:1/2#secret@h/d": /must be postgres:/,
      "postgres://u:secret%@h/d": /write % as %25/,
      "postgres://u:secret@h/d?sslmode=allow": /one of disable, prefer, require, verify-full$/,
      "postgres://u@h/d?secret=1": /takes schema= and sslmode= behind/,
      "postgres://u:secret@h/d?schema=pg_catalog": /no schema of the server's own/,
      "postgres://u:secret@h/d?schema=repsync": /a schema other than repsync/,
    };
    for (const [address, text] of Object.entries(refused)) {
      expect(() => readAddress(address)).toThrow(text);
      expect(() => readAddress(address)).not.toThrow(/secret/);
    }
  });
});

describe.skipIf(!postgresAvailable)("databases of PostgreSQL", () => {
  it("D-12.2 a schema or a database that is not there is named, and nothing is made", async (database) => {
    expect(await refusalAt(`${database.url}?schema=absent`)).toEqual([
      "invalid_request",
      'The database has no schema "absent": create it, or name another one with ?schema=',
    ]);
    const other = new URL(database.url);
    other.pathname = "/absent";
    expect(await refusalAt(other.href)).toEqual([
      "invalid_request",
      "There is no such database on the server",
    ]);
  });

  it("D-10.4, D-12.2 a server that does not answer is named, without the password", async () => {
    expect(await refusalAt("postgres://u:secret@127.0.0.1:1/d?sslmode=disable")).toEqual([
      "store_unavailable",
      "PostgreSQL at 127.0.0.1:1 cannot be reached, or does not answer",
    ]);
  });

  test.each([
    ["server that is starting", "57P03", "PostgreSQL is starting or stopping"],
    ["server that has too many", "53300", "PostgreSQL has no connection left"],
    [
      "pooler that refuses",
      "08P01",
      "A pooler before PostgreSQL refuses to go on: its log says why, and its mode has to be transaction or session",
    ],
  ])("D-12.2 a %s is told as such", async (_, state, text) => {
    const server = Bun.listen({
      ...{ hostname: "127.0.0.1", port: 0 },
      socket: { data: (socket) => void socket.end(refusalOf(state)) },
    });
    try {
      const url = `postgres://u@127.0.0.1:${server.port}/d?sslmode=disable`;
      expect(await refusalAt(url)).toEqual(["store_unavailable", text]);
    } finally {
      server.stop(true);
    }
  });

  it("D-12.2 a server that is still starting is waited for", async (database) => {
    let refused = 0;
    const { promise: twice, resolve } = Promise.withResolvers<void>();
    const starting = Bun.listen({
      ...{ hostname: "127.0.0.1", port: 0 },
      socket: {
        data(socket) {
          socket.end(refusalOf("57P03"));
          if (++refused === 2) resolve();
        },
      },
    });
    const url = new URL(database.url);
    const port = Number(url.port);
    url.port = String(starting.port);
    url.searchParams.set("sslmode", "disable");
    const opening = openPostgresStorage({ url: url.href, clock, logger: new MemoryLogger() });
    await twice;
    starting.stop(true);
    const relay = startRelay(port, Number(url.port));
    await (await opening).close();
    relay.close();
  });

  it("D-12.2 a server without TLS, another encoding and a user without rights are refused", async (database) => {
    expect(await refusalAt(`${database.url}?sslmode=require`)).toEqual([
      "invalid_request",
      "The server offers no TLS, which sslmode=require asks for",
    ]);
    const name = new URL(database.url).pathname.slice(1);
    const url = new URL(database.url);
    url.pathname = `/${name}_latin`;
    const make = `create database ${name}_latin encoding 'LATIN1' locale 'C' template template0`;
    await database.sql.unsafe(make);
    expect(await refusalAt(url.href)).toEqual([
      "invalid_request",
      "The encoding of the database must be UTF8, and this is LATIN1",
    ]);
    await database.sql.unsafe(`drop database ${name}_latin`);
    await database.sql.unsafe(`drop schema repsync cascade; create role ${name} login`);
    const weak = new URL(database.url);
    weak.username = name;
    const refused = await openPostgresStorage({ url: weak.href, clock }).catch((error) => error);
    expect([refused.kind, refused.message, refused.hint]).toEqual([
      "invalid_request",
      `The user of STORAGE_URL lacks a right in PostgreSQL: permission denied for database ${name}`,
      `Let an owner say: grant create on database "${name}" to "${name}"; grant usage, create on schema "public" to "${name}"`,
    ]);
    await database.sql.unsafe(`grant create on database ${name} to ${name}`);
    const lacking = await openPostgresStorage({ url: weak.href, clock, tables: [ITEMS] }).catch(
      (error) => error,
    );
    expect([lacking.kind, lacking.message, lacking.hint]).toEqual([
      "invalid_request",
      "The user of STORAGE_URL lacks a right in PostgreSQL: permission denied for schema public",
      refused.hint,
    ]);
    expect(await database.sql`select to_regnamespace('repsync')`.values()).toEqual([[null]]);
    await database.sql.unsafe(`drop owned by ${name}; drop role ${name}`);
  });

  it("D-12.2 a database whose transactions are read-only is refused at once", async ({
    sql,
    url,
  }) => {
    const name = new URL(url).pathname.slice(1);
    await sql.unsafe(`alter database ${name} set default_transaction_read_only = on`);
    const opening = openPostgresStorage({ url, clock, tables: [ITEMS] });
    await expect(opening).rejects.toMatchObject({
      kind: "invalid_request",
      message:
        "Transactions are read-only here, by default_transaction_read_only: set it to off for the role or the database",
    });
  });

  it("D-11.4.2 the collation of a database of ICU is told as such", async ({ sql, url }) => {
    const other = new URL(url);
    const name = `${other.pathname.slice(1)}_icu`;
    other.pathname = `/${name}`;
    const how = "locale_provider icu icu_locale 'en-US' locale 'C' template template0";
    await sql.unsafe(`create database ${name} ${how}`);
    const icu = new SQL({ url: other.href, max: 1 });
    await icu.unsafe("create table public.items (k text primary key)");
    await icu.close();
    const opening = openPostgresStorage({ url: other.href, clock, tables: [ITEMS] });
    await expect(opening).rejects.toMatchObject({
      message: expect.stringContaining('column "k" has the collation en-US in the database'),
    });
    await sql.unsafe(`drop database ${name} with (force)`);
  });

  it("D-12.4, D-11.4.2 who only looks, and who cannot have its tables, makes nothing", async (database) => {
    await database.sql.unsafe("drop schema repsync cascade; create table items (k text)");
    const isUntouched = async () => {
      const [[schema] = []] = await database.sql
        .unsafe("select to_regnamespace('repsync')::text")
        .values();
      return schema === null;
    };
    expect(await hasStore(database.url)).toBe(false);
    const opening = openPostgresStorage({ url: database.url, clock, tables: [ITEMS] });
    await expect(opening).rejects.toMatchObject({ kind: "schema_conflict" });
    expect(await isUntouched()).toBe(true);
    await database.sql.unsafe("drop table items");
    await (await openPostgresStorage({ url: database.url, clock, tables: [ITEMS] })).close();
    expect(await hasStore(database.url)).toBe(true);
  });

  it("D-12.3 a store is opened while other programs write, and waits for none of them", async (database) => {
    await (await database.open()).tables.prepare([ITEMS]);
    await database.sql.begin(async (tx) => {
      await tx.unsafe("insert into public.items (k) values ('a')");
      await (await database.open()).tables.prepare([ITEMS]);
    });
  });

  it("D-11.4.1 what holds a table that a start is to change is named", async (database) => {
    await (await database.open()).tables.prepare([ITEMS]);
    const wider = makeTable({
      ...ITEMS.entry,
      columns: { ...ITEMS.entry.columns, more: { type: "text" } },
    });
    await database.sql.begin(async (tx) => {
      const [{ pid }] = await tx`select pg_backend_pid() as pid`;
      await tx.unsafe("insert into public.items (k) values ('a')");
      const preparing = (await database.open()).tables.prepare([wider]);
      await expect(preparing).rejects.toMatchObject({
        ...{ kind: "store_unavailable" },
        message: `Transactions of other programs hold what PostgreSQL is to change: process ${pid} (items)`,
      });
    });
  });

  it("D-12.2 tables stand in the schema of the address", async (database) => {
    await database.sql.unsafe('create schema "App One"');
    const url = `${database.url}?schema=${encodeURIComponent("App One")}`;
    const storage = await openPostgresStorage({ url, clock });
    const table = await TableUnderTest.prepare(withRunParts(storage), ITEMS);
    await storage.documents.prepare(COLLECTIONS);
    await table.write({ k: "a" });
    expect(await table.rows()).toEqual([{ k: "a" }]);
    const [[rows] = []] = await database.sql
      .unsafe('select count(*)::int4 from "App One".items')
      .values();
    expect(rows).toBe(1);
    await storage.close();
  });
});
