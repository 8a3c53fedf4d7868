// D-5.4, D-5.5, D-8.2 on the file itself: profiles that it refuses, and what an erasure leaves of somebody.
import { expect, test } from "bun:test";
import { openParts, realScene } from "../../../contract/lookups/reputation-harness.ts";
import { liveAndErase, NAME } from "../../../repositories/support/live-and-erase.ts";
import { remembering } from "../../../support/value-caches.ts";
import { SqliteFile } from "../support.ts";

test("D-5.4 enrol() of a profile that a rule of the table refuses says so, and makes no account", () =>
  SqliteFile.use(async (file) => {
    const parts = await openParts(await file.open(), remembering);
    file.openElsewhere().run(`CREATE TRIGGER application BEFORE INSERT ON profiles
      BEGIN SELECT RAISE(ABORT, 'profiles are full'); END`);
    await expect(realScene(parts).enrol("ana")).rejects.toMatchObject({
      kind: "conflict",
      message: "No profile can be made here: profiles are full",
    });
    expect(await parts.accounts.find("ana")).toBeNull();
  }));

test("D-5.5 erase() removes a person's counts, and nobody else's", () =>
  SqliteFile.use(async (file) => {
    const parts = await openParts(await file.open(), remembering);
    const scene = realScene(parts);
    for (const name of ["ana", "bea"]) {
      await scene.enrol(name);
      await scene.lookUp((await scene.giveKey(name)).hash, "x");
    }
    const callers = file.openElsewhere().query(`SELECT s.doc ->> 'username' AS username
      FROM repsync_lookup_log l LEFT JOIN repsync_subjects s ON s.doc ->> 'id' = l.doc ->> 'accountId'
      WHERE l.doc ->> 'kind' = 'usage'`);
    expect(callers.all()).toHaveLength(2);
    await parts.membership.erase("ana");
    expect(callers.all()).toEqual([{ username: "bea" }]);
  }));

test("D-8.2 no table holds the name of somebody who was erased, also once it is released", () =>
  SqliteFile.use(async (file) => {
    const parts = await openParts(await file.open(), remembering);
    const scene = realScene(parts);
    await liveAndErase(scene, parts);
    const tool = file.openElsewhere();
    const tables = tool
      .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all();
    expect(tables.length).toBeGreaterThan(20);
    const holds = ({ name }: { name: string }) =>
      tool
        .query(`SELECT * FROM "${name}"`)
        .all()
        .some((row) => JSON.stringify(row).includes(NAME));
    expect(tables.filter(holds).map(({ name }) => name)).toEqual([]);
  }));
