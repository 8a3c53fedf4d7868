// D-5.5 on the file itself: what an erasure leaves of somebody who looked others up.
import { expect, test } from "bun:test";
import { openParts, Scene } from "../../../contract/lookups/reputation-harness.ts";
import { remembering } from "../reputation-support.ts";
import { SqliteFile } from "../support.ts";

const TIME = { nowMs: () => Date.now(), advance: async () => {}, dispose: async () => {} };

test.each(["repsync_usage", "repsync_calls", "repsync_call_history"])(
  "D-5.5 erase() removes a person's rows of %s, and nobody else's",
  (table) =>
    SqliteFile.use(async (file) => {
      const parts = await openParts(await file.open(), remembering);
      const scene = new Scene(parts, { storage: parts, ...TIME });
      for (const name of ["ana", "bea"]) {
        await scene.enrol(name);
        await scene.lookUp((await scene.giveKey(name)).hash, "x");
      }
      const callers = file
        .openElsewhere()
        .query(`SELECT username FROM ${table} LEFT JOIN repsync_subjects ON id = account_id`);
      expect(callers.all()).toHaveLength(2);
      await parts.membership.erase("ana");
      expect(callers.all()).toEqual([{ username: "bea" }]);
    }),
);
