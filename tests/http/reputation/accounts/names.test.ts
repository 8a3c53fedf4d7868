// Whose name it is: what sign-up refuses, and what sync may change of a profile with an owner. D-8.1.
import { expect, test } from "bun:test";
import { BUILT_IN_TABLES } from "../../../../src/domain/sync/table/registry-schema.ts";
import type { SyncApp } from "../../support/sync-app.ts";
import { type RunApp, startPair } from "../../sync-runs/support/run-apps.ts";
import { dataOf, jsonBody, PASSWORD, Person } from "../people.ts";
import { onReputationBackends, startReputation } from "../reputation-backends.ts";

async function signUp(app: SyncApp, username: string) {
  const body = { username, email: `${username}@example.com`, password: PASSWORD };
  const reply = await app.send("/v1/signup", jsonBody(body));
  return [reply.status, reply.json["code"]];
}

onReputationBackends("names", (backend) => {
  test("D-8.1 a name that only has platform accounts by sync cannot be signed up", async () => {
    const app = await startReputation(backend);
    const handle = { username: "dian", platform: "github", handle: "dian-real", verified: true };
    expect((await app.push("platform_accounts", { records: [handle] })).json["upserted"]).toBe(1);
    expect(await signUp(app, "dian")).toEqual([409, "username_taken"]);
    expect(await signUp(app, "dia")).toEqual([201, undefined]);
  });
});

onReputationBackends(
  "the administrator's name",
  (backend) => {
    test("D-8.1 the name of ADMIN_USERNAME cannot be signed up while it has no account", async () => {
      const shared = { STORAGE_URL: await backend.makeUrl() };
      const app = await startReputation(backend, shared);
      const other = await startReputation(backend, { ...shared, ADMIN_USERNAME: "second" });
      const second = await Person.signIn(other, "second");
      await second.send("/v1/admin/accounts/root", { method: "DELETE" });
      const release = await second.send("/v1/admin/accounts/root/release", { method: "POST" });
      expect(release.status).toBe(200);
      expect(await signUp(app, "root")).toEqual([409, "username_taken"]);
      expect(await signUp(other, "root")).toEqual([201, undefined]);
    });
  },
  { isFile: true },
);

