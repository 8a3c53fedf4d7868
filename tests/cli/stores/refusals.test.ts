// What backup and restore refuse: nothing is written then.
import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readFacts, writeFact } from "../../http/stores/support/raw-store.ts";
import { onEveryBackend, SQLITE_FILE } from "../../http/support/backends.ts";
import { startApp } from "../../http/support/sync-app.ts";
import { withStore } from "../../support/stores/with-store.ts";
import { BODY, makeBackup, NOTE } from "./support/make-backup.ts";

setDefaultTimeout(180_000);

const PEPPER = "a pepper of more than thirty-two bytes";
const OTHER_PEPPER = "another pepper of more than thirty-two bytes";

onEveryBackend("what backup refuses", (backend) => {
  test("D-10.7 a file that is there is replaced with --force only, and the store itself never", async () => {
    const { folder, url, file, cli } = await makeBackup(backend);
    const before = readFileSync(file);
    const refused = await cli(url, ["backup", file]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      `"${file}" is there already\nSay --force to replace it\n`,
    ]);
    expect(readFileSync(file).equals(before)).toBe(true);
    expect((await cli(url, ["backup", file, "--force"])).code).toBe(0);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await cli(url, ["backup", folder, "--force"])).code).toBe(2);
    const nowhere = await cli(url, ["backup", join(folder, "none", "x")]);
    expect([nowhere.code, nowhere.stderr]).toEqual([
      1,
      `"${join(folder, "none", "x")}" cannot be written: there is no such file or folder\n`,
    ]);
    if (url.startsWith("sqlite:")) {
      const none = await cli("sqlite:./none/x.db", ["backup", join(folder, "none.backup")]);
      expect([none.code, none.stderr]).toMatchObject([
        2,
        expect.stringMatching(/^There is no store/),
      ]);
      const store = await cli(url, ["backup", url.slice("sqlite:".length), "--force"]);
      expect([store.code, store.stderr]).toMatchObject([
        2,
        expect.stringContaining("the store itself"),
      ]);
    }
    expect(readdirSync(folder).filter((name) => name.includes("part"))).toEqual([]);
  });
});

onEveryBackend("what restore refuses", (backend) => {
  test("D-10.7 a store that is not empty, or that a running service holds", async () => {
    const { url, file, cli, settings } = await makeBackup(backend);
    const full = await cli(url, ["restore", file]);
    expect([full.code, full.stderr]).toEqual([
      2,
      'The store to be filled is not empty: table "notes" has rows\nName an empty one as STORAGE_URL\n',
    ]);
    const other = await backend.makeUrl();
    const service = await startApp({
      env: { ...settings, STORAGE_URL: other, LOG_LEVEL: "silent" },
    });
    const held = await cli(other, ["restore", file]);
    expect([held.code, held.stderr]).toMatchObject([2, expect.stringContaining("holds the store")]);
    // It goes on as if nothing had been.
    expect((await service.push("notes", NOTE)).status).toBe(200);
    await service.stop();
    const withAccount = await backend.makeUrl();
    expect((await cli(withAccount, ["admin", "create", "eve"], {}, "correct horse\n")).code).toBe(
      0,
    );
    const taken = await cli(withAccount, ["restore", file]);
    expect([taken.code, taken.stderr]).toEqual([
      2,
      "The store to be filled is not empty: it has accounts\nName an empty one as STORAGE_URL\n",
    ]);
  });

  test("D-10.7 files that are missing, foreign, damaged, cut short or of a later program", async () => {
    const { folder, file, cli, rows } = await makeBackup(backend);
    const store = await backend.makeUrl();
    const whole = readFileSync(file);
    const path = (name: string) => join(folder, name);
    writeFileSync(path("foreign"), "something else");
    writeFileSync(path("empty"), "");
    writeFileSync(path("cut"), whole.subarray(0, whole.length - 700));
    writeFileSync(path("half"), whole.subarray(0, whole.length >> 1));
    writeFileSync(path("head"), whole.subarray(0, 17));
    const flipped = Buffer.from(whole);
    const at = backend === SQLITE_FILE ? whole.indexOf(BODY) : whole.length >> 1;
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    writeFileSync(path("flipped"), flipped);
    const database = new Database(path("database"));
    database.run("CREATE TABLE t (x)");
    database.close();
    const foreign = await cli(store, ["restore", path("database")]);
    expect(foreign.stderr).toStartWith(
      "The file is a SQLite database and no backup of repsync: to take over a store, use repsync move",
    );
    const expected = {
      database: 2,
      missing: 2,
      "foreign/x": 2,
      foreign: 2,
      empty: 2,
      cut: 1,
      half: 1,
      head: 1,
      flipped: 1,
      ".": 2,
    };
    for (const [name, code] of Object.entries(expected)) {
      const refused = await cli(store, ["restore", path(name)]);
      expect([name, refused.code, refused.stdout]).toEqual([name, code, ""]);
      expect(refused.stderr).toMatch(/^[A-Z"].*[^.]\n$/);
      if (name !== "half") continue;
      expect(refused.stderr).toMatch(
        /^The backup (?:cannot be read: the file is|is) damaged(?:: .*)?\n$/,
      );
    }
    for (const [format, told] of [
      [1, "The backup has format 1, which repsync 0.1.0 is the last to read\nRestore it with"],
      [3, "A later version of repsync made the backup\nRestore it with"],
    ] as const) {
      writeFileSync(path("other"), `repsync backup ${format}\n`);
      const refused = await cli(store, ["restore", path("other")]);
      expect([refused.code, refused.stderr]).toMatchObject([2, expect.stringContaining(told)]);
    }
    expect(await rows(store)).toBe(0);
    expect((await cli(store, ["restore", file])).code).toBe(0);
    expect(await rows(store)).toBe(1);
  });

  test("D-10.7 a pepper that does not fit", async () => {
    const { file, cli, rows } = await makeBackup(backend, { API_KEY_PEPPER: PEPPER });
    const store = await backend.makeUrl();
    const none = await cli(store, ["restore", file], { API_KEY_PEPPER: "" });
    expect([none.code, none.stderr]).toMatchObject([
      2,
      expect.stringMatching(/^API_KEY_PEPPER is missing, /),
    ]);
    const wrong = await cli(store, ["restore", file], { API_KEY_PEPPER: OTHER_PEPPER });
    expect([wrong.code, wrong.stderr]).toMatchObject([
      2,
      expect.stringMatching(/^API_KEY_PEPPER does not fit the backup\nSet API_KEY_PEPPER /),
    ]);
    expect((await cli(store, ["restore", file])).code).toBe(0);
    expect(await rows(store)).toBe(1);
    expect(await readFacts(store)).not.toHaveProperty("filled_by");
  });

  test("D-10.7 a store that was filled half is taken by no start, and by another restore", async () => {
    const { file, cli, rows } = await makeBackup(backend);
    const store = await backend.makeUrl();
    await withStore(store, async () => {});
    await writeFact(store, "filled_by", "restore");
    const refused = await cli(store, ["status"]);
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect((await cli(store, ["restore", file])).code).toBe(0);
    expect(await rows(store)).toBe(1);
  });
});
