// Rows that a whole file does not have, removed as long as they may be. D-14.7.1.
import { expect, test } from "bun:test";
import { ImportReport } from "../../../../src/usecases/sync/files/import-file.ts";
import { StoreWriter } from "../../../../src/usecases/sync/files/import-writer.ts";
import { WholeFile } from "../../../../src/usecases/sync/files/whole-file.ts";
import { manyRows } from "../two-ends.ts";
import { keysOf, makeEqualEnds, OLD } from "./deletes-ends.ts";

test("D-7.8, D-14.7.1 a removal that is cancelled, looking or removing, tells how many rows are gone", async () => {
  const keys = manyRows(1_300).map(([k]) => k);
  const ends = await makeEqualEnds(keys);
  const { deps, here, table } = ends;
  const whole = new WholeFile(new StoreWriter(deps, table), table);
  await whole.write([{ index: 0, row: { k: keys[0] ?? "", v: "v", at: OLD } }]);
  const removeWith = async (parts: number) => {
    const report = new ImportReport(table.name, false);
    report.counts = { ...report.counts, read: 1 };
    let asked = 0;
    const removing = whole.removeOthers({
      ...{ deps, report, maxDeletes: 1_300 },
      async requireGoingOn() {
        if (++asked > parts) throw new Error("Cancelled");
      },
      isAllowed: async () => true,
      onRefused: () => {},
    });
    const ended = await removing.then(
      () => "done",
      ({ message }: Error) => message,
    );
    return [ended, report.result().removed, keysOf(here, ends).length];
  };
  expect(await removeWith(1)).toEqual(["Cancelled", undefined, 1_300]);
  expect(await removeWith(6)).toEqual(["Cancelled", 519, 781]);
  expect(await removeWith(99)).toEqual(["done", 780, 1]);
});
