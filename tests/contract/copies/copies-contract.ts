// What every store does that is read whole, and filled.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { NodeMac } from "../../../src/adapters/node-crypto/node-crypto.ts";
import { SystemClock } from "../../../src/adapters/system/system.ts";
import { storeAt } from "../../../src/app/stores.ts";
import { isAppError } from "../../../src/domain/shared/errors.ts";
import type { EmptyStore, StoppedStore } from "../../../src/ports/copies/store-copies.ts";
import { tableOf } from "../../../src/ports/copies/store-dump.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import { LEASES } from "../../../src/repositories/run-collections.ts";
import { copyStore } from "../../../src/usecases/operations/copy-store.ts";
import { writeFact } from "../../http/stores/support/raw-store.ts";
import type { Backend } from "../../http/support/backends.ts";
import { MemoryLogger } from "../../support/memory-logger.ts";
import { keepResource } from "../../support/resources.ts";
import { writeTo } from "../../support/rows/write-to.ts";
import { ABOUT, contentOf, dumpedDeployment, heldParts, PARTS } from "./dumped-deployment.ts";

const mac = new NodeMac();
const NAMES = ABOUT.tables.map(({ name }) => name);

/** Stores of one kind, by addresses. */
export interface CopiesHarness extends Backend {
  /** False where a store is of no format, and opened while it is filled: it lives as long as its process. */
  readonly isLasting: boolean;
  /** Opens a store, which the suite closes. */
  open(url: string): Promise<FullStorage>;
  source(url: string): Promise<StoppedStore>;
  claim(url: string): Promise<EmptyStore>;
}

/** The stores that the service knows. */
export function copiesOf(backend: Backend): CopiesHarness {
  const tools = { clock: new SystemClock(), logger: new MemoryLogger() };
  const options = { ...tools, adminUsername: null, tables: NAMES, by: "move" } as const;
  return {
    ...backend,
    isLasting: true,
    open: (url) => storeAt(url).open(tools),
    source: (url) => storeAt(url).openStopped(tools),
    claim: (url) => storeAt(url).claim(options),
  };
}

