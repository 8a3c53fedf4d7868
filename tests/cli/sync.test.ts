// Runs between two running services, started by the command line on the store of one of them.

import { describe, expect, test } from "bun:test";
import type { TableEntry } from "../../src/domain/sync/table/registry-schema.ts";
import { BUN, CLI, serviceEnv, startProcess } from "../e2e/support/service-process.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { serveLocally } from "../http/support/serve-locally.ts";
import { pollUntil } from "../support/time/poll-until.ts";
import { startInTerminal } from "./support/cli-process.ts";
import { runCli } from "./support/run-cli.ts";
import {
  AT,
  fill,
  NOTES,
  namesOf,
  SHORT_NOTES,
  startPair,
  statusReply,
} from "./support/running-pair.ts";

describe("repsync sync", () => {
  test("D-4.12 push, pull and both move rows between running services, exit code 0", async () => {
    const { local, remote, cli } = await startPair();
    await fill(local, ["a", "b"]);
    const pushed = await cli("sync push notes");
    expect(pushed).toMatchObject({ code: 0, stderr: "" });
    expect(pushed.stdout).toMatch(
      /^notes: 2 pushed, 0 pulled, 2 changed, \d+ of \d+ bytes, \d+\.\d s\nRun [\w-]{36}: success, 2 pushed, 0 pulled, \d+ changed, \d+\.\d s\n$/,
    );
    expect(await namesOf(remote)).toEqual(["a", "b"]);

    await fill(remote, ["c"]);
    const pulled = await cli("sync pull notes --json");
    expect(pulled).toMatchObject({ code: 0, stderr: "" });
    expect(pulled.json).toMatchObject({
      ...{ status: "success", trigger: "cli", direction: "pull", full_sync: false },
      ...{ total_pushed: 0, total_pulled: 3, error_count: 0 },
      tables: { notes: { pushed: 0, pulled: 3, error_count: 0 } },
    });
    expect(await namesOf(local)).toEqual(["a", "b", "c"]);

    await fill(local, ["d"]);
    await fill(remote, ["e"]);
    const both = await cli("sync both --json --full");
    expect(both.json).toMatchObject({ status: "success", full_sync: true });
    expect(Object.keys(both.json.tables)).toEqual(["profiles", "platform_accounts", "notes"]);
    expect(await namesOf(local)).toEqual(["a", "b", "c", "d", "e"]);
    expect(await namesOf(remote)).toEqual(["a", "b", "c", "d", "e"]);

    const runs = await cli("runs --json --limit 2");
    expect(runs.json.items.map((run: { direction: string }) => run.direction)).toEqual([
      "both",
      "pull",
    ]);
    expect(runs.json.next_cursor).toBe(pulled.json.run_id);
    const more = await cli(`runs --json --cursor ${runs.json.next_cursor}`);
    expect(more.json.items).toHaveLength(1);
    const one = await cli(`runs ${pulled.json.run_id}`);
    expect(one.stdout).toMatch(/^ {2}notes: 0 pushed, 3 pulled, \d+ changed, 0 rejected$/m);
    expect((await cli("runs nothing")).code).toBe(1);
  });

  test("D-4.11 a dry run counts what would move, and leaves both ends and the markers as they are", async () => {
    const { local, remote, cli } = await startPair();
    await fill(local, ["a", "b"]);
    const { code, stdout } = await cli("sync push notes --dry-run");
    expect(code).toBe(0);
    expect(stdout).toStartWith(
      "notes: 2 rows would be pushed, 0 pulled\nDry run: success, 2 pushed",
    );
    expect(await namesOf(remote)).toEqual([]);
    expect((await local.send("/api/v1/sync/status")).json["last_sync"]).toEqual({});
  });

  test("D-4.12, D-4.12.1 --events writes the events of the run, one JSON object per line", async () => {
    const { local, cli } = await startPair();
    await fill(local, ["a", "b"]);
    const { code, stdout, stderr } = await cli("sync push notes --events");
    expect([code, stderr]).toEqual([0, ""]);
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.map(({ type }) => type)).toEqual(["start", "batch", "done", "finished"]);
    expect(events[2]).toMatchObject({ table: "notes", direction: "push", total_pushed: 2 });
  });

  test("D-4.12 records that the remote refuses make the run partial, exit code 3, and are listed", async () => {
    const { local, remote, cli } = await startPair({ remote: SHORT_NOTES });
    await fill(local, ["a"]);
    await fill(local, ["b"], "long");
    const { code, stdout, stderr } = await cli("sync push notes");
    expect(code).toBe(3);
    expect(stdout).toContain(": partial, 1 pushed");
    expect(stderr).toStartWith("1 record rejected; `repsync rejected list` shows them");
    expect(await namesOf(remote)).toEqual(["a"]);

    const listed = await cli("rejected list notes --json");
    expect(listed.json.items).toMatchObject([
      { table: "notes", direction: "push", key: { name: "b" }, attempts: 1 },
    ]);
    const { id } = listed.json.items[0];
    expect((await cli("rejected list")).stdout).toContain(
      `${id}  push notes {"name":"b"}\n  body must`,
    );
    expect((await cli(`rejected drop ${id}`)).stdout).toBe(`Dropped ${id}\n`);
    expect((await cli("rejected list")).stdout).toBe("No record waits\n");
    expect(await cli(`rejected drop ${id}`)).toMatchObject({ code: 1, stdout: "" });
    expect((await cli("rejected list nothing")).code).toBe(2);
  });

  test("D-4.12 a run that fails says why without a stack, exit code 1", async () => {
    const { local, cli } = await startPair();
    await fill(local, ["a"]);
    const wrongKey = { SYNC_REMOTE_KEY: "another key" };
    const { code, stdout, stderr } = await cli("sync push notes", wrongKey);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^Run [\w-]{36}: failed, 0 pushed, 0 pulled/);
    expect(stderr).toStartWith("push notes failed: ");
    expect(stderr).toContain("401");
    expect(stderr).not.toMatch(/\.ts|another key/);
    const json = await cli("sync push notes --json", wrongKey);
    expect(json).toMatchObject({ code: 1, stderr });
    expect(json.json).toMatchObject({ status: "failed", error: expect.stringContaining("401") });
  });

  test.each([
    ["sync push", { SYNC_REMOTE_URL: "" }, "The remote's address is missing; set SYNC_REMOTE_URL"],
    [
      "sync pull notes",
      { SYNC_ENABLED: "no" },
      "Sync is disabled; set SYNC_ENABLED=true to enable it",
    ],
    [
      "sync push nothing",
      {},
      'Unknown table "nothing"; tables here: profiles, platform_accounts, notes',
    ],
    [
      "compare nothing",
      {},
      'Unknown table "nothing"; tables here: profiles, platform_accounts, notes',
    ],
    [
      "compare notes",
      { SYNC_REMOTE_URL: "" },
      "The remote's address is missing\nSet SYNC_REMOTE_URL",
    ],
  ])(
    "D-4.12, D-4.12.3 %s with a wrong configuration or table ends with exit code 2",
    async (args, more, text) => {
      const folder = makeTempFolder();
      const env = {
        ...serviceEnv(folder, { notes: NOTES }),
        SYNC_REMOTE_URL: "http://127.0.0.1:9",
      };
      const options = { folder, env: { ...env, LOG_LEVEL: "", ...more } };
      const { code, stdout, stderr } = await runCli(args.split(" "), options);
      // No id that `repsync runs` does not know.
      expect(stdout).toBe("");
      expect(stderr).toContain(text);
      expect(stderr.trim().split("\n")).toHaveLength(text.split("\n").length);
      expect(code).toBe(2);
    },
  );

  test("D-4.12, D-4.12.4 SIGINT stops the run before its next write, exit code 1, and the next one goes on", async () => {
    const { local, remote, env, folder, cli } = await startPair();
    const names = Array.from({ length: 60_000 }, (_, i) => `n${i}`);
    for (let i = 0; i < names.length; i += 20_000) {
      const records = names.slice(i, i + 20_000).map((name) => ({ name, at: AT }));
      await local.pushGzip("notes", JSON.stringify({ records }));
    }
    const command = [...BUN, CLI, "sync", "push", "notes"] as const;
    const run = startProcess([...command] as [string, ...string[]], { folder, env });
    const moved = async () => Number((await remote.pull("notes", "?limit=1")).json["total"]);
    await pollUntil("rows to arrive", async () => (await moved()) > 0);
    run.kill("SIGINT");
    expect(await run.ended).toEqual({ code: 1, signal: null });
    expect(run.stderr()).toContain("Stopped by SIGINT; run the same command to continue\n");
    expect(await moved()).toBeLessThan(60_000);
    const again = await cli("sync push notes --json");
    expect(again.code).toBe(0);
    expect(await moved()).toBe(60_000);
  });

  test("D-4.12 on a terminal each table and direction has a bar, and the results stand below", async () => {
    const { local, env, folder } = await startPair();
    await fill(local, ["a", "b"]);
    const shown = startInTerminal(["sync", "both"], { folder, env });
    await shown.waitFor("Run ");
    expect(await shown.exited).toBe(0);
    for (const job of ["push notes", "pull notes", "push profiles", "pull profiles"]) {
      expect(shown.shown()).toMatch(new RegExp(`${job} +\\[[^\\]]+\\] 100% \\| [\\d,]+ rows`));
    }
    expect(shown.shown()).toMatch(/\nnotes: 2 pushed, 2 pulled, 2 changed, .*\r\nRun /);
  });
});

