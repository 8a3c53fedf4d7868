// A new deployment that joins a running one, on the command line: what it reads, what it writes, and what it leaves. D-14.8.

import { describe, expect, test } from "bun:test";
import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readEnvFile } from "../../src/app/environment.ts";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { serveLocally } from "../http/support/serve-locally.ts";
import { SYNC_KEY, startApp } from "../http/support/sync-app.ts";
import { startInTerminal } from "./support/cli-process.ts";
import { runCli } from "./support/run-cli.ts";
import { statusReply } from "./support/running-pair.ts";

const GUESTS: TableEntry = {
  ...{ timestamp_column: "updated_at", upsert_key: ["id"], stamped: true, deletes: true },
  conflict: "newer",
  columns: {
    id: { type: "integer", nullable: false },
    name: { type: "text", max_length: 40 },
    updated_at: { type: "datetime" },
  },
};
const PRICES: TableEntry = {
  ...{ upsert_key: ["sku"], update_columns: ["price"], direction: "push" },
  columns: { sku: { type: "text" }, price: { type: "numeric" }, cost: { type: "numeric" } },
};
const LISTS: TableEntry = {
  upsert_key: ["sku"],
  direction: "push",
  columns: { id: { type: "integer", auto_increment: true }, sku: { type: "text" } },
};
const TABLES = {
  guests: GUESTS,
  lists: LISTS,
  prices: {
    ...PRICES,
    columns: { ...PRICES.columns, cost: { type: "numeric", serialize: false } },
  },
  orders: { ...PRICES, direction: "pull" },
} as const satisfies Readonly<Record<string, TableEntry>>;
const { cost: _, ...SHOWN } = PRICES.columns;

