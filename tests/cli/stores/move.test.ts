// A deployment in use is moved from a file to a replica set, and back.
import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { MongoClient } from "mongodb";
import { serviceEnv } from "../../e2e/support/service-process.ts";
import { ADMIN_ENV, PASSWORD } from "../../http/reputation/people.ts";
import { readFacts, writeFact } from "../../http/stores/support/raw-store.ts";
import {
  type Backend,
  MONGODB,
  onBackends,
  onEveryBackend,
  POSTGRESQL,
  SQLITE_FILE,
} from "../../http/support/backends.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { startInTerminal } from "../support/cli-process.ts";
import { runCli } from "../support/run-cli.ts";
import { expectFilled, keepWaiting, ownedDocuments } from "./support/owned-documents.ts";
import { lookUp, shownBy, useDeployment } from "./support/used-deployment.ts";

setDefaultTimeout(240_000);

/** To a store of another kind, on to one of the same kind, and back. */
async function moveAround(backends: readonly Backend[]): Promise<void> {
  const [first, ...others] = await Promise.all(backends.map((backend) => backend.makeUrl()));
  const url = first ?? "";
  const { app, key, restart, cli } = await useDeployment(url);
  const before = await shownBy(app);
  const { token } = app.admin;
  const { deployment_id } = await readFacts(url);
  await app.stop();
  await keepWaiting(url);
  const owned = await ownedDocuments(url);
  expectFilled(owned);
  let from = url;
  for (const to of others) {
    const moved = await cli(from, ["move", to, "--json"]);
    expect([moved.code, moved.stderr]).toEqual([0, ""]);
    expect(moved.json).toMatchObject({ table_count: 5, accounts: 4 });
    const verified = await cli(to, ["audit", "verify", "--json"]);
    expect(verified.json).toMatchObject({ status: "whole", problem: null });
    expect(await ownedDocuments(to)).toEqual(owned);
    from = to;
  }
  // The old store is as it was.
  expect(await readFacts(url)).toMatchObject({ deployment_id: String(deployment_id) });
  const again = await restart(from);
  // It is the same deployment: whoever was signed in still is.
  expect((await readFacts(from))["deployment_id"]).toBe(String(deployment_id));
  const authorization = { Authorization: `Bearer ${token}` };
  expect((await again.send("/v1/me", { headers: authorization })).status).toBe(200);
  expect(await shownBy(again)).toEqual(before);
  expect(await lookUp(again, key, "ana")).toEqual([200, null]);
  const { json } = await again.trigger({ table: "versions" });
  expect(json["tables"]).toMatchObject({ versions: { pushed: 0, pulled: 1, deleted_there: 1 } });
  // Numbers go on behind those that were given.
  const { items } = (await again.ask("/runs?limit=2")).json as { items: object[] };
  expect(items).toHaveLength(2);
  await again.stop();
  const verified = await cli(from, ["audit", "verify", "--json"]);
  expect(verified.json).toMatchObject({ status: "whole", problem: null });
}

