// What people and remotes wrote, as the command line shows it: nothing of it commands a terminal or hides a line. D-11.3.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { serveLocally } from "../http/support/serve-locally.ts";
import { keepResource } from "../support/resources.ts";
import { runCli } from "./support/run-cli.ts";
import { AT, NOTES, SHORT_NOTES, startPair } from "./support/running-pair.ts";

/** Sets a title, colours, ends the line, forges another one, and turns the direction of the text. */
const HOSTILE = "\u001b]0;x\u0007\u001b[31m\r\nfake\u009b2K\u202e\u2028\u115f\u{e0041}";
const SHOWN =
  "\\u{1b}]0;x\\u{7}\\u{1b}[31m\\u{d}\\u{a}fake\\u{9b}2K\\u{202e}\\u{2028}\\u{115f}\\u{e0041}";
/** As a text of JSON that a line shows. */
const SHOWN_IN_JSON =
  "\\u001b]0;x\\u0007\\u001b[31m\\r\\nfake\\u{9b}2K\\u{202e}\\u{2028}\\u{115f}\\u{e0041}";
const HIDDEN = /[\p{Cc}\u2028\u2029\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

/** The lines of an output, none of which has a hidden character. */
function linesOf(output: string): string[] {
  const lines = output.trimEnd().split("\n");
  expect(lines.filter((line) => HIDDEN.test(line))).toEqual([]);
  return lines;
}

describe("what people wrote", () => {
  test("D-11.3 keys and values of rows are shown as they are, and the JSON escapes them", async () => {
    const { local, cli } = await startPair({ remote: SHORT_NOTES });
    const records = [{ name: HOSTILE, body: "long", at: AT }];
    expect((await local.push("notes", { records })).status).toBe(200);
    expect(linesOf((await cli("compare notes")).stdout)).toEqual([
      "notes: 0 rows equal",
      "notes: 1 row missing there",
      `  {"name":"${SHOWN_IN_JSON}"}`,
    ]);
    expect((await cli("sync push notes")).code).toBe(3);
    expect(linesOf((await cli("rejected list")).stdout)).toEqual([
      expect.stringContaining(`push notes {"name":"${SHOWN_IN_JSON}"}`),
      expect.stringContaining("body must"),
    ]);
    const { stdout, json } = await cli("rejected list --json");
    expect(linesOf(stdout)).toHaveLength(1);
    expect(stdout).toContain("fake\\u009b2K\\u202e\\u2028\\u115f\\udb40\\udc41");
    expect(json.items[0].key).toEqual({ name: HOSTILE });
    // A file is exact.
    expect((await cli("export notes - --format ndjson")).stdout).toContain("fake\u009b2K\u202e");
  });

  test("D-11.3 names of keys neither make lines nor move columns", async () => {
    const { cli, folder } = await startPair();
    expect((await cli("admin create root")).code).toBe(2);
    const env = { STORAGE_URL: `sqlite:${join(folder, "repsync.db")}` };
    const root = await runCli(["admin", "create", "root"], { env, input: "a long password\n" });
    expect(root.code).toBe(0);
    const { id } = (await cli("keys create root --name first --json")).json;
    const database = new Database(join(folder, "repsync.db"));
    keepResource(() => database.close());
    database.run("UPDATE repsync_keys SET doc = json_set(doc, '$.name', ?)", [HOSTILE]);

    const [head = "", line = "", ...others] = linesOf((await cli("keys list root")).stdout);
    expect(others).toEqual([]);
    expect(line).toStartWith(`${id}  ${SHOWN}  rep_live_`);
    expect(head.indexOf("key ")).toBe(line.indexOf("rep_live_"));
    const { stdout } = await cli("keys list root --json");
    expect(linesOf(stdout)).toHaveLength(1);
    expect(linesOf((await cli(`keys revoke root ${id}`)).stdout)).toEqual([
      `Key "${SHOWN}" (${id}) is revoked`,
    ]);
  });

  test.each(["first\u001b[2K", "two\nlines", "tab\t", "\u0085"])(
    "D-11.3 keys create --name %j is refused before any store is opened, exit code 2",
    async (name) => {
      const args = ["keys", "create", "root", "--name", name];
      const { code, stdout, stderr } = await runCli(args);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toContain("without control characters");
    },
  );

  test("D-11.3 a remote's words and the words of a wrong command line are shown, not obeyed", async () => {
    const remote = serveLocally(() => Response.json({ error: HOSTILE }, { status: 400 }));
    const { cli } = await startPair({ local: NOTES });
    const told = await cli("status", { SYNC_REMOTE_URL: remote });
    expect(linesOf(told.stdout).at(-1)).toContain(`was answered 400: ${SHOWN}; `);
    const { code, stderr } = await runCli([HOSTILE]);
    expect([code, linesOf(stderr)]).toEqual([
      2,
      [`Unknown command '${SHOWN}'`, "See repsync --help"],
    ]);
  });
});
