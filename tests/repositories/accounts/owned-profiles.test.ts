import { describe, expect } from "bun:test";
import type { JsonObject } from "../../../src/domain/shared/json.ts";
import type { Row } from "../../../src/domain/sync/table/table.ts";
import { deleteRow } from "../../../src/usecases/sync/pages/delete-rows.ts";
import { storeTests } from "../../contract/harness.ts";
import {
  PROFILES,
  type ReputationHarness,
  type ReputationParts,
  Scene,
} from "../../contract/lookups/reputation-harness.ts";
import {
  ARRIVALS,
  GUARD,
  NOTHING,
  type WriteToOptions,
  type WrittenTo,
  writeTo,
} from "../../support/rows/write-to.ts";
import { reputationTests } from "../support/reputation-tests.ts";

/** The profile that Ana has made of hers, at noon; the store's first second is 12:00:00. */
const OWN = { displayName: "Ana", bio: "own bio", location: null, public: false };
const LATER = at(5);
const LATER_STILL = at(6);

const WRITTEN = { ...NOTHING, changed: 1 };
const KEPT = { ...NOTHING, kept: [0] };

reputationTests(ownedProfileSuite);

/** What sync may change of a profile with an owner. D-8.1. */
function ownedProfileSuite(harness: ReputationHarness): void {
  describe(`profiles with an owner`, () => {
    arrivalTests(harness);
    travelTests(harness);
    verifiedTests(harness);
    ownerTests(harness);
  });
}

function arrivalTests(harness: ReputationHarness): void {
  const it = storeTests(harness);
  for (const [how, options] of ARRIVALS) {
    it(`D-8.1 ${how} changes what is not the owner's, 1 µs later than it came`, async (parts, store) => {
      const ana = await Owned.make(new Scene(parts, store));
      const arriving = { ...foreign(), created_at: "2020-01-01T00:00:00Z", updated_at: LATER };
      expect(await ana.write([arriving], options)).toEqual(WRITTEN);
      expect(await ana.profile()).toMatchObject({
        ...{ display_name: "Ana", bio: "own bio", profession: null, location: null, public: false },
        created_at: "2020-01-01T00:00:00Z",
        updated_at: "2026-03-01T12:00:05.000001Z",
      });
    });

    it(`D-8.1 of ${how} that differs in what is the owner's only, nothing is written`, async (parts, store) => {
      const ana = await Owned.make(new Scene(parts, store));
      const before = await ana.profile();
      const arriving = { ...before, bio: "not hers", public: true, updated_at: LATER };
      expect(await ana.write([arriving], options)).toEqual(KEPT);
      expect(await ana.profile()).toEqual(before);
    });
  }

  it.everywhere(
    "D-8.1 a row of the last time there is keeps that time, as none is later",
    async (parts, store) => {
      const ana = await Owned.make(new Scene(parts, store));
      const arriving = { ...foreign(), updated_at: "9999-12-31T23:59:59.999999Z" };
      expect(await ana.write([arriving])).toEqual(WRITTEN);
      const { updated_at } = arriving;
      expect(await ana.profile()).toMatchObject({ bio: "own bio", updated_at });
    },
  );

  it("D-8.1 a row that says what the owner says is written as it came", async (parts, store) => {
    const ana = await Owned.make(new Scene(parts, store));
    const arriving = { ...(await ana.profile()), verified: true, updated_at: LATER };
    expect(await ana.write([arriving], GUARD)).toEqual(WRITTEN);
    expect(await ana.profile()).toMatchObject({ verified: true, updated_at: LATER });
  });

  it("D-8.1 an older row is kept out by the guard, and changes no field", async (parts, store) => {
    const ana = await Owned.make(new Scene(parts, store));
    const before = await ana.profile();
    const older = { ...foreign(), updated_at: "2026-02-01T00:00:00Z" };
    expect(await ana.write([older], GUARD)).toEqual(KEPT);
    const justOlder = { ...foreign(), updated_at: "2026-03-01T11:59:59.999999Z" };
    expect(await ana.write([justOlder], GUARD)).toEqual(KEPT);
    expect(await ana.profile()).toEqual(before);
  });

  it.everywhere(
    "D-8.1, D-3.6 several rows of one owner in one push act one after the other",
    async (parts, store) => {
      const ana = await Owned.make(new Scene(parts, store));
      const before = await ana.profile();
      const created = { ...before, created_at: "2020-01-01T00:00:00Z", bio: "not hers" };
      const outcome = await ana.write(
        [
          { ...created, updated_at: LATER },
          { ...created, updated_at: LATER_STILL },
          { ...created, created_at: "2021-01-01T00:00:00Z", updated_at: LATER_STILL },
        ],
        GUARD,
      );
      expect(outcome).toEqual({ ...NOTHING, kept: [1], changed: 2 });
      expect(await ana.profile()).toMatchObject({
        ...{ bio: "own bio", created_at: "2021-01-01T00:00:00Z" },
        updated_at: "2026-03-01T12:00:06.000001Z",
      });
    },
  );

  it("D-8.1 rows of people without an account, or without a password, change whole", async (parts, store) => {
    const scene = new Scene(parts, store);
    const bea = new Owned(scene, "bea");
    const cem = new Owned(scene, "cem");
    const account = { ...(await scene.enrol("dan")), username: "cem", email: null };
    await parts.accounts.create({ ...account, passwordHash: null, issuer: "https://id" });
    await scene.push(PROFILES, { username: "bea", bio: "b" }, { username: "cem", bio: "c" });
    for (const person of [bea, cem]) {
      const arriving = { ...foreign(), username: person.username, updated_at: LATER };
      expect(await person.write([arriving], GUARD)).toEqual(WRITTEN);
      expect(await person.profile()).toMatchObject({ ...arriving, updated_at: LATER });
    }
  });
}

