// What the programs say of a store whose format is not theirs.
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { dropFacts, writeFact } from "../http/stores/support/raw-store.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { releaseResources } from "../http/support/resources.ts";
import { BUN, CLI, MAIN, runProcess, serviceEnv, startService } from "./support/service-process.ts";

afterEach(releaseResources);
setDefaultTimeout(60_000);

test("D-10.7 service and command line refuse a later format with one line and exit code 2", async () => {
  const folder = makeTempFolder();
  const env = serviceEnv(folder);
  const url = `sqlite:${join(folder, "repsync.db")}`;
  expect((await (await startService({ folder })).stop()).code).toBe(0);
  await writeFact(url, "format", "2");
  const service = await runProcess([...BUN, MAIN], { folder, env });
  const text =
    "The store has format 2, and this program knows 1: start the version of repsync that wrote it, or a later one\n";
  expect([service.code, service.stderr]).toEqual([2, `repsync cannot start: ${text}`]);
  const command = await runProcess([...BUN, CLI, "status"], { folder, env });
  expect([command.code, command.stderr, command.stdout]).toEqual([2, text, ""]);
});

test("D-10.7 a start that changes the format says so, once", async () => {
  const folder = makeTempFolder();
  const url = `sqlite:${join(folder, "repsync.db")}`;
  await (await startService({ folder })).stop();
  const changed = "The format of the store was changed from 0 to 1";
  for (const said of [true, false]) {
    if (said) await dropFacts(url);
    const service = await startService({ folder, env: { LOG_LEVEL: "info" } });
    await service.stop();
    expect(service.stderr().includes(changed)).toBe(said);
  }
});
