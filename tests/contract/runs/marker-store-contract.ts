import { describe, expect } from "bun:test";
import { openSecond, type StoreHarness, storeTests } from "../harness.ts";

/** What every `MarkerStore` does. */
export function markerStoreContract(harness: StoreHarness): void {
  const it = storeTests(harness);

  describe(`${harness.name}: markers`, () => {
    it("S-2.5 readAll() of a new store is empty", async ({ markers }) => {
      expect(await markers.readAll()).toEqual(new Map());
    });

    it("S-2.5 writeAll() sets the given markers and leaves the others", async ({ markers }) => {
      await markers.writeAll(
        new Map([
          ["sync_last_push_a", "1"],
          ["sync_last_pull_a", "2"],
        ]),
      );
      await markers.writeAll(
        new Map([
          ["sync_last_pull_a", "3"],
          ["sync_last_pull_b", "4"],
        ]),
      );
      await markers.writeAll(new Map());
      expect(await markers.readAll()).toEqual(
        new Map([
          ["sync_last_push_a", "1"],
          ["sync_last_pull_a", "3"],
          ["sync_last_pull_b", "4"],
        ]),
      );
    });

    it("S-4.4.2 a marker set to the empty string is not read, until it is set again", async ({
      markers,
    }) => {
      await markers.writeAll(
        new Map([
          ["sync_last_push_a", "1"],
          ["sync_last_push_b", ""],
        ]),
      );
      await markers.writeAll(new Map([["sync_last_push_a", ""]]));
      expect(await markers.readAll()).toEqual(new Map());
      await markers.writeAll(new Map([["sync_last_push_a", "2"]]));
      expect(await markers.readAll()).toEqual(new Map([["sync_last_push_a", "2"]]));
    });

    it("D-4.5 a marker keeps the text as it was given", async ({ markers }) => {
      const value = " 2024-01-01 00:00:00.000000+00:00 \u0001é😀$'\" ";
      await markers.writeAll(new Map([["sync_last_pull_a", value]]));
      expect([...(await markers.readAll()).values()]).toEqual([value]);
    });

    if (!harness.options.isShared) return;

    it("S-2.5 another instance reads a marker as soon as it is written, and after the writer closed", async (storage, store) => {
      const other = await openSecond(store);
      expect(await other.markers.readAll()).toEqual(new Map());
      await storage.markers.writeAll(new Map([["sync_last_push_a", "1"]]));
      expect(await other.markers.readAll()).toEqual(new Map([["sync_last_push_a", "1"]]));
      await storage.close();
      await other.close();
      const later = await openSecond(store);
      expect(await later.markers.readAll()).toEqual(new Map([["sync_last_push_a", "1"]]));
    });

    it("S-2.5 markers written by two instances at once are all kept", async (storage, store) => {
      const other = await openSecond(store);
      const names = Array.from({ length: 20 }, (_, n) => `sync_last_push_t${n}`);
      await Promise.all(
        names.map((name, n) =>
          (n % 2 === 0 ? storage : other).markers.writeAll(new Map([[name, name]])),
        ),
      );
      expect(await storage.markers.readAll()).toEqual(new Map(names.map((name) => [name, name])));
    });
  });
}