function travelTests(harness: ReputationHarness): void {
  const it = storeTests(harness);
  const old = "2025-01-01T00:00:00Z";

  it("D-8.1, D-7.4 a row with the owner's fields is told to where it came from", async (parts, store) => {
    const ana = await Owned.make(new Scene(parts, store));
    const before = await ana.profile();
    await ana.write([{ ...before, updated_at: old }]);
    const look = await ana.lateFrom();
    const arriving = { ...foreign(), updated_at: "2025-01-02T00:00:00Z" };
    await ana.write([arriving], { ...GUARD, isOwnRun: true });
    expect(await look()).toBe("2025-01-02T00:00:00.000001Z");
  });

  it("D-8.1 of a row that is not written nothing is noted", async (parts, store) => {
    const ana = await Owned.make(new Scene(parts, store));
    const before = await ana.profile();
    await ana.write([{ ...before, updated_at: old }]);
    const look = await ana.lateFrom();
    const arriving = { ...before, bio: "x", updated_at: "2025-01-02T00:00:00Z" };
    for (const options of [{}, GUARD, { ...GUARD, isOwnRun: true }]) {
      expect(await ana.write([arriving], options)).toEqual(KEPT);
    }
    expect(await look()).toBeNull();
  });

  it("D-8.1 a refused record fails without a row, and nothing is noted", async (parts, store) => {
    const ana = await Owned.make(new Scene(parts, store));
    await parts.storage.documents.transact({ name: "test" }, (tx) =>
      tx.tables.change(PROFILES, "username", "ana", null),
    );
    const look = await ana.lateFrom();
    const writes = [{ index: 0, row: { username: "ana", updated_at: old }, refused: "Not this" }];
    const failures = [{ index: 0, message: "Not this" }];
    const options = { ...GUARD, isOwnRun: true };
    const outcome = await writeTo(parts.storage, PROFILES, writes, options);
    expect(outcome).toEqual({ ...NOTHING, failures });
    expect(await look()).toBeNull();
  });
}

function verifiedTests(harness: ReputationHarness): void {
  const it = storeTests(harness);

  it("D-8.1 a verified profile that gets another name is verified no more", async (parts, store) => {
    const ana = await Owned.make(new Scene(parts, store));
    await ana.write([{ ...(await ana.profile()), verified: true, updated_at: LATER }]);
    expect(await ana.change({ displayName: "Ana", bio: "b" })).toMatchObject({ verified: true });
    const renamed = { displayName: "Bank of Indonesia (official)" };
    expect(await ana.change(renamed)).toMatchObject({ verified: false });
    expect(await ana.profile()).toMatchObject({ verified: false });
  });

  for (const [what, name] of [
    ["the old name", { display_name: "Ana" }],
    ["no name", { display_name: null }],
  ] as const) {
    it(`D-8.1 a row with ${what} does not verify another name`, async (parts, store) => {
      const ana = await Owned.make(new Scene(parts, store));
      await ana.change({ displayName: "Bank of Indonesia (official)" });
      const before = await ana.profile();
      const arriving = { ...before, ...name, verified: true, updated_at: LATER };
      expect(await ana.write([arriving], GUARD)).toEqual(KEPT);
      const other = { ...arriving, created_at: "2020-01-01T00:00:00Z" };
      expect(await ana.write([other], GUARD)).toEqual(WRITTEN);
      const { display_name, verified } = (await ana.profile()) ?? {};
      expect([display_name, verified]).toEqual(["Bank of Indonesia (official)", false]);
    });
  }

  it("D-8.1 a row with another name does not take verified away", async (parts, store) => {
    const ana = await Owned.make(new Scene(parts, store));
    await ana.write([{ ...(await ana.profile()), verified: true, updated_at: LATER }]);
    const arriving = { ...foreign(), verified: false, updated_at: LATER_STILL };
    expect(await ana.write([arriving], GUARD)).toEqual(WRITTEN);
    expect(await ana.profile()).toMatchObject({ display_name: "Ana", verified: true });
  });
}

