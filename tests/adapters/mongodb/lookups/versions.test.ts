// D-6.3 The versions that changes raise for lookups.
import { describe, expect } from "bun:test";
import { PROFILES } from "../../../contract/lookups/reputation-harness.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { openScene } from "../reputation-support.ts";
import { databaseTest, type TestDatabase } from "../support.ts";

const MANY_PEOPLE = Array.from({ length: 64 }, (_, i) => ({ username: `person-${i}` }));

describe.skipIf(!mongoAvailable)("MongoDB: versions of people", () => {
  databaseTest("D-6.3 a commit that changes 64 people raises the version of each", async (base) => {
    const scene = await openScene(base);
    await scene.push(PROFILES, ...MANY_PEOPLE);
    const raised = await versionsOf(base);
    expect(raised.every(({ _id, v }) => /^slot\/\d+$/.test(_id) && v === 1)).toBe(true);
    expect(raised.length).toBe(64);
  });

  databaseTest("D-6.3 a commit that changes more raises one of its lane", async (base) => {
    const scene = await openScene(base);
    await scene.push(PROFILES, { username: "ana" }, ...MANY_PEOPLE);
    const raised = await versionsOf(base);
    expect(raised.map(({ _id, v }) => [_id.split("/")[0], v])).toEqual([["all", 1]]);
  });

  databaseTest(
    "D-6.3 each change of consents and each erasure raises the version",
    async (base) => {
      const scene = await openScene(base);
      await scene.enrol("ana");
      const versions: number[] = [await sumOfVersions(base)];
      const { id } = await scene.consent("ana");
      versions.push(await sumOfVersions(base));
      for (let i = 0; i < 2; i++) {
        await scene.parts.consents.revoke("ana", { id, nowMs: Date.now() });
        versions.push(await sumOfVersions(base));
      }
      for (let i = 0; i < 2; i++) {
        await scene.parts.membership.erase("ana");
        versions.push(await sumOfVersions(base));
      }
      expect(versions).toEqual([1, 2, 3, 3, 4, 4]);
    },
  );
});

interface StoredVersion {
  readonly _id: string;
  readonly v: number;
}

/** Those of people. */
async function versionsOf({ db }: TestDatabase): Promise<readonly StoredVersion[]> {
  const ofPeople = { _id: { $not: /^table\// } };
  return await db.collection<StoredVersion>("repsync_versions").find(ofPeople).toArray();
}

/** How often anything was changed that lookups read. */
async function sumOfVersions(database: TestDatabase): Promise<number> {
  return (await versionsOf(database)).reduce((sum, { v }) => sum + v, 0);
}
