import { expect, test } from "bun:test";
import { NodeBackupFiles } from "../../src/adapters/backup-files/node-backup-files.ts";
import type { FullStorage } from "../../src/ports/storage.ts";
import { AlertOutbox, Alerts } from "../../src/repositories/alert-outbox.ts";
import { ScheduleTimes } from "../../src/repositories/kept-values.ts";
import { Leases } from "../../src/repositories/leases.ts";
import { startBackups } from "../../src/usecases/operations/scheduled-backups.ts";
import { makeTempFolder } from "../http/support/make-temp-folder.ts";
import { ownDocuments } from "../support/memory/documents.ts";
import { MemoryLogger } from "../support/memory-logger.ts";
import { FakeClock } from "../support/time/fake-clock.ts";

const HOUR_MS = 3_600_000;
/** A file is in the way of the folder. */
const PLAN = { cronText: "@hourly", folder: `${import.meta.path}/backups`, keep: 7 };

/** Instances on one store in memory. */
function makeInstances(copies: Partial<FullStorage> = {}) {
  const clock = new FakeClock();
  const documents = ownDocuments(clock);
  const outbox = new AlertOutbox(documents);
  const logger = new MemoryLogger();
  let count = 0;
  const ids = { next: () => `id ${++count}` };
  const works: (() => Promise<void>)[] = [];
  const scheduler = {
    nextAfter: (_: string, afterMs: number) => (Math.floor(afterMs / HOUR_MS) + 1) * HOUR_MS,
    start(_: string, work: () => Promise<void>) {
      works.push(work);
      return { stop: () => {} };
    },
  };
  const timer = {
    sleep: (_: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve())),
  };
  const deps = {
    ...{ clock, logger, ids, scheduler, timer, files: new NodeBackupFiles() },
    ...{ leases: new Leases(documents), scheduleTimes: new ScheduleTimes(documents) },
    ...{ alerts: new Alerts({ outbox, clock, ids }), deploymentId: "0123456789ab" },
    ...{ copies: copies as FullStorage, mac: { hmacHex: () => "" } as never },
    ...{
      version: "1",
      outsideSecrets: [],
      storePaths: [],
      registry: new Map(),
      tables: {} as never,
    },
  };
  return { clock, outbox, logger, works, deps };
}

test("D-10.7 of several instances that cannot make a backup one raises the alert", async () => {
  const { clock, outbox, logger, works, deps } = makeInstances();
  startBackups(deps, PLAN);
  startBackups(deps, PLAN);
  for (const times of [1, 2]) {
    for (const work of works) await work();
    expect(logger.lines.filter(({ level }) => level === "error")).toHaveLength(2 * times);
    expect(await outbox.count()).toBe(times);
    clock.advance(HOUR_MS);
  }
  const [alert] = await outbox.due(clock.nowMs(), 1);
  expect(JSON.parse(alert?.body ?? "").error).toBe(
    '"…" cannot be made: a part of its path is no folder',
  );
});

test("D-10.7 a backup that a stop ends is no failure", async () => {
  const begun = Promise.withResolvers<void>();
  const { outbox, logger, works, deps } = makeInstances({
    backUp: ({ stop }) => {
      begun.resolve();
      return new Promise((_, reject) => {
        stop?.addEventListener("abort", () => reject(stop.reason));
      });
    },
  });
  const schedule = startBackups(deps, { ...PLAN, folder: makeTempFolder() });
  void works[0]?.();
  await begun.promise;
  await schedule.stop();
  expect(logger.lines.filter(({ level }) => level === "error")).toEqual([]);
  expect(await outbox.count()).toBe(0);
});

test("D-10.7 of several instances one makes the backup of a time", async () => {
  let made = 0;
  const { clock, logger, works, deps } = makeInstances({
    backUp: async ({ path }) => {
      made++;
      await Bun.write(path, "a backup");
      return { tables: 0, rows: 0, accounts: 0 };
    },
  });
  const plan = { ...PLAN, folder: makeTempFolder() };
  startBackups(deps, plan);
  startBackups(deps, plan);
  for (const times of [1, 2]) {
    await Promise.all(works.map((work) => work()));
    clock.advance(1_000);
    for (const work of works) await work();
    expect(made).toBe(times);
    clock.advance(HOUR_MS);
  }
  expect(logger.lines.filter(({ level }) => level === "error")).toEqual([]);
});