export function copiesContract(harness: CopiesHarness): void {
  const { claim, holds, isLasting } = harness;
  const dumped = () => dumpedDeployment(ABOUT, heldParts(holds));
  const source = { dump: async () => dumped() };

  const open = async (url: string) => {
    const storage = await harness.open(url);
    keepResource(() => storage.close());
    await storage.tables.prepare(ABOUT.tables.map(tableOf));
    return storage;
  };

  const dumpOf = async (url: string) => {
    const source = await harness.source(url);
    try {
      return await contentOf(await source.dump());
    } finally {
      await source.close();
    }
  };

  const requireStopped = async (url: string) => {
    const source = await harness.source(url);
    try {
      await source.requireStopped();
    } finally {
      await source.close();
    }
  };

  const filled = async () => {
    const url = await harness.makeUrl();
    const target = await claim(url);
    await copyStore(source, { target, mac }, {});
    await target.finish(ABOUT.deploymentId);
    return url;
  };

  describe.skipIf(!harness.isAvailable)(`copies on ${harness.name}`, () => {
    setDefaultTimeout(120_000);

    test("D-10.7 a store that was filled tells what it was filled with", async () => {
      const url = await filled();
      expect(await dumpOf(url)).toEqual(await contentOf(dumped()));
    });

    test("D-10.7 what was filled in is served: rows, documents, places of tombstones and numbers go on", async () => {
      const url = await filled();
      const storage = await open(url);
      expect(storage.identity).toEqual({ deploymentId: "5f1e", isNew: false });
      const [listings, , versions] = ABOUT.tables.map(tableOf);
      if (listings === undefined || versions === undefined) throw new Error("No table");
      await writeTo(storage, listings, [{ index: 0, row: { sku: "new" } }]);
      expect(await storage.tables.byKeys(listings, [{ sku: "new" }], "page")).toEqual([
        { id: 8, sku: "new" },
      ]);
      const query = { after: null, sinceTime: null, limitRows: 1 };
      const page = await storage.tombstones.list(versions, query);
      expect(page).toEqual({
        items: [{ key: { n: "3", name: "gone" }, deletedAt: "2024-01-03T00:00:00.123456Z" }],
        cursor: "5ca1ab1e-4",
        hasMore: true,
        earliestAvailable: "2024-01-01T00:00:00.500Z",
      });
      expect(await storage.tombstones.end(versions)).toBe("5ca1ab1e-9");
      const inOrder = { from: { cursor: null }, limitRows: 9 };
      const { rows } = await storage.tables.page(versions, inOrder);
      expect(rows.map(({ name }) => name)).toEqual(["b", "c", "a"]);
      const deleted = [{ index: 0, key: { n: "1", name: "a" }, deletedAt: "2024-02-01T00:00:00Z" }];
      expect(await writeTo(storage, versions, [], { deleted })).toMatchObject({ deleted: 1 });
      const next = await storage.tombstones.list(versions, { ...query, after: "5ca1ab1e-9" });
      expect(next.items).toEqual([
        { key: { n: "1", name: "a" }, deletedAt: "2024-02-01T00:00:00Z" },
      ]);
    });

    test("D-10.7 a dump is of one moment, without what means something in its store only", async () => {
      const storage = await open(await filled());
      const lease = { name: "sync", holder: "run", turn: 1, ttlMs: 1, endsAtMs: 1 };
      await storage.documents.transact({ name: "test.lease" }, async (tx) => tx.put(LEASES, lease));
      const before = await contentOf(await storage.dump());
      expect(before).not.toHaveProperty(["documents leases"]);
      const dump = await storage.dump();
      const [listings] = ABOUT.tables.map(tableOf);
      if (listings === undefined) throw new Error("No table");
      await writeTo(storage, listings, [{ index: 0, row: { sku: "late" } }]);
      expect(await contentOf(dump)).toEqual(before);
      expect(await contentOf(await storage.dump())).not.toEqual(before);
    });

    test("D-10.7 a dump has the tables in the order of their names", async () => {
      const storage = await harness.open(await harness.makeUrl());
      keepResource(() => storage.close());
      for (const table of ABOUT.tables.toReversed()) await storage.tables.prepare([tableOf(table)]);
      const dump = await storage.dump();
      await dump.close();
      expect(dump.about.tables.map(({ name }) => name)).toEqual([
        "listings",
        "samples",
        "versions",
        "without_rows",
      ]);
    });

    test("D-10.7 a store that a service holds is not taken until that has ended", async () => {
      const [listings] = ABOUT.tables.map(tableOf);
      if (listings === undefined) throw new Error("No table");
      for (const rows of [0, 1]) {
        const url = await harness.makeUrl();
        const storage = await open(url);
        if (rows > 0) await writeTo(storage, listings, [{ index: 0, row: { sku: "new" } }]);
        await storage.hold();
        await expect(claim(url)).rejects.toThrow("holds the store");
        await expect(requireStopped(url)).rejects.toThrow("holds the store");
        await storage.close();
        await requireStopped(url);
        if (rows > 0) await expect(claim(url)).rejects.toThrow("is not empty");
        else await (await claim(url)).giveUp();
      }
    });

    if (isLasting) {
      test("D-10.7 a store of a later program is not taken", async () => {
        const url = await harness.makeUrl();
        await (await harness.open(url)).close();
        await writeFact(url, "format", "3");
        await expect(claim(url)).rejects.toThrow("The store has format 3");
      });
    }

    test("D-10.7 of two that would fill a store at once one does, and the other harms nothing", async () => {
      const url = await harness.makeUrl();
      const claims = await Promise.allSettled([claim(url), claim(url)]);
      const winners = claims.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      expect(winners).toHaveLength(1);
      const [target] = winners as [EmptyStore];
      await expect(claim(url)).rejects.toThrow("holds the store");
      if (isLasting) await expect(open(url)).rejects.toThrow();
      await copyStore(source, { target, mac }, {});
      await expect(claim(url)).rejects.toThrow("holds the store");
      await target.finish(ABOUT.deploymentId);
      await expect(claim(url)).rejects.toThrow('is not empty: table "listings" has rows');
      expect(await dumpOf(url)).toEqual(await contentOf(dumped()));
    });

    test("D-10.7 a store that was given up is empty, and can be filled", async () => {
      const url = await harness.makeUrl();
      const target = await claim(url);
      await copyStore(source, { target, mac }, {});
      await target.giveUp();
      const storage = await open(url);
      const tables = ABOUT.tables.map(tableOf);
      expect(await Promise.all(tables.map((table) => storage.tables.count(table)))).toEqual([
        0, 0, 0, 0,
      ]);
      await storage.close();
      const again = await claim(url);
      await copyStore(source, { target: again, mac }, {});
      await again.finish(ABOUT.deploymentId);
      expect(await dumpOf(url)).toEqual(await contentOf(dumped()));
    });

    test("D-10.7 a copy that is not equal is told, and so is the reason to stop", async () => {
      const target = await claim(await harness.makeUrl());
      const losing: EmptyStore = {
        kind: target.kind,
        begin: (about) => target.begin(about),
        write: (part) =>
          target.write({
            ...part,
            items: part.name === "samples" ? part.items.slice(1) : part.items,
          } as typeof part),
        dump: () => target.dump(),
        finish: (id) => target.finish(id),
        giveUp: () => target.giveUp(),
      };
      const copying = copyStore(source, { target: losing, mac }, {});
      const refused = await copying.catch((error: unknown) => error);
      expect(isAppError(refused, "store_unavailable")).toBe(true);
      expect(String(refused)).toContain('does not hold what was written to it: rows of "samples"');
      await target.giveUp();

      const other = await claim(await harness.makeUrl());
      const stopping = new AbortController();
      const stopped = copyStore(
        source,
        { target: other, mac },
        { stop: stopping.signal, onProgress: () => stopping.abort(new Error("Stopped here")) },
      );
      await expect(stopped).rejects.toThrow("Stopped here");
      await other.giveUp();
    });

    test("D-10.7 progress comes to its end, and documents that are not kept stay out", async () => {
      const target = await claim(await harness.makeUrl());
      const told: number[] = [];
      const isKept = (name: string, doc: object) =>
        name === "traffic" ? (doc as { unit: string }).unit === "hour" : name !== "run_news";
      const counts = await copyStore(
        source,
        { target, mac, isKept },
        { onProgress: ({ part }) => told.push(part ?? -1) },
      );
      expect(counts).toEqual({ tables: 4, rows: 12, accounts: 0 });
      expect(told).toEqual([...told].sort((a, b) => a - b));
      expect(told.at(-1)).toBe(30 / 36);
      const content = await contentOf(await target.dump());
      expect(content).toMatchObject({ "documents traffic": [PARTS[0]?.items[0]] });
      expect(content).not.toHaveProperty(["documents run_news"]);
      await target.giveUp();
    });
  });
}