onBackends([MONGODB], "moves", () => {
  test("D-10.7 everything moves from a file to a replica set, and back", async () => {
    await moveAround([SQLITE_FILE, MONGODB, SQLITE_FILE]);
  });

  test("D-10.7 everything moves from a replica set to a file, and back", async () => {
    await moveAround([MONGODB, SQLITE_FILE, MONGODB]);
  });

  test("D-10.7 everything moves to a store of the same kind", async () => {
    await moveAround([MONGODB, MONGODB]);
  });

  test("D-12.5 a row without a number of its own is named, and nothing moves to another kind of store", async () => {
    const [url, to] = await Promise.all([MONGODB.makeUrl(), SQLITE_FILE.makeUrl()]);
    const columns = {
      id: { type: "integer", auto_increment: true },
      name: { type: "text" },
    } as const;
    const folder = makeTempFolder();
    const env = {
      ...serviceEnv(folder, { lists: { upsert_key: ["name"], columns } }),
      STORAGE_URL: url,
    };
    const file = ["import", "lists", "-", "--format", "csv"];
    expect((await runCli(file, { folder, env, input: "name\nb\n" })).code).toBe(0);
    const client = new MongoClient(url);
    await client.db().collection("lists").insertOne({ name: "a" });
    await client.close();
    const { code, stderr } = await runCli(["move", to], { folder, env });
    expect([code, stderr]).toEqual([
      1,
      'A copy could not have some of the rows as they are:\n- table "lists", row ["a"]: it has no id, and rows of the table are numbered: give it a number of its own\nMend or remove these values, and try again\n',
    ]);
  });

  test("D-10.7 rows that another program left without a whole key are named where two have the same one", async () => {
    const [url, to] = await Promise.all([SQLITE_FILE.makeUrl(), MONGODB.makeUrl()]);
    const columns = { shop: { type: "text" }, sku: { type: "text" } } as const;
    const folder = makeTempFolder();
    const env = {
      ...serviceEnv(folder, { lists: { upsert_key: ["shop", "sku"], columns } }),
      STORAGE_URL: url,
    };
    const file = ["import", "lists", "-", "--format", "csv"];
    expect((await runCli(file, { folder, env, input: "shop,sku\na,1\n" })).code).toBe(0);
    const write = (sql: string) => {
      const tool = new Database(url.slice("sqlite:".length));
      tool.run(sql);
      tool.close();
    };
    write("INSERT INTO lists (shop) VALUES ('a'), ('b'), ('a')");
    const { code, stderr } = await runCli(["move", to], { folder, env });
    expect([code, stderr]).toEqual([
      1,
      'A copy could not have some of the rows as they are:\n- table "lists", row ["a",null]: another row has the same key: complete the keys of both\nMend or remove these values, and try again\n',
    ]);
    write("DELETE FROM lists WHERE rowid = (SELECT max(rowid) FROM lists)");
    const moved = await runCli(["move", to, "--json"], { folder, env });
    expect([moved.code, moved.stderr]).toEqual([0, ""]);
  });
});

onBackends([POSTGRESQL], "moves", () => {
  test.skipIf(!MONGODB.isAvailable)(
    "D-12.5 everything moves between a file, a replica set and PostgreSQL, either way",
    async () => {
      await moveAround([POSTGRESQL, MONGODB, POSTGRESQL, SQLITE_FILE, POSTGRESQL]);
    },
  );
});

test("D-10.7 everything moves from a file to a file", async () => {
  await moveAround([SQLITE_FILE, SQLITE_FILE]);
});

test("D-10.7 an address that is not given comes from standard input, or is asked for without being shown", async () => {
  const folder = makeTempFolder();
  const env = { ...serviceEnv(folder, {}), STORAGE_URL: "sqlite:./old.db" };
  expect((await runCli(["admin", "create", "root"], { folder, env, input: PASSWORD })).code).toBe(
    0,
  );
  for (const input of ["", " \r\n"]) {
    const none = await runCli(["move"], { folder, env, input });
    expect([none.code, none.stderr]).toMatchObject([
      2,
      expect.stringMatching(/^No address was given/),
    ]);
  }
  const moved = await runCli(["move", "--json"], { folder, env, input: " sqlite:./new.db \r\n" });
  expect([moved.code, moved.json]).toMatchObject([0, { accounts: 1 }]);
  expect(readdirSync(folder).filter((name) => /^new/.test(name))).toEqual(["new.db"]);
  const terminal = startInTerminal(["move"], { folder, env });
  await terminal.waitFor("Address of the new store: ");
  terminal.type("sqlite:./newer.db\r");
  expect(await terminal.exited).toBe(0);
  expect(terminal.shown()).not.toContain("newer");
  const listed = await runCli(["accounts", "list", "--json"], {
    folder,
    env: { ...env, STORAGE_URL: "sqlite:./newer.db" },
  });
  expect(listed.json.items).toMatchObject([{ username: "root" }]);
});

