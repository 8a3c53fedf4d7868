// What a comparison of large tables costs: counted exchanges and bytes, on real stores. D-4.10.

import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { openBunSqlite } from "../../../../src/adapters/sqlite/driver/bun-driver.ts";
import { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import { SystemClock, SystemTimer } from "../../../../src/adapters/system/system.ts";
import { COMPRESSION_THRESHOLD_BYTES } from "../../../../src/domain/shared/limits.ts";
import { digestParameters } from "../../../../src/domain/sync/digest/digest-page.ts";
import type { Row } from "../../../../src/domain/sync/table/table.ts";
import { NO_TRACING } from "../../../../src/ports/runtime/tracing.ts";
import type { RemotePeer } from "../../../../src/ports/tables/remote-peer.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { digestTable, pullPage } from "../../../../src/usecases/sync/pages/table-pages.ts";
import { readOwnSchema } from "../../../../src/usecases/sync/pages/table-schemas.ts";
import { readSyncStatus } from "../../../../src/usecases/sync/shared/sync-status.ts";
import { writeRows } from "../../../../src/usecases/sync/shared/write-rows.ts";
import { MemoryLogger } from "../../../support/memory-logger.ts";
import { compareTables } from "../../../support/rows/compare-tables.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { runParts, writingParts } from "../../../support/run-parts.ts";
import { FakeClock } from "../../../support/time/fake-clock.ts";

const ROWS = 100_000;
const TABLE = makeTable({
  ...{ timestamp_column: "updated_at", upsert_key: ["shop", "sku"] },
  columns: {
    ...{ shop: { type: "text" }, sku: { type: "text" }, price: { type: "numeric" } },
    ...{ views: { type: "bigint" }, title: { type: "text" }, updated_at: { type: "datetime" } },
  },
});

test("D-4.10 equal tables cost less than 1% of a pull, and one changed row is found in four exchanges", async () => {
  const [here, there] = [await openFilled(), await openFilled()];
  const wire = { exchanges: 0, bytes: 0 };
  const peer = countedPeer(there, wire);
  const compare = () =>
    compareTables(
      {
        ...{ isSyncEnabled: true, remoteUrl: "https://there.example", remoteKey: "key" },
        ...{ lagSeconds: 60, maxPageRows: 5000, registry: new Map([["items", TABLE]]) },
        ...{ ...runParts(here.documents), tables: here.tables },
        ...{ tombstones: here.tombstones, connectPeer: () => peer },
        ...{ clock: new FakeClock(), timer: new SystemTimer(), logger: new MemoryLogger() },
        ...{ random: { next: () => 0.5 }, ids: { next: () => "compare" }, tracing: NO_TRACING },
      },
      { tableName: "items", repair: null },
    );
  try {
    const equal = await compare();
    expect(equal).toMatchObject({ matched: ROWS, different: 0 });
    const ofEqual = { ...wire };
    expect(ofEqual.exchanges).toBe(2);

    await writeRows(writingParts(there), TABLE, {
      writes: [{ index: 0, row: { ...rowAt(54_321), price: "0.01" } }],
    });
    Object.assign(wire, { exchanges: 0, bytes: 0 });
    const { examples, ...counts } = await compare();
    expect(counts).toEqual({ matched: ROWS - 1, different: 1, missingHere: 0, missingThere: 0 });
    expect(examples.different).toEqual([{ shop: "shop-1", sku: "sku-054321" }]);
    const ofChanged = { ...wire };
    expect(ofChanged.exchanges).toBe(4);

    Object.assign(wire, { exchanges: 0, bytes: 0 });
    for (let offset = 0; offset < ROWS; offset += 5000) {
      await peer.pullPage("items", { offset, limit: 5000 });
    }
    expect(wire.exchanges).toBe(20);
    expect(ofEqual.bytes).toBeLessThan(wire.bytes / 1000);
    expect(ofChanged.bytes).toBeLessThan(wire.bytes / 200);
  } finally {
    await here.close();
    await there.close();
  }
}, 60_000);

async function openFilled(): Promise<SqliteStorage> {
  const storage = await SqliteStorage.open(openBunSqlite, ":memory:", {
    clock: new SystemClock(),
    collections: COLLECTIONS,
  });
  await storage.tables.prepare([TABLE]);
  for (let from = 0; from < ROWS; from += 5000) {
    const writes = Array.from({ length: 5000 }, (_, index) => ({
      index,
      row: rowAt(from + index),
    }));
    await writeRows(writingParts(storage), TABLE, { writes });
  }
  return storage;
}

function rowAt(i: number): Row {
  return {
    ...{ shop: `shop-${i % 40}`, sku: `sku-${String(i).padStart(6, "0")}`, views: String(i * 7) },
    ...{ price: `${i % 1000}.5`, title: `Number ${(i * 7919) % 100_003} of them all` },
    updated_at: new Date(1_760_000_000_000 + i * 1000).toISOString().replace(".000Z", "Z"),
  };
}

/** This service at the other end, whose replies are counted as they go over the wire. */
function countedPeer(there: SqliteStorage, wire: { exchanges: number; bytes: number }): RemotePeer {
  const deps = {
    ...{ registry: new Map([["items", TABLE]]), isSyncEnabled: true, maxPageRows: 5000 },
    ...{ ...runParts(there.documents), tables: there.tables },
    readRemoteId: async () => null,
    ...{ clock: new FakeClock(), timer: new SystemTimer(), logger: new MemoryLogger() },
  };
  const count = <Reply>(reply: Reply): Reply => {
    const json = Buffer.from(JSON.stringify(reply));
    const isShort = json.length < COMPRESSION_THRESHOLD_BYTES;
    wire.exchanges++;
    wire.bytes += isShort ? json.length : gzipSync(json, { level: 6 }).length;
    return reply;
  };
  const bytes = { bytesCompressed: 0, bytesUncompressed: 0 };
  return {
    readSchema: async (name, { lateAfter = null } = {}) =>
      count(await readOwnSchema(deps, name, lateAfter)),
    readDeleted: () => Promise.reject(new Error("Not asked for")),
    readStatus: async () => {
      return { ...count(await readSyncStatus(deps)), extensions: [] };
    },
    async readDigest(tableName, query) {
      const parameters = digestParameters(query);
      return { page: count(await digestTable(deps, tableName, parameters)), ...bytes };
    },
    async pullPage(tableName, { offset = 0, limit = 1000 } = {}) {
      const query = { since: null, offset: String(offset), limit: String(limit) };
      return { page: count(await pullPage(deps, tableName, query)), ...bytes };
    },
    pushBatch: () => Promise.reject(new Error("Nothing is to be pushed")),
  };
}