function ownerTests(harness: ReputationHarness): void {
  const it = storeTests(harness);

  it("D-8.1 a change by the owner is later than the row that came last", async (parts, store) => {
    const ana = await Owned.make(new Scene(parts, store));
    const arriving = { ...(await ana.profile()), created_at: LATER, updated_at: LATER };
    expect(await ana.write([arriving], GUARD)).toEqual(WRITTEN);
    const changed = { bio: "newer", updated_at: "2026-03-01T12:00:05.000001Z" };
    expect(await ana.change({ bio: "newer" })).toMatchObject(changed);
    const ahead = { ...arriving, created_at: null, updated_at: "2026-03-01T12:05:01Z" };
    expect(await ana.write([ahead])).toEqual(WRITTEN);
    expect(await ana.change({ bio: "b" })).toMatchObject({ updated_at: "2026-03-01T12:00:00Z" });
  });

  it("D-8.1 a delete by hand leaves it", async (parts, store) => {
    const ana = await Owned.make(new Scene(parts, store));
    const deleting = deleteRow(parts.storage, { ...PROFILES, deletes: true }, { username: "ana" });
    await expect(deleting).rejects.toMatchObject({
      ...{ kind: "conflict", message: "The owner of the profile alone removes it" },
    });
    expect(await ana.profile()).toMatchObject({ bio: "own bio" });
  });

  it("D-8.1 what the owner of any account has hidden stays hidden", async (parts, store) => {
    const scene = new Scene(parts, store);
    const dan = await scene.enrol("dan");
    const account = { ...dan, username: "cem", email: null, passwordHash: null };
    await parts.accounts.create({ ...account, issuer: "https://id" });
    await scene.push(PROFILES, { username: "cem", bio: "c", public: false, updated_at: LATER });
    const cem = new Owned(scene, "cem");
    const shown = { username: "cem", public: true, updated_at: LATER_STILL };
    await cem.write([shown], GUARD);
    expect(await cem.profile()).toMatchObject({ public: true });
    await cem.change({ public: false });
    await cem.change({ location: "here" });
    const arriving = { ...(await cem.profile()), public: true, updated_at: at(7) };
    expect(await cem.write([arriving], GUARD)).toEqual(KEPT);
    expect(await cem.write([{ ...arriving, bio: "new" }], GUARD)).toEqual(WRITTEN);
    expect(await cem.profile()).toMatchObject({ public: false, bio: "new" });
    await parts.storage.documents.transact({ name: "test" }, (tx) =>
      tx.tables.change(PROFILES, "username", "cem", null),
    );
    expect(await cem.profile()).toBeNull();
    expect(await cem.write([{ ...shown, updated_at: at(7) }], GUARD)).toEqual(WRITTEN);
    expect(await cem.profile()).toMatchObject({
      ...{ public: false, updated_at: "2026-03-01T12:00:07.000001Z" },
    });
    await cem.change({ public: true });
    await cem.change({ location: "there" });
    const hidden = { ...(await cem.profile()), public: false, updated_at: at(8) };
    expect(await cem.write([hidden], GUARD)).toEqual(WRITTEN);
    expect(await cem.write([{ ...hidden, public: true }], GUARD)).toEqual(WRITTEN);
  });
}

function at(second: number): string {
  return `2026-03-01T12:00:0${second}Z`;
}

/** A row of Ana's as another deployment has it. */
function foreign(): Row {
  return {
    ...{ username: "ana", display_name: "Not Ana", bio: "not hers", profession: "thief" },
    ...{ location: "elsewhere", verified: false, public: true },
    created_at: "2019-01-01T00:00:00Z",
  };
}

/** A profile, written as sync and its owner do. */
class Owned {
  readonly username: string;
  readonly #scene: Scene;
  readonly #parts: ReputationParts;

  constructor(scene: Scene, username: string) {
    this.username = username;
    this.#scene = scene;
    this.#parts = scene.parts;
  }

  /** Ana with her profile. */
  static async make(scene: Scene): Promise<Owned> {
    await scene.enrol("ana");
    const ana = new Owned(scene, "ana");
    await ana.change(OWN);
    return ana;
  }

  async change(changes: Parameters<ReputationParts["profiles"]["change"]>[1]) {
    return await this.#parts.profiles.change(this.username, changes, this.#scene.store.nowMs());
  }

  /** The row without its number. */
  async profile(): Promise<JsonObject | null> {
    const { profile } = await this.#parts.profiles.read(this.username);
    if (profile === null) return null;
    const { id: _, ...row } = profile;
    return row;
  }

  /** Writes rows; columns that are not given are null. */
  async write(rows: readonly JsonObject[], options: WriteToOptions = {}): Promise<WrittenTo> {
    const nothing = PROFILES.pushColumns.map(({ name }) => [name, null] as const);
    const writes = rows.map((row, index) => ({
      index,
      row: { ...Object.fromEntries(nothing), ...row },
    }));
    return await writeTo(this.#parts.storage, PROFILES, writes, options);
  }

  /** Tells the earliest time noted for the own pushes from now on. */
  async lateFrom() {
    const { lateRows } = this.#parts.storage;
    const { mark } = await lateRows.read(PROFILES, { lateAfter: null, isForOwnPush: true });
    return async () =>
      (await lateRows.read(PROFILES, { lateAfter: mark, isForOwnPush: true })).from;
  }
}