describe("repsync status", () => {
  test("D-4.12 shows tables, rows and markers of both ends", async () => {
    const { local, remote, cli } = await startPair();
    await fill(local, ["a", "b"]);
    await fill(remote, ["c"]);
    await cli("sync push notes");
    const { code, json } = await cli("status --json");
    expect(code).toBe(0);
    expect(json.local).toMatchObject({
      table_counts: { notes: 2 },
      last_sync: { sync_last_push_notes: AT },
    });
    expect(json.remote).toMatchObject({ url: remote.url, status: { table_counts: { notes: 3 } } });
    const { stdout } = await cli("status");
    expect(stdout).toMatch(new RegExp(`^  notes +2  ${AT}  never +behind \\d+ seconds?$`, "m"));
    expect(stdout).toMatch(/^ {2}profiles +0 {2}never +never +never run$/m);
    expect(stdout).toMatch(/^ {2}notes +3 {2}never +never$/m);
  });

  test("D-4.12 a table that the remote does not count has unknown rows, whatever its name", async () => {
    const tables = { tables: ["constructor", "notes"], table_counts: { notes: 3 } };
    const folder = makeTempFolder();
    const remote = serveLocally(() => statusReply(tables));
    const env = { ...serviceEnv(folder), SYNC_REMOTE_URL: remote };
    const { stdout } = await runCli(["status"], { folder, env });
    expect(stdout).toMatch(/^ {2}constructor +unknown {2}never +never$/m);
    expect(stdout).toMatch(/^ {2}notes +3 {2}never +never$/m);
  });

  test("D-14.9.3 a table that was equal when it was last run, and unchanged since, is up to date", async () => {
    const { local, remote, cli } = await startPair();
    await fill(local, ["a", "b"]);
    await cli("sync both notes");
    const state = async () => /^ {2}notes .* {2}(\S.*)$/m.exec((await cli("status")).stdout)?.[1];
    // Its newest row is years old.
    expect(await state()).toBe("up to date");
    expect((await cli("status --json")).json.tables.notes).toEqual({ behind_seconds: 0 });
    await fill(remote, ["c"]);
    expect(await state()).toMatch(/^behind \d+ seconds?$/);
    await cli("sync both notes");
    expect(await state()).toBe("up to date");
    // A change that no number of rows shows.
    const now = [{ name: "a", body: "new", at: new Date().toISOString() }];
    expect((await local.push("notes", { records: now })).status).toBe(200);
    expect(await state()).toMatch(/^behind \d+ seconds?$/);
    const failed = await cli("sync both notes", { SYNC_REMOTE_KEY: "another key" });
    expect([failed.code, await state()]).toEqual([
      1,
      expect.stringMatching(/^behind \d+ seconds?$/),
    ]);
  });

  test("D-4.12 a remote that does not answer is said so, and this end is shown", async () => {
    const { remote, cli } = await startPair();
    await remote.stop();
    const { code, stdout } = await cli("status");
    expect(code).toBe(0);
    expect(stdout).toContain("  notes ");
    expect(stdout).toContain(`Remote ${remote.url}: `);
    const { json } = await cli("status --json");
    expect(json.remote).toMatchObject({ status: null, error: expect.any(String) });
  });
});

