// Runs by the clock, on a real deployment.
import { expect, test } from "bun:test";
import { pollUntil } from "../../support/time/poll-until.ts";
import { startHeldRemote } from "./support/held-remote.ts";
import { startPair, startRunApp, versions } from "./support/run-apps.ts";

const EVERY_SECOND = { SYNC_SCHEDULE: "* * * * * *" };

test("D-1.3.10, D-4.9, D-4.13 SYNC_SCHEDULE moves all tables both ways, and lists its runs", async () => {
  const { local, remote } = await startPair({ env: EVERY_SECOND });
  await local.push("versions", { records: versions(2, "here") });
  await remote.push("versions", { records: versions(3, "there") });
  await pollUntil("both ends to be equal", async () => {
    const [here, there] = [await local.rows("versions"), await remote.rows("versions")];
    return here.length === 5 && there.length === 5;
  });
  const runs = await local.items("/runs");
  expect(runs.at(-1)).toMatchObject({ trigger: "schedule", direction: "both", full_sync: false });
});

test("D-1.3.10, D-4.13 a scheduled run that takes long is not overtaken, and a schedule rests while sync is disabled", async () => {
  const remote = await startRunApp();
  const held = startHeldRemote(remote.url, "/status");
  const start = (url: string, env: Record<string, string> = {}) =>
    startRunApp({ env: { SYNC_REMOTE_URL: url, ...EVERY_SECOND, ...env } });
  const slow = await start(held.url);
  const disabled = await start(remote.url, { SYNC_ENABLED: "false" });
  await held.reached;
  // Its runs are the seconds that have passed.
  const quick = await start(remote.url);
  await pollUntil("two seconds", async () => (await quick.items("/runs")).length >= 2);
  expect(await slow.items("/runs")).toMatchObject([{ status: "running", trigger: "schedule" }]);
  expect(await disabled.items("/runs")).toEqual([]);
  await slow.stop();
});