onBackends([MONGODB, POSTGRESQL], "a move", (backend) => {
  test("D-10.7 a move is refused to the same store by another address, and loses nothing", async () => {
    const url = await backend.makeUrl();
    const folder = makeTempFolder();
    const env = { ...serviceEnv(folder, {}), STORAGE_URL: url };
    const cli = (args: readonly string[], more = {}) =>
      runCli(args, { folder, env: { ...env, ...more }, input: PASSWORD });
    expect((await cli(["admin", "create", "root"])).code).toBe(0);
    const another = backend === MONGODB ? "appName=other" : "sslmode=prefer";
    const other = `${url}${url.includes("?") ? "&" : "?"}${another}`;
    const { code, stderr } = await cli(["move", other], ADMIN_ENV);
    expect([code, stderr]).toMatchObject([2, expect.stringContaining("holds the store")]);
    const { json } = await cli(["accounts", "list", "--json"]);
    expect(json.items).toMatchObject([{ username: "root" }]);
  });
});

onEveryBackend("a move", (to) => {
  test("D-10.7, D-12.5 a move is refused that would lose something, and leaves the new store as it was", async () => {
    const url = await SQLITE_FILE.makeUrl();
    const { app, cli, restart } = await useDeployment(url);
    const target = await to.makeUrl();
    const held = await cli(url, ["move", target]);
    expect([held.code, held.stderr]).toMatchObject([2, expect.stringContaining("holds the store")]);
    await app.stop();
    const refusals = [
      [["move", "sqlite://x"], /^The new store must be /],
      [["move", url], /^The new address is that of the old store/],
    ] as const;
    for (const [args, text] of refusals) {
      const refused = await cli(url, args);
      expect([refused.code, refused.stderr]).toMatchObject([2, expect.stringMatching(text)]);
    }
    const missing = await cli("sqlite:./none.db", ["move", target]);
    expect([missing.code, missing.stderr]).toMatchObject([
      2,
      expect.stringMatching(/^There is no store/),
    ]);
    if (to.holds === "own types") {
      const change = (sql: string) => {
        using tool = new Database(url.slice("sqlite:".length));
        tool.run(sql);
      };
      change("INSERT INTO samples (a_text) VALUES ('without a key')");
      change("INSERT INTO samples (name) VALUES (printf('%.9000c', 'k'))");
      const odd = await cli(url, ["move", target]);
      const lines = [
        "The new store cannot hold some of the rows:",
        '- table "samples", row ["odd"]: column "an_integer" (integer) cannot hold the text "no number"; column "a_datetime" (datetime) cannot hold the text "soon"',
        '- table "samples", row ["json"]: column "a_text" (text) cannot hold the text "nul \\u0000 in it"',
        '- table "samples", row [null]: column "name" is of the key, and may not be null',
        `- table "samples", row ["${"k".repeat(100)}"]: its key has more than 2000 bytes, for which an index of PostgreSQL may have no room`,
      ];
      expect([odd.code, odd.stderr]).toEqual([1, `${lines.join("\n")}\n`]);
      change("DELETE FROM samples WHERE name IS NULL OR length(name) = 9000");
      const held = await restart(url);
      const plain = { an_integer: null, a_boolean: null, a_datetime: null, a_text: null };
      const records = ["odd", "json"].map((name) => ({ name, required: "r", ...plain }));
      expect((await held.push("samples", { records })).status).toBe(200);
      await held.stop();
    }
    // Tables that are not in the registry any more come along.
    const moved = await cli(url, ["move", target, "--json"], { SYNC_TABLES: "" });
    expect(moved).toMatchObject({ code: 0, json: { table_count: 5 } });
    const full = await cli(url, ["move", target]);
    expect(full).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^The store to be filled is not empty: .*\nName an empty one as the new address\n$/,
      ),
    });
    await writeFact(target, "filled_by", "move");
    await expect(restart(target)).rejects.toThrow("was not filled to its end by repsync move");
  });
});
