// What `sync` shows while it waits, and its options beside the table.

import { describe, expect, test } from "bun:test";
import { BUN, CLI, startProcess } from "../e2e/support/service-process.ts";
import { passOn, serveLocally } from "../http/support/serve-locally.ts";
import { keepResource } from "../support/resources.ts";
import { startInTerminal } from "./support/cli-process.ts";
import { runCli } from "./support/run-cli.ts";
import { fill, namesOf, SHORT_NOTES, startPair } from "./support/running-pair.ts";

/** Stands before a service, and answers its first pushes with 503. */
function startBusy(url: string, failures: number): string {
  let left = failures;
  return serveLocally((request) =>
    new URL(request.url).pathname.includes("/push/") && left-- > 0
      ? Response.json({ error: "Busy" }, { status: 503 })
      : passOn(request, url),
  );
}

test.each([
  ["store (STORAGE_URL)", (port: number) => ({ STORAGE_URL: `postgres://a@127.0.0.1:${port}/a` })],
  [
    "remote (SYNC_REMOTE_URL)",
    (port: number) => ({ SYNC_REMOTE_URL: `http://127.0.0.1:${port}`, SYNC_REMOTE_KEY: "k" }),
  ],
])("D-7.11 a command that waits for the %s says so", async (whom, envOf) => {
  const socket = { data() {} };
  const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket });
  keepResource(() => silent.stop(true));
  const waiting = startProcess([...BUN, CLI, "status"], { env: envOf(silent.port) });
  const said = `Still waiting for the ${whom}\n`;
  await waiting.waitFor("a word", ({ stderr }) => (stderr() === said ? true : null));
  waiting.kill("SIGKILL");
});

describe("repsync sync", () => {
  test("D-14.9 without a terminal there is a line for each table that had something to do, and no other", async () => {
    const { local, remote, cli } = await startPair();
    await fill(local, ["a"]);
    await fill(remote, ["b", "c"]);
    const first = await cli("sync both");
    expect([first.code, first.stderr]).toEqual([0, ""]);
    expect(first.stdout).toMatch(
      /^notes: 1 pushed, 3 pulled, 3 changed, [\d,]+ of [\d,]+ bytes, \d+\.\d s\nRun .*: success, 1 pushed, .*\n$/,
    );
    const idle = await cli("sync both");
    expect([idle.code, idle.stderr]).toEqual([0, ""]);
    expect(idle.stdout).toMatch(/^Run [^\n]*: success, 0 pushed, \d pulled, 0 changed, [^\n]*\n$/);
  });

  test("D-14.9 -q leaves only errors, and the JSON", async () => {
    const { local, cli } = await startPair({ remote: SHORT_NOTES });
    await fill(local, ["a"]);
    expect(await cli("sync both -q")).toMatchObject({ code: 0, stdout: "", stderr: "" });
    await fill(local, ["b"], "long");
    const partial = await cli("sync push --quiet");
    expect([partial.code, partial.stdout]).toEqual([3, ""]);
    expect(partial.stderr).toMatch(/^1 record rejected; [^\n]*\n$/);
    expect((await cli("compare notes -q")).code).toBe(3);
    expect((await cli("sync push -q --json")).json).toMatchObject({ status: "partial" });
    const failed = await cli("sync push notes -q", { SYNC_REMOTE_KEY: "another key" });
    expect([failed.code, failed.stdout]).toEqual([1, ""]);
    expect(failed.stderr).toStartWith("push notes failed: ");
  });

  test("D-7.11 each retry is a line, the result counts them, and --events stays as it is", async () => {
    const { local, remote, cli } = await startPair();
    await fill(local, ["a"]);
    const busy = startBusy(remote.url, 2);
    const { code, stdout, stderr } = await cli("sync push notes", { SYNC_REMOTE_URL: busy });
    const why = `POST ${busy}/api/v1/sync/push/notes was answered 503: Busy`;
    expect([code, stderr]).toEqual([
      0,
      `push notes: retry 2 of 8 in 1 s: ${why}\npush notes: retry 3 of 8 in 1 s: ${why}\n`,
    ]);
    expect(stdout).toMatch(/: success, 1 pushed, 0 pulled, \d+ changed, 2 retries, \d+\.\d s\n$/);
    await fill(local, ["b"]);
    const again = startBusy(remote.url, 1);
    // Another address is another remote for the markers.
    const events = await cli("sync push notes --full --events", { SYNC_REMOTE_URL: again });
    expect([events.code, events.stderr]).toEqual([0, ""]);
    expect(events.stdout).not.toContain("retry");
  });

  test("D-7.11 on a terminal a retry is a line under the bars, gone when the run goes on", async () => {
    const { local, remote, env, folder } = await startPair();
    await fill(local, ["a"]);
    const busy = startBusy(remote.url, 2);
    const shown = startInTerminal(["sync", "push", "notes"], {
      ...{ folder, env: { ...env, SYNC_REMOTE_URL: busy }, cols: 60 },
    });
    await shown.waitFor("Run ");
    expect(await shown.exited).toBe(0);
    // Cut to the width of the terminal.
    expect(shown.shown()).toContain(`push notes: retry 2 of 8 in 1 s: POST ${busy}`.slice(0, 59));
    expect(shown.shown()).not.toContain("was answered 503");
    const last = shown.shown().slice(shown.shown().lastIndexOf("retry"));
    expect(last).toContain("100%");
    expect(await namesOf(remote)).toEqual(["a"]);
  });

  test("D-7.5 another number of rows there is a line that names the command which finds it", async () => {
    const { local, remote, cli } = await startPair();
    await fill(local, ["a", "b"]);
    await fill(remote, ["c"]);
    const drifted = "notes: 2 rows here, 3 there; `repsync compare notes` finds the difference\n";
    const pushed = await cli("sync push notes");
    expect(pushed).toMatchObject({ code: 0, stderr: "" });
    expect(pushed.stdout).toContain(` s\n${drifted}Run `);
    const { json } = await cli("runs --json");
    expect((await cli(`runs ${json.items[0].run_id}`)).stdout).toContain(`  ${drifted}`);
    const pulled = await cli("sync pull notes --json");
    expect(pulled.json.tables.notes).toMatchObject({ count_here: 3, count_there: 3, warnings: [] });
    expect((await cli("sync both notes")).stdout).not.toContain("compare");
  });

  test.each([
    ["sync both --force", "Only a push or a pull can be forced"],
    ["sync push --max-deletes many", "It must be a whole number."],
    ["sync push --max-deletes -1", "It must be a whole number."],
  ])(
    "D-7.1.1, D-4.12.3 `%s` ends with exit code 2, before anything is asked",
    async (args, text) => {
      const env = { STORAGE_URL: "sqlite::memory:", SYNC_REMOTE_URL: "http://127.0.0.1:9" };
      const { code, stdout, stderr } = await runCli(args.split(" "), { env });
      expect(stderr).toContain(text);
      expect([code, stdout]).toEqual([2, ""]);
    },
  );
});
