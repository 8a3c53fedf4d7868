// Pushes that carry deletes, pushes that only ask, and the list of deletes. D-7.2, D-7.6.

import { describe, expect, test } from "bun:test";
import { SystemTimer } from "../../src/adapters/system/system.ts";
import type { JsonValue } from "../../src/domain/shared/json.ts";
import { countDeletes, pushRecords } from "../../src/usecases/sync/pages/push-records.ts";
import { listDeleted } from "../../src/usecases/sync/pages/table-pages.ts";
import { ownDocuments } from "../support/memory/documents.ts";
import { MemoryTables } from "../support/memory/tables.ts";
import { MemoryLogger } from "../support/memory-logger.ts";
import { makeRegistry } from "../support/rows/make-table.ts";
import { runParts } from "../support/run-parts.ts";
import { FakeClock } from "../support/time/fake-clock.ts";

const NOW = "2026-03-01T12:00:00Z";

/** A deployment with the table `items`, which opts in unless told otherwise. */
async function deploy({ deletes = true, maxPageRows = 5000 } = {}) {
  const clock = new FakeClock(NOW);
  const registry = makeRegistry({
    items: {
      ...{ timestamp_column: "at", upsert_key: ["k"], deletes },
      columns: { k: { type: "text" }, v: { type: "text" }, at: { type: "datetime" } },
    },
  });
  const table = registry.get("items")!;
  const storage = new MemoryTables(clock);
  await storage.prepare([table]);
  const logger = new MemoryLogger();
  const { tombstones } = storage;
  const timer = new SystemTimer();
  const deps = {
    ...runParts(ownDocuments(clock, storage)),
    ...{ tables: storage, tombstones, registry, clock, timer, logger, maxPageRows },
  };
  const sent = { table, integrity: "verified", syncTimestamp: null } as const;
  const list = (query: { since?: string; limit?: string; cursor?: string } = {}) =>
    listDeleted(deps, "items", { since: null, limit: null, cursor: null, ...query });
  return {
    ...{ clock, logger, storage, list, table },
    push: async (push: {
      records?: readonly JsonValue[];
      deleted?: readonly JsonValue[];
      conflict?: "newer";
    }) => (await pushRecords(deps, { records: [], ...sent, ...push })).result,
    ask: (deleted: readonly JsonValue[]) => countDeletes(deps, { ...sent, deleted }),
    keys: () => storage.sortedRows(table).map(({ k }) => k),
  };
}

const row = (k: string, at = "2026-03-01T11:00:00Z") => ({ k, v: "v", at });
const deletion = (k: string, deleted_at = "2026-03-01T11:30:00Z") => ({ key: { k }, deleted_at });

describe("a push with deletes", () => {
  test("D-7.6.1 removes rows also without records, and counts records apart", async () => {
    const { push, keys } = await deploy();
    await push({ records: [row("a"), row("b"), row("c")] });
    expect(await push({ deleted: [deletion("a"), deletion("x")] })).toEqual({
      ...{ table: "items", received: 0, upserted: 0, integrity: "verified", deleted: 1 },
    });
    expect(await push({ records: [row("d")], deleted: [deletion("b")] })).toEqual({
      ...{ table: "items", received: 1, upserted: 1, integrity: "verified", deleted: 1 },
    });
    expect(keys()).toEqual(["c", "d"]);
  });

  test("D-7.6.1 leaves a row that is later than the delete", async () => {
    const { push, keys } = await deploy();
    await push({
      records: [row("a", "2026-03-01T11:30:00.001Z"), row("b", "2026-03-01T11:30:00Z")],
    });
    const result = await push({ deleted: [deletion("a"), deletion("b")] });
    expect(result).toMatchObject({ deleted: 1 });
    expect(keys()).toEqual(["a"]);
  });

  test("D-7.6.1 takes the others though one is not understood, and says which", async () => {
    const { push, keys } = await deploy();
    await push({ records: [row("a"), row("b")] });
    const deleted = [deletion("a", "2026-03-01T12:05:00.001Z"), deletion("b"), {}, 7];
    expect(await push({ records: [5], deleted })).toEqual({
      ...{ table: "items", received: 1, upserted: 0, integrity: "verified", deleted: 1 },
      errors: [
        "k=null: record is not an object",
        "k=a: deleted_at is more than 5 minutes ahead of the clock here",
        "k=null: must be {key, deleted_at}, key an object",
        "k=null: must be {key, deleted_at}, key an object",
      ],
      errorCount: 4,
    });
    expect(keys()).toEqual(["a"]);
  });

  test("D-7.6.1 removes nothing in a table that has not opted in, and says so by its count", async () => {
    const { push, keys } = await deploy({ deletes: false });
    await push({ records: [row("a")] });
    expect(await push({ deleted: [deletion("a"), 7] })).toEqual({
      ...{ table: "items", received: 0, upserted: 0, integrity: "verified", deleted: 0 },
      errors: ["k=null: must be {key, deleted_at}, key an object"],
      errorCount: 1,
    });
    expect(keys()).toEqual(["a"]);
  });

  test("D-7.6.1, S-4.2.6 an empty list is none", async () => {
    const { push } = await deploy();
    expect(await push({ deleted: [] })).toEqual({
      ...{ table: "items", upserted: 0, message: "No records to sync" },
    });
    expect(await push({ records: [row("a")], deleted: [] })).not.toHaveProperty("deleted");
  });

  test("D-7.2.1, D-7.6.1 a guarded push keeps out what is not later than its delete, and counts it", async () => {
    const { push, keys, logger } = await deploy();
    await push({ records: [row("a"), row("b")], deleted: [deletion("c")] });
    const guarded = {
      records: [row("c"), row("d")],
      deleted: [deletion("a")],
      conflict: "newer",
    } as const;
    expect(await push(guarded)).toEqual({
      ...{ table: "items", received: 2, upserted: 2, integrity: "verified" },
      ...{ kept: 1, changed: 1, deleted: 1 },
    });
    expect(keys()).toEqual(["b", "d"]);
    expect(logger.lines.at(-1)?.fields).toMatchObject({ kept: 1, changed: 1, deleted: 1 });
    expect(await push({ records: [{}], conflict: "newer" })).toMatchObject({ kept: 0, changed: 0 });
    expect(await push({ records: [row("b")] })).not.toHaveProperty("kept");
  });
});

