import { describe, expect } from "bun:test";
import { AppError } from "../../../src/domain/shared/errors.ts";
import type { Row } from "../../../src/domain/sync/table/table.ts";
import type { Storage } from "../../../src/ports/storage.ts";
import { makeTable } from "../../support/make-table.ts";
import { openSecond, type StoreHarness, storeTests } from "../harness.ts";
import { asWrites } from "./table-under-test.ts";

type Parts = Pick<Storage, "tables" | "markers" | "close">;

const ITEMS = makeTable({
  upsert_key: ["k"],
  columns: { k: { type: "text" }, v: { type: "integer" } },
});

/** Markers that `write()` sets with the rows. */
export function tableMarkerTests(harness: StoreHarness<Parts>): void {
  const it = storeTests(harness);

  describe(`${harness.name}: markers of a write`, () => {
    it("D-4.5 write() sets the given markers and leaves the others", async (storage) => {
      await storage.tables.prepare([ITEMS]);
      await storage.markers.writeAll(
        new Map([
          ["sync_last_pull_items", "1"],
          ["sync_last_push_items", "2"],
        ]),
      );
      await write(storage, [{ k: "a", v: 1 }], { sync_last_pull_items: "3" });
      await write(storage, [{ k: "a", v: 2 }]);
      await write(storage, [{ k: "b", v: 1 }], { sync_last_pull_items: "4", sync_last_pull_b: "" });
      expect(await storage.markers.readAll()).toEqual(
        new Map([
          ["sync_last_pull_items", "4"],
          ["sync_last_push_items", "2"],
        ]),
      );
      expect(await storage.tables.countRows(ITEMS)).toBe(2);
    });

    it("D-4.5 write() sets markers without rows, and with rows that do not change", async (storage) => {
      await storage.tables.prepare([ITEMS]);
      await write(storage, [], { sync_last_pull_items: "1" });
      expect(await storage.markers.readAll()).toEqual(new Map([["sync_last_pull_items", "1"]]));
      await write(storage, [{ k: "a", v: 1 }], { sync_last_pull_items: "2" });
      await write(storage, [{ k: "a", v: 1 }], { sync_last_pull_items: "3" });
      expect(await storage.markers.readAll()).toEqual(new Map([["sync_last_pull_items", "3"]]));
      await write(storage, [], {});
      await write(storage, [], { sync_last_pull_items: "" });
      expect(await storage.markers.readAll()).toEqual(new Map());
    });

    beforeCommitTests(harness);

    if (!harness.options.isShared) return;

    it("D-4.5 another instance never sees a marker before its rows, nor rows of a later one", async (storage, store) => {
      const other = await openSecond(store);
      await storage.tables.prepare([ITEMS]);
      const writing = (async () => {
        for (let v = 1; v <= 30; v++) {
          await write(storage, [{ k: `${v}`, v }], { sync_last_pull_items: `${v}` });
        }
      })();
      for (let last = 0; last < 30; ) {
        const before = await markerOf(other);
        const rows = await other.tables.countRows(ITEMS);
        last = await markerOf(other);
        expect(rows).toBeGreaterThanOrEqual(before);
        expect(rows).toBeLessThanOrEqual(last);
      }
      await writing;
      await storage.close();
      expect([await markerOf(other), await other.tables.countRows(ITEMS)]).toEqual([30, 30]);
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
      await write(storage, rows, { sync_last_pull_items: "1" });
      const refused = storage.tables.write(ITEMS, asWrites([row]), {
        beforeCommit: () => {
          throw lost;
        },
      });
      expect(await refused.catch((error: unknown) => error)).toBe(lost);
      const page = { sinceTime: null, offsetRows: 0, limitRows: 10 };
      expect((await storage.tables.readPage(ITEMS, page)).rows).toEqual(rows);
      expect(await markerOf(storage)).toBe(1);
    });
  }

  it("D-4.8 write() asks before it sets markers alone", async (storage) => {
    await storage.tables.prepare([ITEMS]);
    let asked = 0;
    const beforeCommit = () => {
      asked++;
      return { markers: new Map([["m", "1"]]) };
    };
    await storage.tables.write(ITEMS, [], { beforeCommit });
    // Once for each attempt to commit.
    expect(asked).toBeGreaterThanOrEqual(1);
  });
}

async function write(
  storage: Parts,
  rows: readonly Row[],
  markers?: Readonly<Record<string, string>>,
): Promise<void> {
  const extras = { markers: new Map(Object.entries(markers ?? {})) };
  const options = markers === undefined ? {} : { beforeCommit: () => extras };
  expect((await storage.tables.write(ITEMS, asWrites(rows), options)).failures).toEqual([]);
}

async function markerOf(storage: Parts): Promise<number> {
  return Number((await storage.markers.readAll()).get("sync_last_pull_items") ?? 0);
}
