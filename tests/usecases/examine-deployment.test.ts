// What `doctor` says.
import { expect, test } from "bun:test";
import { NodeBackupFiles } from "../../src/adapters/backup-files/node-backup-files.ts";
import type { Table } from "../../src/domain/sync/table/table.ts";
import { RemotePeerError } from "../../src/ports/tables/remote-peer.ts";
import { AlertOutbox, Alerts } from "../../src/repositories/alert-outbox.ts";
import { ScheduleTimes } from "../../src/repositories/kept-values.ts";
import {
  type ExamineDeps,
  examineDeployment,
} from "../../src/usecases/operations/examine-deployment.ts";
import { ownDocuments } from "../support/memory/documents.ts";
import {
  BY_TIME,
  foreign,
  makeTwoEnds,
  manyRows,
  put,
  register,
  runOf,
  type TwoEnds,
} from "./sync/two-ends.ts";

/** What a check says; undefined where it is not made. */
async function verdictOf(check: string, { deps, time }: TwoEnds, change: Partial<ExamineDeps>) {
  const findings = Array.fromAsync(
    examineDeployment({
      sync: deps,
      storage: { ping: async () => {}, isDamaged: async () => false },
      outbox: new AlertOutbox(ownDocuments(time.clock())),
      syncApiKey: "key",
      isFirstPepper: true,
      backups: null,
      ...change,
    }),
  );
  const found = (await time.run(findings)).find((one) => one.check === check);
  const { status, message, hint } = found ?? {};
  return status && [`${status} ${message}`, ...(hint == null ? [] : [hint])];
}

test("D-10.12 doctor tells of alerts that could not be delivered, where any are sent", async () => {
  const ends = await makeTwoEnds();
  const outbox = new AlertOutbox(ownDocuments(ends.time.clock()));
  const alerts = new Alerts({ outbox, clock: ends.time.clock(), ids: { next: () => "alert-1" } });
  const examine = (told: Alerts | null) =>
    verdictOf("alerts", ends, { sync: { ...ends.deps, alerts: told }, outbox });
  expect(await examine(null)).toBeUndefined();
  expect(await examine(alerts)).toEqual(["ok none waits for its delivery"]);
  await alerts.raise({ type: "backup.failed", error: "The disk is full" });
  expect(await examine(alerts)).toEqual(["ok 1 on the way"]);
  await outbox.postpone("alert-1", { attempts: 1, dueAtMs: ends.time.nowMs + 900_000 });
  expect(await examine(alerts)).toEqual([
    "warn 1 could not be delivered yet",
    "The log of the service says why; check WEBHOOK_URL and its receiver",
  ]);
});

test.skipIf(process.platform !== "linux")(
  "D-10.7 doctor tells of a folder of backups on a full disk",
  async () => {
    const ends = await makeTwoEnds();
    const probe = { tempPath: "/dev/full", commit: async () => 0, abandon: async () => {} };
    const { writeLines } = new NodeBackupFiles();
    const files: NonNullable<ExamineDeps["backups"]>["files"] = {
      list: async () => [],
      begin: async () => probe,
      writeLines: (path, lines) => ends.time.outside(writeLines(path, lines)),
    };
    const scheduleTimes = new ScheduleTimes(ownDocuments(ends.time.clock()));
    const backups = { folder: "/dev", files, scheduleTimes };
    expect(await verdictOf("backups", ends, { backups })).toEqual([
      "fail The backup cannot be written: the disk is full",
    ]);
  },
);

test("D-4.12 doctor tells of a store whose clock is another one than this machine's", async () => {
  const ends = await makeTwoEnds();
  const examine = (aheadMs: number) => {
    const documents = ownDocuments(ends.time.clock(aheadMs));
    return verdictOf("store", ends, { sync: { ...ends.deps, documents } });
  };
  expect(await examine(5_000)).toEqual(["ok it can be read and written, 0 ms"]);
  expect(await examine(-3_600_000)).toEqual([
    "warn it can be read and written, but its clock is 3600.0 s behind this machine's",
    "Set both machines' clocks by a time server",
  ]);
});

