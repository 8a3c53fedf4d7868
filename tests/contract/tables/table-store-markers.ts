import { describe, expect } from "bun:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { AppError } from "../../../src/domain/shared/errors.ts";
import type { Row } from "../../../src/domain/sync/table/table.ts";
import { makeTable } from "../../support/rows/make-table.ts";
import { readPage } from "../../support/rows/read-rows.ts";
import { writeTo } from "../../support/rows/write-to.ts";
import type { RunStorage } from "../../support/run-parts.ts";
import { openSecond, type StoreHarness, storeTests } from "../harness.ts";
import { asWrites } from "./table-under-test.ts";

type Parts = Pick<RunStorage, "tables" | "documents" | "memory" | "close">;

const ITEMS = makeTable({
  upsert_key: ["k"],
  columns: { k: { type: "text" }, v: { type: "integer" } },
});

/** Markers that `write()` sets with the rows. */
export function tableMarkerTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: markers of a write`, () => {
    it("D-4.5 a write sets what is remembered without rows, and with rows that do not change", async (storage) => {
      await storage.tables.prepare([ITEMS]);
      await write(storage, [], "1");
      expect(await markerOf(storage)).toBe(1);
      await write(storage, [{ k: "a", v: 1 }], "2");
      await write(storage, [{ k: "a", v: 1 }], "3");
      await write(storage, [{ k: "a", v: 2 }]);
      expect([await markerOf(storage), await storage.tables.count(ITEMS)]).toEqual([3, 1]);
      await write(storage, [], "");
      expect(await markerOf(storage)).toBe(0);
    });

    beforeCommitTests(harness);

    if (!harness.options.isShared) return;

    it("D-4.5 another instance never sees a marker before its rows, nor rows of a later one", async (storage, store) => {
      const other = await openSecond(store);
      await storage.tables.prepare([ITEMS]);
      const writing = (async () => {
        for (let v = 1; v <= 30; v++) {
          await write(storage, [{ k: `${v}`, v }], `${v}`);
        }
      })();
      for (let last = 0; last < 30; ) {
        const before = await markerOf(other);
        const rows = await other.tables.count(ITEMS);
        last = await markerOf(other);
        expect(rows).toBeGreaterThanOrEqual(before);
        expect(rows).toBeLessThanOrEqual(last);
        await nextTurn();
      }
      await writing;
      await storage.close();
      expect([await markerOf(other), await other.tables.count(ITEMS)]).toEqual([30, 30]);
    });
  });
}

function beforeCommitTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);
  const row = { k: "a", v: 1 };
  const lost = new AppError("sync_failed", "The lease was lost");

  for (const [what, rows] of Object.entries({ "new rows": [], "known rows": [{ k: "a", v: 0 }] })) {
    it(`D-4.8 write() of ${what} asks before it commits, and may be told not to`, async (storage) => {
      await storage.tables.prepare([ITEMS]);
      await write(storage, rows, "1");
      const refused = writeTo(storage, ITEMS, asWrites([row]), {
        beforeCommit: () => {
          throw lost;
        },
      });
      expect(await refused.catch((error: unknown) => error)).toBe(lost);
      const page = { sinceTime: null, offsetRows: 0, limitRows: 10 };
      expect((await readPage(storage.tables, ITEMS, page)).rows).toEqual(rows);
      expect(await markerOf(storage)).toBe(1);
    });
  }

  it("D-4.8 write() asks before it sets markers alone", async (storage) => {
    await storage.tables.prepare([ITEMS]);
    let asked = 0;
    const beforeCommit = () => {
      asked++;
      return { memory: { pull: { marker: "1" } } };
    };
    await writeTo(storage, ITEMS, [], { beforeCommit });
    // Once for each attempt to commit.
    expect(asked).toBeGreaterThanOrEqual(1);
  });
}

async function write(storage: Parts, rows: readonly Row[], marker?: string): Promise<void> {
  const extras = { memory: { pull: { marker: marker ?? "" } } };
  const options = marker === undefined ? {} : { beforeCommit: () => extras };
  expect((await writeTo(storage, ITEMS, asWrites(rows), options)).failures).toEqual([]);
}

async function markerOf(storage: Parts): Promise<number> {
  return Number((await storage.memory.read("items")).pull.marker || 0);
}
