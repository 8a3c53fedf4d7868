// A table without a timestamp column on the command line: who is told that it has no owner, and what an owner changes.
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import { serviceEnv } from "../e2e/support/service-process.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { runCli } from "./support/run-cli.ts";
import { fill, namesOf, startPair } from "./support/running-pair.ts";

const TIMELESS: TableEntry = {
  upsert_key: ["name"],
  columns: { name: { type: "text" }, body: { type: "text" } },
};
const PULLED: TableEntry = { ...TIMELESS, direction: "pull" };
const PUSHED: TableEntry = { ...TIMELESS, direction: "push" };

describe("a table without a timestamp column", () => {
  test("D-11.9 without an owner sync both fails and changes nothing; push and pull go on", async () => {
    const { cli, local, remote } = await startPair({ local: TIMELESS, remote: TIMELESS });
    await fill(local, ["mine"]);
    await fill(remote, ["theirs"]);
    const both = await cli("sync both");
    expect(both.code).toBe(1);
    expect(both.stderr).toContain('"notes"; run push or pull, name the owner by "direction"');
    expect([await namesOf(local), await namesOf(remote)]).toEqual([["mine"], ["theirs"]]);
    expect((await cli("sync pull notes")).code).toBe(0);
    expect(await namesOf(local)).toEqual(["mine", "theirs"]);
  });

  test("D-11.9 with an owner a run the other way fails by name, unless forced, and is a warning among all tables", async () => {
    const { cli, local, remote } = await startPair({ local: PULLED, remote: PUSHED });
    await fill(remote, ["theirs"]);
    expect((await cli("sync both")).code).toBe(0);
    expect(await namesOf(local)).toEqual(["theirs"]);
    await fill(local, ["mine"]);
    const named = await cli("sync push notes");
    expect(named.code).toBe(1);
    expect(named.stderr).toContain('The remote owns the rows ("direction": "pull")');
    const all = await cli("sync push");
    expect(all.code).toBe(0);
    expect(`${all.stdout}${all.stderr}`).toContain("so a push leaves out");
    expect(await namesOf(remote)).toEqual(["theirs"]);
    expect((await cli("sync push notes --force")).code).toBe(0);
    expect(await namesOf(remote)).toEqual(["mine", "theirs"]);
  });

  test("D-11.9.3 an import at the end that does not own the table is exit code 2, unless forced", async () => {
    const folder = makeTempFolder();
    const env = serviceEnv(folder, { notes: PULLED });
    writeFileSync(join(folder, "notes.csv"), "name,body\na,1\n");
    const cli = (...args: string[]) =>
      runCli(["import", "notes", "notes.csv", ...args], { folder, env });
    for (const args of [[], ["--dry-run"]]) {
      const refused = await cli(...args);
      expect([refused.code, refused.stdout]).toEqual([2, ""]);
      expect(refused.stderr).toBe(
        'The rows of "notes" are written at the remote ("direction": "pull" in the registry)\nImport there, or with --force here\n',
      );
    }
    expect(await cli("--force", "--json")).toMatchObject({ code: 0, json: { written: 1 } });
    const owner = { folder, env: serviceEnv(folder, { notes: PUSHED }) };
    expect((await runCli(["import", "notes", "notes.csv"], owner)).code).toBe(0);
  });

  test("D-11.9.3 nor is a row deleted there by a command, unless forced", async () => {
    const folder = makeTempFolder();
    const entry: TableEntry = {
      ...{ timestamp_column: "at", upsert_key: ["name"], deletes: true, direction: "pull" },
      columns: { name: { type: "text" }, at: { type: "datetime" } },
    };
    const env = serviceEnv(folder, { notes: entry });
    writeFileSync(join(folder, "notes.csv"), "name,at\na,2026-01-01T00:00:00Z\n");
    const cli = (...args: readonly string[]) => runCli(args, { folder, env });
    await cli("import", "notes", "notes.csv", "--force");
    expect(await cli("delete", "notes", "a")).toMatchObject({
      code: 2,
      stderr:
        'The rows of "notes" are written at the remote ("direction": "pull" in the registry)\nDelete it there, or here with --force: runs do not send it\n',
    });
    expect((await cli("delete", "notes", "a", "--force")).code).toBe(0);
  });

  test("D-11.9.3 doctor names the tables without an owner where there is a remote, and ends that both say the same", async () => {
    const { cli, remote } = await startPair({ local: TIMELESS, remote: PUSHED });
    const told = await cli("doctor");
    expect(told.stdout).toContain(
      '\nwarn  owners: without a timestamp column and an owner: notes. Name the owner by "direction" in the registry, or let repsync keep a time (repsync tables stamp)',
    );
    expect(told.code).toBe(0);
    expect((await cli("doctor", { SYNC_REMOTE_URL: "" })).stdout).not.toContain("owners");
    const same = await startPair({ local: PUSHED, remote: PUSHED });
    const lines = (await same.cli("doctor")).stdout;
    expect(lines).toContain("\nok    owners: every table has a timestamp column or an owner\n");
    expect(lines).toContain(
      'warn  remote registry: notes: Both ends have "direction": "push" for "notes"',
    );
    expect(remote.url).toStartWith("http");
  });

  test("D-11.9.3 tables check names them where there is a remote", async () => {
    const folder = makeTempFolder();
    const tables = { old: TIMELESS, pulled: PULLED };
    writeFileSync(join(folder, "tables.json"), JSON.stringify({ tables }));
    const check = (env: Readonly<Record<string, string>>) =>
      runCli(["tables", "check", "tables.json"], { folder, env });
    expect(await check({})).toMatchObject({ code: 0, stderr: "" });
    expect(await check({ SYNC_REMOTE_URL: "http://127.0.0.1:1" })).toMatchObject({
      code: 0,
      stderr: 'Without a timestamp column and an owner: old; name the owner by "direction"\n',
    });
  });

  test("D-11.9.3 infer says that it is to be written at one end only", async () => {
    const folder = makeTempFolder();
    writeFileSync(join(folder, "airports.csv"), "code,city\n00M,Bay Springs\n00R,Livingston\n");
    const args = ["tables", "infer", "airports.csv", "--timestamp", "none"];
    const { code, stderr } = await runCli(args, { folder });
    expect(code).toBe(0);
    expect(stderr).toContain(
      "timestamp column: none; every run moves all rows, as you asked for none. ",
    );
    expect(stderr).toContain('so it is to be written at one end only: "direction" names it\n');
  });
});
