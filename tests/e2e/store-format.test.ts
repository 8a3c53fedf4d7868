// What the programs say of a store whose format is not theirs.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { writeFact } from "../http/stores/support/raw-store.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { BUN, CLI, MAIN, runProcess, serviceEnv, startService } from "./support/service-process.ts";

const REFUSALS = [
  [
    "1",
    1,
    'The store has format 1, which repsync 0.1.0 is the last to read, and this program knows 2 alone\nTake the tables out with "repsync export" of that version, and into a new store with "repsync import" of this one\n',
  ],
  [
    "3",
    2,
    "The store has format 3, and this program knows 2\nStart the version of repsync that wrote it, or a later one\n",
  ],
] as const;

test("D-10.7, D-11.4.1 service and command line refuse another format with what to do; exit code 2, of commands 1 for an earlier one", async () => {
  const folder = makeTempFolder();
  const env = serviceEnv(folder);
  const url = `sqlite:${join(folder, "repsync.db")}`;
  expect((await (await startService({ folder })).stop()).code).toBe(0);
  for (const [format, commandCode, text] of REFUSALS) {
    await writeFact(url, "format", format);
    const service = await runProcess([...BUN, MAIN], { folder, env });
    expect([service.code, service.stderr]).toEqual([2, `repsync cannot start: ${text}`]);
    for (const args of [["status"], ["move", `sqlite:${join(folder, "new.db")}`]]) {
      const command = await runProcess([...BUN, CLI, ...args], { folder, env });
      expect([command.code, command.stderr, command.stdout]).toEqual([commandCode, text, ""]);
    }
  }
});
