import { describe, expect, test } from "bun:test";
import { SystemTimer } from "../../src/adapters/system/system.ts";
import { AppError } from "../../src/domain/shared/errors.ts";
import type { SyncDirection } from "../../src/domain/sync/run/run.ts";
import { MEMORY } from "../../src/repositories/run-collections.ts";
import { pushRecords } from "../../src/usecases/sync/pages/push-records.ts";
import { readSyncStatus } from "../../src/usecases/sync/pages/read-sync-status.ts";
import { ownDocuments } from "../support/memory/documents.ts";
import { openMemoryTables } from "../support/memory/tables.ts";
import { MemoryLogger } from "../support/memory-logger.ts";
import { makeRegistry } from "../support/rows/make-table.ts";
import { runParts } from "../support/run-parts.ts";
import { FakeClock } from "../support/time/fake-clock.ts";

const FEATURES = { gzip: true, sha256: true, incremental: true };

/** A deployment with the built-in tables, at noon. */
async function deploy(isSyncEnabled = true) {
  const registry = makeRegistry({});
  const storage = await openMemoryTables(registry.values());
  const logger = new MemoryLogger();
  const clock = new FakeClock("2026-03-01T12:00:00Z");
  const timer = new SystemTimer();
  const documents = ownDocuments(clock, storage);
  const parts = runParts(documents);
  const deps = { isSyncEnabled, registry, tables: storage, ...parts, clock, timer, logger };
  const keepMarker = (table: string, direction: SyncDirection, marker: string) =>
    documents.writeNow((tx) => tx.put(MEMORY, { table, direction, marker }));
  return { ...deps, storage, keepMarker, readStatus: () => readSyncStatus(deps) };
}

async function pushProfiles(deployment: Awaited<ReturnType<typeof deploy>>, usernames: string[]) {
  await pushRecords(deployment, {
    table: deployment.registry.get("profiles")!,
    records: usernames.map((username) => ({ username })),
    integrity: "no_checksum",
    syncTimestamp: null,
  });
}

describe("readSyncStatus()", () => {
  test("S-2.5 readSyncStatus() gives the fields of the status result in their order", async () => {
    const { readStatus } = await deploy();
    expect(JSON.stringify(await readStatus())).toBe(
      '{"syncEnabled":true,"tables":["profiles","platform_accounts"],' +
        '"tableCounts":{"profiles":0,"platform_accounts":0},"lastSync":{},' +
        '"serverTime":"2026-03-01T12:00:00Z",' +
        '"features":{"gzip":true,"sha256":true,"incremental":true}}',
    );
  });

  test("S-1.3, S-2.5 readSyncStatus() counts the rows of every table", async () => {
    const deployment = await deploy();
    await pushProfiles(deployment, ["ann", "ben", "ann"]);
    expect((await deployment.readStatus()).tableCounts).toEqual({
      profiles: 2,
      platform_accounts: 0,
    });
  });

  test("S-2.5, D-3.10 a table that cannot be counted is -1 and hurts nothing else", async () => {
    const deployment = await deploy();
    await pushProfiles(deployment, ["ann"]);
    deployment.storage.uncountable.add("platform_accounts");
    const status = await deployment.readStatus();
    expect(status.tableCounts).toEqual({ profiles: 1, platform_accounts: -1 });
    expect(status.tables).toEqual(["profiles", "platform_accounts"]);
    expect(deployment.logger.lines.at(-1)).toMatchObject({
      level: "error",
      fields: { table: "platform_accounts" },
    });
  });

  test("S-2.5 readSyncStatus() shows the markers of its tables that are not empty", async () => {
    const { keepMarker, readStatus } = await deploy();
    keepMarker("profiles", "push", "2026-02-28T10:00:00.123456Z");
    keepMarker("profiles", "pull", "");
    keepMarker("platform_accounts", "pull", "2026-02-27");
    keepMarker("orders", "push", "2026-02-26");
    expect((await readStatus()).lastSync).toEqual({
      sync_last_push_profiles: "2026-02-28T10:00:00.123456Z",
      sync_last_pull_platform_accounts: "2026-02-27",
    });
  });

  test("S-2.5 readSyncStatus() gives the current time", async () => {
    const { clock, readStatus } = await deploy();
    clock.advance(90_250);
    expect((await readStatus()).serverTime).toBe("2026-03-01T12:01:30.250Z");
  });

  test("S-4.3, D-3.12 readSyncStatus() is empty when sync is disabled, and needs no store", async () => {
    const deployment = await deploy(false);
    await pushProfiles(deployment, ["ann"]);
    deployment.keepMarker("profiles", "push", "2026-02-28");
    deployment.storage.failure = new AppError("store_unavailable", "Store is away");
    const status: unknown = await deployment.readStatus();
    expect(status).toEqual({
      syncEnabled: false,
      tables: [],
      tableCounts: {},
      lastSync: {},
      serverTime: "2026-03-01T12:00:00Z",
      features: FEATURES,
    });
  });

  test("S-4.3 readSyncStatus() fails when the store does not answer at all", async () => {
    const { storage, readStatus } = await deploy();
    storage.failure = new AppError("store_unavailable", "Store is away");
    await expect(readStatus()).rejects.toMatchObject({ kind: "store_unavailable" });
  });
});