describe("repsync init --join", () => {
  test("D-14.8 writes settings and registry of the other end, directions turned round, and what a run then moves", async () => {
    const remote = await startApp({ tables: TABLES });
    await remote.push("guests", { records: [{ id: 1, name: "Ana" }] });
    const folder = makeTempFolder();
    writeFileSync(join(folder, "key"), `${SYNC_KEY}\n`);
    const args = ["init", "--join", remote.url, "--key-file", "key", "--folder", "branch"];
    const { code, stdout, stderr } = await runCli(args, { folder });
    const branch = join(folder, "branch");
    expect([code, stderr]).toEqual([0, ""]);
    expect(lstatSync(join(branch, ".env")).mode & 0o777).toBe(0o600);
    const { values } = readEnvFile(readFileSync(join(branch, ".env"), "utf8"));
    expect(values).toMatchObject({ SYNC_REMOTE_URL: remote.url, SYNC_REMOTE_KEY: SYNC_KEY });
    expect(values["SYNC_API_KEY"]).toMatch(/^[\w-]{43}$/);
    expect(JSON.parse(readFileSync(join(branch, "tables.json"), "utf8"))).toEqual({
      tables: {
        guests: GUESTS,
        lists: { ...LISTS, direction: "pull" },
        orders: { ...PRICES, direction: "push", columns: PRICES.columns },
        prices: { ...PRICES, direction: "pull", columns: SHOWN },
      },
    });
    expect(stdout).toStartWith(
      `Wrote ${join(branch, "tables.json")}\nWrote ${join(branch, ".env")}\n`,
    );
    expect(stdout).toContain("Tables as there: guests, lists, prices, orders\n");
    expect(stdout).toContain("\nNext: repsync sync both, ");
    expect(stdout).toContain('"serialize": false');
    expect(stdout).toContain("ok    remote: it answers, and sync is enabled there\n");
    expect(stdout).not.toContain(SYNC_KEY);
    const ran = await runCli(["sync", "pull", "guests"], { folder: branch });
    expect(ran.code).toBe(0);
    const rows = await runCli(["export", "guests", "-", "--format", "ndjson"], { folder: branch });
    expect(JSON.parse(rows.stdout)).toMatchObject({ id: 1, name: "Ana" });
  });

  test("D-14.8 the key comes from standard input, or is asked for without being shown", async () => {
    const remote = await startApp({ tables: { guests: GUESTS } });
    const input = `${SYNC_KEY}\n`;
    const { json, code } = await runCli(["init", "--join", remote.url, "--json"], { input });
    expect([code, json.ok, json.tables]).toEqual([0, true, ["guests"]]);
    const terminal = startInTerminal(["init", "--join", remote.url]);
    await terminal.waitFor(`SYNC_API_KEY of ${remote.url}: `);
    terminal.type(`${SYNC_KEY}\r`);
    expect(await terminal.exited).toBe(0);
    expect(terminal.shown()).not.toContain(SYNC_KEY);
    const left = startInTerminal(["init", "--join", remote.url]);
    await left.waitFor(`SYNC_API_KEY of ${remote.url}: `);
    left.type("\u0004");
    expect(await left.exited).toBe(2);
    expect(left.shown()).toContain("No key was given");
  });

  test.each<[title: string, url: () => string | Promise<string>, message: string, code: number]>([
    [
      "a key that is not its own",
      async () => (await startApp({ tables: {}, env: { SYNC_API_KEY: "another" } })).url,
      "Give the SYNC_API_KEY of the remote",
      1,
    ],
    [
      "a deployment whose sync is off",
      async () => (await startApp({ tables: {}, env: { SYNC_ENABLED: "false" } })).url,
      "Set SYNC_ENABLED=true there",
      2,
    ],
    [
      "a server that tells no schemas",
      () => serveLocally(() => statusReply({})),
      "does not say what its tables are like: another program, or an older repsync",
      2,
    ],
    [
      "a server that fails at the second table",
      () => {
        let asked = 0;
        return serveLocally(() =>
          asked++ === 0
            ? statusReply({ tables: ["a", "b"] }, { "X-Sync-Extensions": "schema" })
            : new Response("no", { status: 500 }),
        );
      },
      "Look at the remote's log",
      1,
    ],
    [
      "a page of a website",
      () =>
        serveLocally(() => new Response("<html>", { headers: { "Content-Type": "text/html" } })),
      "Check the address (SYNC_REMOTE_URL): a sync service of version v1 does not answer so",
      1,
    ],
    [
      "nobody",
      () => "http://127.0.0.1:1",
      "Check the address (SYNC_REMOTE_URL), and that the service runs there",
      1,
    ],
    ["no address", () => "shop", "--join is not an absolute URL", 2],
  ])("D-14.8 of %s it writes nothing, and says what to do", async (_, url, message, code) => {
    const folder = makeTempFolder();
    const ended = await runCli(["init", "--join", await url(), "--folder", "new"], {
      ...{ folder, input: SYNC_KEY },
    });
    expect(ended.stderr).toContain(message);
    expect([ended.code, ended.stdout, readdirSync(folder)]).toEqual([code, "", []]);
  });

  test("D-14.8 files that are there are refused before anything is asked", async () => {
    for (const name of [".env", "tables.json"]) {
      const folder = makeTempFolder();
      writeFileSync(join(folder, name), "# mine\n");
      const args = ["init", "--join", "http://127.0.0.1:1", "--key-file", "none"];
      const { code, stderr } = await runCli(args, { folder });
      expect([code, stderr.includes("is there already"), readdirSync(folder)]).toEqual([
        ...[2, true, [name]],
      ]);
    }
    expect((await runCli(["init", "--key-file", "key"])).code).toBe(2);
    const folder = makeTempFolder();
    writeFileSync(join(folder, "key"), "\n");
    const args = ["init", "--join", "http://127.0.0.1:1", "--key-file", "key"];
    expect(await runCli(args, { folder })).toMatchObject({
      code: 2,
      stderr: '"key" holds no key\n',
    });
  });

  test("D-14.8 beside a deployment on this machine it gets a port and a cookie of its own", async () => {
    const { starterSettings } = await import("../../src/cli/commands/operation/init.ts");
    const of = (url: string, key = "k") => readEnvFile(starterSettings({ url, key })).values;
    expect(of("http://127.0.0.1:3000")).toMatchObject({
      ...{ PORT: "3001", SESSION_COOKIE: "repsync_session_3001" },
    });
    expect(of("http://localhost:3001")).toMatchObject({ PORT: "3000" });
    expect(of("https://shop.example")).not.toHaveProperty("PORT");
    for (const key of ["a b#c", "it's # so", `"'x`, "a'\"`b"]) {
      expect(of("https://shop.example", key)["SYNC_REMOTE_KEY"]).toBe(key);
    }
  });
});