test("S-4.2.11 a push does not tell a bug's text", async () => {
  const { push, storage } = await deploy();
  storage.refuse = () => {
    throw new TypeError("undefined is not a function");
  };
  await expect(push({ records: [row("a")] })).rejects.toThrow(TypeError);
});

describe("a push that only asks", () => {
  test("D-7.6.2 counts rows that would be removed, each once, and writes nothing", async () => {
    const { push, ask, keys, list } = await deploy();
    await push({ records: [row("a"), row("b"), row("c", "2026-03-01T11:45:00Z")] });
    const deleted = [deletion("a"), deletion("a"), deletion("c"), deletion("x"), {}];
    expect(await ask(deleted)).toEqual({
      ...{ table: "items", received: 0, upserted: 0, integrity: "verified", deleted: 1 },
      errors: ["k=null: must be {key, deleted_at}, key an object"],
      errorCount: 1,
    });
    expect(await ask([])).toMatchObject({ received: 0, deleted: 0 });
    expect(keys()).toEqual(["a", "b", "c"]);
    expect((await list()).items).toEqual([]);
  });

  test("D-7.6.2 says 0 in a table that has not opted in", async () => {
    const { push, ask } = await deploy({ deletes: false });
    await push({ records: [row("a")] });
    expect(await ask([deletion("a")])).toMatchObject({ deleted: 0 });
  });
});

describe("listDeleted()", () => {
  test("D-7.6.3 listDeleted() goes through the deletes in the order in which they came", async () => {
    const { push, list, clock } = await deploy({ maxPageRows: 2 });
    await push({ deleted: [deletion("b"), deletion("a", "2026-01-01")] });
    clock.advance(1000);
    await push({ deleted: [deletion("c")] });
    const first = await list();
    expect(first).toEqual({
      table: "items",
      items: [
        { key: { k: "b" }, deletedAt: "2026-03-01T11:30:00Z" },
        { key: { k: "a" }, deletedAt: "2026-01-01T00:00:00Z" },
      ],
      nextCursor: first.cursor,
      cursor: first.cursor,
      earliestAvailable: NOW,
      serverTime: "2026-03-01T12:00:01Z",
    });
    const last = await list({ cursor: first.cursor });
    expect(last.items.map(({ key }) => key)).toEqual([{ k: "c" }]);
    expect(last.nextCursor).toBeNull();
    expect(await list({ cursor: last.cursor })).toMatchObject({ items: [], cursor: last.cursor });
  });

  test.each([
    [{ limit: "1" }, ["a"]],
    [{ limit: "0" }, ["a", "b"]],
    [{ limit: "x" }, ["a", "b"]],
    [{ since: "2026-03-01T12:00:01Z" }, ["b"]],
    [{ since: "2026-03-01T13:00:01 01:00" }, ["b"]],
    [{ since: "2026-03-01T12:00:02Z" }, []],
    [{ since: "yesterday" }, ["a", "b"]],
    [{ since: "" }, ["a", "b"]],
    [{ cursor: "" }, ["a", "b"]],
  ])("D-7.6.3 listDeleted() with %j lists %p", async (query, keys) => {
    const { push, list, clock } = await deploy();
    await push({ deleted: [deletion("a")] });
    clock.advance(1000);
    await push({ deleted: [deletion("b")] });
    expect((await list(query)).items.map(({ key }) => key["k"])).toEqual(keys);
  });

  test("D-7.6.3 listDeleted() refuses a cursor that was never given", async () => {
    const { list } = await deploy();
    await expect(list({ cursor: "nonsense" })).rejects.toMatchObject({ kind: "invalid_request" });
  });

  test("D-7.6.3 listDeleted() of a table that has not opted in lists nothing, complete from now on", async () => {
    const { list, clock } = await deploy({ deletes: false });
    clock.advance(1000);
    expect(await list({ cursor: "17" })).toEqual({
      ...{ table: "items", items: [], nextCursor: null, cursor: "" },
      earliestAvailable: "2026-03-01T12:00:01Z",
      serverTime: "2026-03-01T12:00:01Z",
    });
  });
});