test("D-12.2 doctor names the tables of which nothing notes late commits, where a store can", async () => {
  const ends = await makeTwoEnds();
  const examine = (tellsCommits?: (table: Table) => boolean) => {
    const documents = Object.assign(
      ownDocuments(ends.time.clock()),
      tellsCommits && { tellsCommits, tellingGrant: () => 'grant trigger on "a" to b' },
    );
    return verdictOf("late commits", ends, { sync: { ...ends.deps, documents } });
  };
  expect(await examine()).toBeUndefined();
  expect(await examine(() => true)).toEqual([
    "ok every commit is noted, so none is waited for: lag_seconds is 0 here",
  ]);
  const names = [...ends.deps.registry.keys()];
  expect(await examine(({ name }) => name !== names[0])).toEqual([
    `warn nothing notes the commits of other programs, so 60 s are waited for them (SYNC_LAG_SECONDS): ${names[0]}`,
    'Let their owner say: grant trigger on "a" to b',
  ]);
});

test("D-4.12 doctor tells of rejected records, and how the last run ended", async () => {
  const ends = await makeTwoEnds();
  const examine = async () => [
    await verdictOf("rejected records", ends, {}),
    await verdictOf("last run", ends, {}),
  ];
  expect(await examine()).toEqual([["ok there are none"], ["ok there was none yet"]]);
  put(ends.there, ends.table, manyRows(3));
  ends.here.refuse = (_table, { k }) => (k === "k-0001" ? "Not here" : null);
  await runOf(ends);
  expect(await examine()).toEqual([
    ["warn 1 of items", "`repsync rejected list` says why; the next run tries them again"],
    ["ok it began at 2026-03-01T12:00:00Z: partial"],
  ]);
  ends.intercept = () => {
    throw new RemotePeerError("invalid_reply", "The remote sent no JSON");
  };
  await runOf(ends);
  ends.intercept = (_, send) => send();
  expect((await examine())[1]).toEqual([
    expect.stringMatching(
      /^warn it began at 2026-03-01T12:00:\S+Z: failed, The remote sent no JSON/,
    ),
    "`repsync runs` lists them all",
  ]);
});

test("D-4.12 doctor tells of a remote with sync disabled, another clock, other tables or no schemas", async () => {
  const ends = await makeTwoEnds();
  const examine = async (check: string, change: object) => {
    ends.intercept = async ({ kind }, send) =>
      kind === "status" ? { ...((await send()) as object), ...change } : send();
    return await verdictOf(check, ends, {});
  };
  expect(await examine("remote", {})).toEqual(["ok it answers, and sync is enabled there"]);
  expect(await examine("remote", { syncEnabled: false })).toEqual([
    "fail it answers, but sync is disabled there",
    "Set SYNC_ENABLED=true there",
  ]);
  expect(await examine("remote clock", { serverTime: "soon" })).toEqual([
    "fail its server_time is not a time",
    expect.stringContaining("SYNC_REMOTE_URL"),
  ]);
  expect(await examine("remote clock", { serverTime: "2026-03-01T12:00:10Z" })).toEqual([
    "warn it is 10.0 s ahead of this machine's",
    "Set both machines' clocks by a time server; rows may be 60 s late (SYNC_LAG_SECONDS)",
  ]);
  const others = { tables: ["others"] };
  expect(await examine("remote tables", others)).toEqual([
    "warn it does not have items",
    "Give both deployments the same SYNC_TABLES",
  ]);
  expect(await examine("remote key", others)).toEqual([
    "warn it could not be tested: the deployments have no table in common",
  ]);
});

test("D-4.12 doctor tells where each end would push a table to the other", async () => {
  const ends = await makeTwoEnds();
  const entry = { ...BY_TIME, direction: "push" } as const;
  for (const end of ["here", "there"] as const) await register(ends, end, entry);
  const examine = () =>
    verdictOf("remote registry", ends, { sync: { ...ends.deps, deploymentId: "own" } });
  expect(await examine()).toEqual([
    expect.stringContaining("the remote has another remote than this deployment"),
    "docs/sync.md says what a run does then",
  ]);
  ends.intercept = async ({ kind }, send) =>
    kind === "schema" ? { ...((await send()) as object), remoteId: "own" } : send();
  expect(await examine()).toEqual([
    'fail Both ends say "direction": "push" of "items"',
    'Set "pull" in the registry of the end that does not own the rows',
  ]);
});

test("D-4.12 doctor compares no registry with a remote that tells none", async () => {
  const ends = await makeTwoEnds(foreign());
  expect(await verdictOf("remote registry", ends, {})).toEqual([
    "ok it is not compared: the remote does not tell how its tables are registered",
  ]);
});