describe("repsync compare", () => {
  test("D-4.10, D-4.12.3 equal tables end with 0, different ones with 3 and their keys, repaired ones with 0", async () => {
    const { local, remote, cli } = await startPair();
    await fill(local, ["a", "b"]);
    await fill(remote, ["a", "b"]);
    expect(await cli("compare notes")).toMatchObject({ code: 0, stdout: "notes: 2 rows equal\n" });

    await fill(local, ["b", "c"], "y");
    const different = await cli("compare notes");
    expect(different).toMatchObject({ code: 3, stderr: "" });
    expect(different.stdout).toBe(
      'notes: 1 row equal\nnotes: 1 row different\n  {"name":"b"}\n' +
        '    body: "y" here, "x" there\n' +
        'notes: 1 row missing there\n  {"name":"c"}\n',
    );
    const repaired = await cli("compare notes --repair push --json");
    expect(repaired.code).toBe(0);
    expect(repaired.json).toMatchObject({
      ...{ table: "notes", matched: 1, different: 1, missing_here: 0, missing_there: 1 },
      repaired: 2,
    });
    expect((await cli("compare notes --json")).json).toMatchObject({ matched: 3, different: 0 });

    await fill(remote, ["d"]);
    const unrepaired = await cli("compare notes --repair push --json");
    expect(unrepaired.code).toBe(3);
    expect(unrepaired.json).toMatchObject({ missing_here: 1, repaired: 0 });
  });

  test("D-11.10.2 a repair keeps what the table keeps, exit code 3, and overwrites it with --force", async () => {
    const kept: TableEntry = { ...NOTES, conflict: "newer" };
    const { local, remote, cli } = await startPair({ local: kept, remote: kept });
    await fill(local, ["a"]);
    await remote.push("notes", {
      records: [{ name: "a", body: "newer", at: "2024-01-02T00:00:00Z" }],
    });
    const repaired = await cli("compare notes --repair push");
    expect(repaired.code).toBe(3);
    expect(repaired.stdout).toContain('0 repaired\n1 kept as they were\n  {"name":"a"}: newer\n');
    const forced = await cli("compare notes --repair push --force");
    expect([forced.code, forced.stdout.split("\n").includes("1 repaired")]).toEqual([0, true]);
    expect(await remote.records("notes")).toMatchObject([{ name: "a", body: "x" }]);
  });

  test("D-4.12.3 rows to remove at no named end are refused on a terminal, and not asked about", async () => {
    const folder = makeTempFolder();
    const env = { ...serviceEnv(folder), SYNC_REMOTE_URL: "http://127.0.0.1:9" };
    for (const repair of [[], ["--repair", "newest"]]) {
      const args = ["compare", "profiles", "--delete", ...repair];
      const terminal = startInTerminal(args, { folder, env });
      await terminal.waitFor('Needs `repair` to be "push" or "pull"');
      expect(terminal.shown()).not.toContain("[yes/no]");
      expect(await terminal.exited).toBe(2);
    }
  });

  test("D-4.10 a remote that cannot be compared with ends it with 1", async () => {
    const { cli } = await startPair();
    const { code, stdout, stderr } = await cli("compare notes", { SYNC_REMOTE_KEY: "another key" });
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("401");
    expect(stderr).not.toMatch(/\.ts|another key/);
  });
});
