// Imports that say what they will do: a file that holds all rows of its table, and one into an empty table whose rows are at the
// remote. D-14.7.

import { describe, expect, test } from "bun:test";
import { utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TableEntry } from "../../../src/domain/sync/table/registry-schema.ts";
import { serviceEnv } from "../../e2e/support/service-process.ts";
import { onEveryBackend } from "../../http/support/backends.ts";
import { makeTempFolder } from "../../http/support/make-temp-folder.ts";
import { serveLocally } from "../../http/support/serve-locally.ts";
import { startApp } from "../../http/support/sync-app.ts";
import { startInTerminal } from "../support/cli-process.ts";
import { runCli } from "../support/run-cli.ts";

const STOCK: TableEntry = {
  ...{ timestamp_column: "updated_at", upsert_key: ["sku"], stamped: true, deletes: true },
  columns: { sku: { type: "text" }, qty: { type: "integer" }, updated_at: { type: "datetime" } },
};
const IMPORT = ["import", "stock", "week.csv"];
const WHOLE = ["import", "stock", "week.csv", "--whole"];

function makeDeployment(tables: Readonly<Record<string, TableEntry>>, more = {}) {
  const folder = makeTempFolder();
  const env: Readonly<Record<string, string>> = { ...serviceEnv(folder, tables), ...more };
  const file = (text: string) => writeFileSync(join(folder, "week.csv"), text);
  const cli = (...args: string[]) => runCli(args, { folder, env });
  const skus = async () => {
    const { stdout } = await cli("export", "stock", "-", "--format", "ndjson");
    return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).sku]));
  };
  return { folder, env, file, cli, skus };
}

onEveryBackend("import --whole", (backend) => {
  test("D-14.7.1 removes what the file does not have, as deletes that travel; a dry run counts", async () => {
    const remote = await startApp({ tables: { stock: STOCK } });
    const more = { STORAGE_URL: await backend.makeUrl(), SYNC_REMOTE_URL: remote.url };
    const { file, cli, skus } = makeDeployment({ stock: STOCK }, more);
    file("sku,qty\na,1\nb,2\nc,3\n");
    expect((await cli(...WHOLE)).stdout).toBe("stock: 3 rows imported: 3 new; 0 removed\n");
    expect((await cli("sync", "both", "stock")).code).toBe(0);
    file("sku,qty\nb,2\nd,4\n");
    const dry = await cli(...WHOLE, "--dry-run");
    expect(dry.stdout).toBe("stock: 2 rows would be imported: 1 new, 1 same; 2 would be removed\n");
    expect(await skus()).toEqual(["a", "b", "c"]);
    const { json, code } = await cli(...WHOLE, "--json");
    expect([code, json]).toMatchObject([0, { new: 1, same: 1, removed: 2 }]);
    expect(await skus()).toEqual(["b", "d"]);
    expect((await cli("sync", "both", "stock")).code).toBe(0);
    expect((await remote.records("stock")).map(({ sku }) => sku)).toEqual(["b", "d"]);
  });

  test("D-14.7.1 a dry run counts what was deleted since the file was written as the import does", async () => {
    const more = { STORAGE_URL: await backend.makeUrl() };
    const { folder, file, cli, skus } = makeDeployment({ stock: STOCK }, more);
    file("sku,qty\na,1\nb,2\nc,3\n");
    await cli(...WHOLE);
    file("sku,qty\na,1\n");
    await cli(...WHOLE);
    file("sku,qty\na,5\nb,2\nc,3\nd,4\n");
    const past = new Date(Date.now() - 3_600_000);
    utimesSync(join(folder, "week.csv"), past, past);
    const counts = { read: 4, written: 2, new: 1, changed: 1, same: 0, deleted: 2, failed: 0 };
    const restored = { ...counts, written: 4, new: 3, deleted: 0 };
    const restoring = await cli(...IMPORT, "--restore", "--dry-run", "--json");
    expect(restoring.json).toMatchObject(restored);
    const dry = await cli(...IMPORT, "--dry-run");
    expect(dry.stdout).toBe(
      "stock: 2 rows would be imported: 1 new, 1 changed, 2 deleted since the file was written\n",
    );
    expect((await cli(...IMPORT, "--dry-run", "--json")).json).toMatchObject(counts);
    expect((await cli(...IMPORT, "--json")).json).toMatchObject(counts);
    expect(await skus()).toEqual(["a", "d"]);
  });
});