onReputationBackends("profiles with an owner", (backend) => {
  const row = { username: "sari", display_name: "Sari there", bio: "there", verified: true };
  const [OLD, NEW] = ["2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z"];
  const newest = () => new Date(Date.now() + 1_000).toISOString();

  /** Sari signs up here, and a row of hers arrives from there. */
  async function setScene() {
    const { local, remote } = await startPair({ backend });
    const sari = await Person.signUp(local, "sari");
    const change = (changes: object) => sari.send("/v1/me/profile", jsonBody(changes, "PATCH"));
    await change({ display_name: "Sari", bio: "here", public: false });
    const compare = async (body: object = {}) =>
      (await local.ask("/compare", jsonBody({ table: "profiles", ...body }))).json;
    return { local, remote, change, compare };
  }

  async function profile(app: RunApp) {
    const [found] = await app.rows("profiles");
    const { display_name, bio, verified, public: isPublic, created_at } = found ?? {};
    return { display_name, bio, verified, public: isPublic, created_at };
  }

  test("D-8.1 runs of both directions leave the owner's fields, and carry them on", async () => {
    const { local, remote, compare } = await setScene();
    const there = { ...row, public: true, created_at: OLD, updated_at: newest() };
    await remote.push("profiles", { records: [there] });
    const first = await local.trigger({ table: "profiles" });
    expect(first.json).toMatchObject({ status: "success" });
    const owned = { display_name: "Sari", bio: "here", public: false, created_at: OLD };
    expect(await profile(local)).toEqual({ ...owned, verified: false });
    await local.trigger({ table: "profiles" });
    expect(await profile(remote)).toEqual({ ...owned, verified: false });
    expect(await compare()).toMatchObject({ matched: 1, different: 0 });
    expect((await local.trigger({ table: "profiles" })).json).toMatchObject({ changed: 0 });
  });

  test("D-8.1 no delete of a peer, a file or a comparison takes the owner's profile away, or shows it again", async () => {
    const profiles = { ...BUILT_IN_TABLES["profiles"]!, deletes: true };
    const { local, remote } = await startPair({ backend, tables: { profiles } });
    const sari = await Person.signUp(local, "sari");
    const own = { display_name: "Sari", bio: "here", public: false };
    await sari.send("/v1/me/profile", jsonBody(own, "PATCH"));
    const guard = { "X-Sync-Conflict": "newer" };
    const deleted = [{ key: { username: "sari" }, deleted_at: newest() }];
    const removed = await local.push("profiles", { records: [], deleted }, guard);
    expect(removed.json).toMatchObject({ deleted: 0 });
    await remote.push("profiles", { records: [], deleted });
    expect((await local.trigger({ table: "profiles", direction: "pull" })).status).toBe(200);
    const repair = { table: "profiles", repair: "pull", delete: true };
    await local.ask("/compare", jsonBody(repair));
    const file = jsonBody([{ username: "budi" }]);
    const imported = await local.ask("/import/profiles?whole=true&max_deletes=9", file);
    expect(imported.status).toBe(200);
    const shown = { ...row, public: true, updated_at: new Date(Date.now() + 2_000).toISOString() };
    await local.push("profiles", { records: [shown] }, guard);
    const [found] = (await local.rows("profiles")).filter(({ username }) => username === "sari");
    expect(found).toMatchObject(own);
  });

  test("D-8.1 a push and an import count the row as upserted, and change no field of the owner's", async () => {
    const { local } = await setScene();
    const before = await profile(local);
    const push = async (fields: object, headers = {}) =>
      (await local.push("profiles", { records: [{ ...row, ...fields }] }, headers)).json;
    expect(await push({ created_at: OLD, updated_at: newest() })).toMatchObject({ upserted: 1 });
    expect(await profile(local)).toEqual({ ...before, created_at: OLD });
    const guard = { "X-Sync-Conflict": "newer" };
    const again = { created_at: OLD, updated_at: newest() };
    expect(await push(again, guard)).toMatchObject({ upserted: 1, kept: 1, changed: 0 });
    const other = { ...again, created_at: NEW };
    expect(await push(other, guard)).toMatchObject({ upserted: 1, kept: 0, changed: 1 });
    expect(await profile(local)).toEqual({ ...before, created_at: NEW });
  });

  test("D-8.1 a comparison counts rows that differ in the owner's fields as kept, and a repair by push sends them", async () => {
    const { local, remote, change, compare } = await setScene();
    await local.trigger({ table: "profiles" });
    const stored = (await remote.rows("profiles"))[0] ?? {};
    const there = { ...stored, display_name: "Not Sari", verified: true, updated_at: newest() };
    await remote.push("profiles", { records: [there] });
    const owned = { key: { username: "sari" }, reason: "owner" };
    const found = { matched: 0, different: 0, missing_here: 0, missing_there: 0, kept: 1 };
    for (const repair of [undefined, "pull", "newest"]) {
      const result = await compare(repair === undefined ? {} : { repair });
      expect(result).toMatchObject({ ...found, examples: { different: [], kept: [owned] } });
    }
    expect(await profile(remote)).toMatchObject({ display_name: "Not Sari", verified: true });
    await change({ bio: "newer" });
    expect(await compare({ repair: "push" })).toMatchObject({ ...found, repaired: 1 });
    expect(await profile(remote)).toEqual(await profile(local));
    expect(await compare()).toMatchObject({ matched: 1 });
    expect((await local.items("/runs"))[0]).toMatchObject({ kind: "compare", matched: 1 });
  });

  test("D-8.1 where both ends have an account of the name each keeps its own, and the runs come to rest", async () => {
    const { local, remote, change, compare } = await setScene();
    const there = await Person.signUp(remote, "sari");
    await there.send("/v1/me/profile", jsonBody({ display_name: "Sari there" }, "PATCH"));
    for (let edit = 0; edit < 3; edit++) {
      await change({ location: `edit ${edit}` });
      const created = `2020-01-0${edit + 1}T00:00:00Z`;
      const rows = await remote.rows("profiles");
      await remote.push("profiles", {
        records: [{ ...rows[0], created_at: created, updated_at: newest() }],
      });
      for (let run = 0; run < 2; run++) await local.trigger({ table: "profiles" });
      expect((await local.trigger({ table: "profiles" })).json).toMatchObject({ changed: 0 });
      expect((await local.trigger({ table: "profiles", full: true })).json).toMatchObject({
        ...{ changed: 0, status: "success" },
      });
      const here = { display_name: "Sari", public: false, created_at: created };
      expect(await profile(local)).toMatchObject(here);
      expect(await profile(remote)).toMatchObject({ display_name: "Sari there", public: null });
      expect(await profile(remote)).toMatchObject({ created_at: created });
    }
    const owned = { matched: 0, different: 0, kept: 1, missing_here: 0, missing_there: 0 };
    expect(await compare()).toMatchObject(owned);
  });

  test("D-8.1 a new name of a verified profile is not verified, here and there", async () => {
    const { local, remote, change } = await setScene();
    await local.trigger({ table: "profiles" });
    const verified = { ...(await remote.rows("profiles"))[0], verified: true };
    await remote.push("profiles", { records: [{ ...verified, updated_at: newest() }] });
    await local.trigger({ table: "profiles" });
    expect(await profile(local)).toMatchObject({ verified: true });
    const reply = await change({ display_name: "Bank of Indonesia (official)" });
    expect(dataOf(reply)).toMatchObject({ verified: false });
    await remote.push("profiles", {
      records: [{ ...verified, created_at: OLD, updated_at: newest() }],
    });
    for (let run = 0; run < 2; run++) await local.trigger({ table: "profiles" });
    const renamed = { display_name: "Bank of Indonesia (official)", verified: false };
    for (const app of [local, remote]) expect(await profile(app)).toMatchObject(renamed);
  });
});
