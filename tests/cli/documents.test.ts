// What commands write with --json, of those that no other test asks for it: `runCli` compares each document with its schema.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { runCli } from "./support/run-cli.ts";
import { fill, startPair } from "./support/running-pair.ts";

/** In the order in which they are called. */
const LINES = [
  "status",
  "compare notes --repair push",
  "compare",
  "export notes notes.csv",
  "tables infer notes.csv",
  "admin create ada",
  "admin create eva",
  "admin set-password ada",
  "accounts show ada",
  "accounts suspend ada",
  "accounts restore ada",
  "plan show ada",
  "audit heads",
  "audit heads --out heads.json",
  "backup all.backup",
];

test("D-4.12.3 each document of --json is the one that docs/cli.md shows", async () => {
  const { local, env, folder } = await startPair();
  await fill(local, ["a", "b"]);
  const call = async (line: string, more: Readonly<Record<string, string>> = {}) => {
    const options = { folder, env: { ...env, LOG_LEVEL: "", ...more }, input: "correct horse\n" };
    const { code, stderr } = await runCli([...line.split(" "), "--json"], options);
    expect([line, code, code === 0 ? "" : stderr]).toEqual([line, 0, ""]);
  };
  for (const line of LINES) await call(line);
  await call("restore all.backup", { STORAGE_URL: `sqlite:${join(folder, "other.db")}` });
});