describe("import", () => {
  test.each<[title: string, text: string, code: number, told: string]>([
    ["a row fails", "sku,qty\nb,2\nd,many\n", 3, "No row was removed, as records failed"],
    ["the file has no records", "sku,qty\n", 0, "No row was removed, as the file has no records"],
    ["a line is damaged", 'sku,qty\nb,2\n"d,4\n', 1, ""],
  ])("D-14.7.1 --whole removes nothing when %s", async (_, text, code, told) => {
    const { file, cli, skus } = makeDeployment({ stock: STOCK });
    file("sku,qty\na,1\nb,2\n");
    await cli("import", "stock", "week.csv");
    file(text);
    const ended = await cli(...WHOLE);
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(told)]);
    expect((await skus()).slice(0, 2)).toEqual(["a", "b"]);
  });

  test("D-14.7.1 --whole removes no more than max_deletes, or --max-deletes, and only where deletes are recorded", async () => {
    const { file, cli, skus } = makeDeployment({ stock: { ...STOCK, max_deletes: 1 } });
    file("sku,qty\na,1\nb,2\nc,3\n");
    await cli("import", "stock", "week.csv");
    file("sku,qty\nc,3\n");
    for (const args of [WHOLE, [...WHOLE, "--dry-run"]]) {
      const refused = await cli(...args);
      expect([refused.code, refused.stderr]).toEqual([
        1,
        '2 rows of "stock" are not in the file, at most 1 may be removed; none was\n' +
          "If that is right, allow them with --max-deletes 2 (max_deletes)\n",
      ]);
    }
    expect(await skus()).toEqual(["a", "b", "c"]);
    expect((await cli(...WHOLE, "--max-deletes", "2")).code).toBe(0);
    expect(await skus()).toEqual(["c"]);
    const { deletes: _, ...kept } = STOCK;
    const other = makeDeployment({ stock: kept });
    other.file("sku,qty\na,1\n");
    const refused = await other.cli(...WHOLE);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('Deletes of "stock" are not recorded'),
    ]);
    expect((await cli(...WHOLE, "--append")).code).toBe(2);
  });

  test("D-14.7.1 --whole asks on a terminal before it removes", async () => {
    const { folder, env, file, cli, skus } = makeDeployment({ stock: STOCK });
    file("sku,qty\na,1\nb,2\n");
    await cli("import", "stock", "week.csv");
    file("sku,qty\nb,2\n");
    for (const [answer, left] of [
      ["no", ["a", "b"]],
      ["yes", ["b"]],
    ] as const) {
      const terminal = startInTerminal(WHOLE, { folder, env });
      await terminal.waitFor('1 row of "stock" not in the file. Remove? [yes/no]');
      terminal.type(`${answer}\r`);
      expect(await terminal.exited).toBe(0);
      expect(await skus()).toEqual([...left]);
    }
  });

  test("D-14.7.2 into an empty stamped table whose remote has rows it says so first, and asks on a terminal", async () => {
    const remote = await startApp({ tables: { stock: STOCK } });
    await remote.push("stock", { records: [{ sku: "a", qty: 1 }] });
    const { folder, env, file, cli, skus } = makeDeployment(
      { stock: STOCK },
      { SYNC_REMOTE_URL: remote.url },
    );
    const says = 'The remote has 1 row of "stock", and this end none';
    file("sku,qty\nb,2\n");
    const terminal = startInTerminal(["import", "stock", "week.csv"], { folder, env });
    await terminal.waitFor(`${says}. Import all the same? [yes/no]`);
    terminal.type("no\r");
    expect(await terminal.exited).toBe(2);
    expect(await skus()).toEqual([]);
    const dry = await cli("import", "stock", "week.csv", "--dry-run");
    const told = `${says}: repsync sync pull stock fetches them, with their times\n`;
    expect([dry.code, dry.stderr]).toEqual([0, told]);
    const first = await cli("import", "stock", "week.csv");
    expect([first.code, first.stderr]).toEqual([0, told]);
    expect((await cli("import", "stock", "week.csv")).stderr).toBe("");
  });

  test("D-14.7.2 a remote that does not answer is waited for 3 s at most", async () => {
    const remote = { SYNC_REMOTE_URL: serveLocally(() => new Promise<Response>(() => {})) };
    const { file, cli } = makeDeployment({ stock: STOCK }, remote);
    file("sku,qty\nb,2\n");
    const began = performance.now();
    const { code, stderr } = await cli("import", "stock", "week.csv");
    expect([code, stderr]).toEqual([0, ""]);
    // The limit of a request is 15 s.
    expect(performance.now() - began).toBeLessThan(12_000);
  });
});
