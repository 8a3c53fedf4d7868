// Deleting rows, and taking deletes back, by the command line beside running services. D-7.6.
import { describe, expect, test } from "bun:test";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import { startInTerminal } from "./support/cli-process.ts";
import { fill, NOTES, namesOf, startPair } from "./support/running-pair.ts";

const WITH_DELETES: TableEntry = { ...NOTES, deletes: true };
const BY_TWO: TableEntry = {
  ...WITH_DELETES,
  upsert_key: ["name", "n"],
  columns: { ...NOTES.columns, n: { type: "integer" } },
};

describe("repsync delete", () => {
  test("D-7.6.6 deletes a row here, and the next run deletes it at the remote, exit code 0", async () => {
    const { local, remote, cli } = await startPair({ local: WITH_DELETES, remote: WITH_DELETES });
    await fill(local, ["a", "b", "c"]);
    await cli("sync both");
    expect(await cli("delete notes b")).toMatchObject({
      ...{ code: 0, stdout: 'Deleted {"name":"b"} of notes\n', stderr: "" },
    });
    expect(await namesOf(local)).toEqual(["a", "c"]);
    expect(await namesOf(remote)).toEqual(["a", "b", "c"]);
    const run = await cli("sync both --json");
    expect(run.json).toMatchObject({ status: "success", deleted_here: 0, deleted_there: 1 });
    expect(await namesOf(remote)).toEqual(["a", "c"]);
    const json = await cli("delete notes c --json");
    expect(json.json).toEqual({ table: "notes", key: { name: "c" }, status: "deleted" });
    const { stdout } = await cli("sync both");
    expect(stdout).toMatch(/^notes: 0 pushed, 1 pulled, 0 changed, 1 deleted there, [^\n]*\nRun /);
  });

  test("D-7.6.6 takes a key of several columns, of their types", async () => {
    const { local, cli } = await startPair({ local: BY_TWO });
    const records = [1, 2].map((n) => ({ name: "x", n, body: "x" }));
    expect((await local.push("notes", { records })).status).toBe(200);
    const wrong = await cli("delete notes x");
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toBe('The key of "notes" is (name, n): 2 values, not 1\n');
    expect((await cli("delete notes x y")).code).toBe(1);
    expect((await local.records("notes")).length).toBe(2);
    expect((await cli("delete notes x 02")).stdout).toBe('Deleted {"name":"x","n":2} of notes\n');
    expect((await local.records("notes")).map(({ n }) => n)).toEqual([1]);
  });

  test("D-7.6.6 says what is wrong: no such row 1, a table without deletes or an unknown one 2", async () => {
    const { local, cli } = await startPair();
    await fill(local, ["a"]);
    const off = await cli("delete notes a");
    expect(off).toMatchObject({ code: 2, stdout: "" });
    expect(off.stderr).toContain('Deletes of "notes" are not recorded\nSet "deletes": true');
    expect((await cli("delete nothing a")).code).toBe(2);
    expect((await cli("deletes drop notes")).code).toBe(2);
    const on = await startPair({ local: WITH_DELETES });
    const unknown = await on.cli("delete notes a --json");
    expect(unknown.code).toBe(1);
    expect(unknown.json).toEqual({ error: 'Table "notes" has no row with this key' });
  });
});

describe("repsync deletes drop", () => {
  test("D-7.6.6 takes back deletes that were never sent, and the next run fetches the rows again", async () => {
    const { local, remote, cli } = await startPair({ local: WITH_DELETES, remote: WITH_DELETES });
    await fill(local, ["a", "b", "c"]);
    await cli("sync both");
    for (const name of ["a", "b"]) await cli(`delete notes ${name}`);
    const held = await cli("sync both --json --max-deletes 1");
    expect(held.code).toBe(1);
    expect(held.json.error).toContain(
      '2 rows of "notes" would be deleted there, at most 1 may be; none was; if that is right, allow them with --max-deletes 2',
    );
    expect(await cli("deletes drop notes")).toMatchObject({
      ...{ code: 0, stderr: "" },
      stdout: "notes: 2 deletes dropped; the next pull fetches those rows again\n",
    });
    expect((await cli("sync both")).code).toBe(0);
    expect(await namesOf(local)).toEqual(["a", "b", "c"]);
    expect(await namesOf(remote)).toEqual(["a", "b", "c"]);
    expect((await cli("deletes drop notes --json")).json).toEqual({ table: "notes", dropped: 0 });
    expect((await cli("deletes drop notes")).stdout).toBe(
      "notes: 0 deletes dropped; all of them were sent\n",
    );
  });
});

test("D-7.6 on a terminal compare asks before it removes rows, and removes none without a yes", async () => {
  const { local, remote, folder, env } = await startPair({
    local: WITH_DELETES,
    remote: WITH_DELETES,
  });
  await fill(local, ["a", "b"]);
  await fill(remote, ["b", "c"]);
  const repair = async (way: string, where: string, answer: string) => {
    const args = ["compare", "notes", "--repair", way, "--delete"];
    const terminal = startInTerminal(args, { folder, env: { ...env, LOG_LEVEL: "" } });
    await terminal.waitFor(`Remove rows ${where} that the other end lacks? [yes/no] `);
    terminal.type(`${answer}\r`);
    return [await terminal.exited, terminal.shown().includes("Nothing was compared or removed")];
  };
  expect(await repair("pull", "here", "no")).toEqual([1, true]);
  expect([await namesOf(local), await namesOf(remote)]).toEqual([
    ["a", "b"],
    ["b", "c"],
  ]);
  expect(await repair("push", "at the remote", "yes")).toEqual([0, false]);
  expect([await namesOf(local), await namesOf(remote)]).toEqual([
    ["a", "b"],
    ["a", "b"],
  ]);
});
