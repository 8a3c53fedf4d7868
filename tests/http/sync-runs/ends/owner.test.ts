// Tables without a timestamp column have one owner, whom the registry names.
import { expect, test } from "bun:test";
import type { TableEntry } from "../../../../src/domain/sync/table/registry-schema.ts";
import { onOneBackend } from "../../support/backends.ts";
import { type JsonFields, SYNC_KEY } from "../../support/sync-app.ts";
import { startForwarder } from "../support/forwarder.ts";
import { type RunApp, readEvents, startRunApp } from "../support/run-apps.ts";

type Direction = "push" | "pull";

const AIRPORTS: TableEntry = {
  upsert_key: ["code"],
  columns: { code: { type: "text" }, city: { type: "text" } },
};
const owned = (direction: Direction): TableEntry => ({ ...AIRPORTS, direction });
const TIMED: TableEntry = {
  timestamp_column: "at",
  upsert_key: ["code"],
  columns: { code: { type: "text" }, at: { type: "datetime" } },
};

/** Writes airports as the programs of a deployment do: code and city. */
async function write(app: RunApp, cities: Readonly<Record<string, string>>, table = "airports") {
  const records = Object.entries(cities).map(([code, city]) => ({ code, city }));
  expect((await app.push(table, { records })).json["upserted"]).toBe(records.length);
}

async function cities(app: RunApp, table = "airports"): Promise<string> {
  return (await app.rows(table)).map(({ code, city }) => `${code} ${city}`).join(", ");
}

async function deploymentId(app: RunApp): Promise<string> {
  return String((await app.send("/api/v1/sync/status")).headers.get("repsync-deployment"));
}

async function schemaOf(app: RunApp): Promise<JsonFields> {
  const headers = { "X-Sync-Key": SYNC_KEY };
  return (await app.send("/api/v1/sync/schema/airports", { headers })).json;
}

const warningsOf = ({ json }: { json: JsonFields }, table = "airports") =>
  (json["tables"] as Readonly<Record<string, JsonFields>>)[table]?.["warnings"];

const NO_OWNER =
  "Without a time nobody can tell which end's row is newer in " +
  '"airports"; run push or pull, name the owner by "direction", or let repsync keep a time (tables stamp)';

onOneBackend("owners of tables", (backend) => {
  const pair = (here: TableEntry, there: TableEntry = here, more = {}) =>
    startPairOf({ airports: here, ...more }, { airports: there, ...more });

  async function startPairOf(
    here: Readonly<Record<string, TableEntry>>,
    there: Readonly<Record<string, TableEntry>>,
  ) {
    const remote = await startRunApp({ backend, tables: there });
    const env = { SYNC_REMOTE_URL: remote.url };
    return { remote, local: await startRunApp({ backend, tables: here, env }) };
  }

  /** Two deployments that are each other's remote. */
  async function mutualPair(here: TableEntry, there: TableEntry) {
    const way = startForwarder();
    const env = { SYNC_REMOTE_URL: way.url };
    const remote = await startRunApp({ backend, tables: { airports: there }, env });
    const local = await startRunApp({
      ...{ backend, tables: { airports: here }, env: { SYNC_REMOTE_URL: remote.url } },
    });
    way.target = local.url;
    return { local, remote };
  }

  test("D-11.9 both ends a table without time and owner before its first row, and no edit is lost", async () => {
    const { local, remote } = await pair(AIRPORTS);
    await write(remote, { "00M": "Bay Springs", "00R": "Livingston" });
    const first = await local.trigger({ table: "airports" });
    expect([first.status, await cities(local)]).toEqual([200, "00M Bay Springs, 00R Livingston"]);
    await write(local, { "00M": "edited here" });
    await write(remote, { "00R": "edited there" });
    for (const body of [{}, { table: "airports" }, { table: "airports", full: true }]) {
      const reply = await local.trigger(body);
      expect([reply.status, reply.json]).toEqual([500, { error: NO_OWNER, type: "sync_error" }]);
    }
    const dry = await local.trigger({ table: "airports", dry_run: true });
    expect([dry.status, dry.json["error"]]).toEqual([500, NO_OWNER]);
    expect(await cities(local)).toBe("00M edited here, 00R Livingston");
    expect(await cities(remote)).toBe("00M Bay Springs, 00R edited there");
    const pushed = await local.trigger({ table: "airports", direction: "push" });
    expect([pushed.status, await cities(remote)]).toEqual([200, "00M edited here, 00R Livingston"]);
  });

  test("D-11.9 both fills the end that is empty, whichever it is", async () => {
    const { local, remote } = await pair(AIRPORTS);
    await write(local, { a: "1" });
    expect((await local.trigger({ table: "airports" })).status).toBe(200);
    expect(await cities(remote)).toBe("a 1");
  });

  test("D-11.9 a run of all tables moves the others, and names each that has no owner", async () => {
    const more = { cars: AIRPORTS, timed: TIMED };
    const { local, remote } = await pair(AIRPORTS, AIRPORTS, more);
    for (const app of [local, remote]) {
      await write(app, { a: app.url });
      await write(app, { a: app.url }, "cars");
    }
    await local.push("timed", { records: [{ code: "x", at: "2026-01-01T00:00:00Z" }] });
    const reply = await local.trigger();
    const [run] = await local.items("/runs");
    const events = readEvents(await local.ask(`/runs/${run?.["run_id"]}/events`));
    const errors = events.filter(({ type }) => type === "error");
    expect(errors.map(({ table, error }) => [table, error])).toEqual([
      ["airports", NO_OWNER],
      ["cars", NO_OWNER.replace("airports", "cars")],
    ]);
    const error = NO_OWNER.replace('"airports"', '"airports", "cars"');
    expect([reply.status, reply.json]).toEqual([500, { error, type: "sync_error" }]);
    expect(run).toMatchObject({ status: "failed", error, tables: { timed: { pushed: 1 } } });
    expect(await remote.rows("timed")).toHaveLength(1);
    for (const app of [local, remote]) expect(await cities(app, "cars")).toBe(`a ${app.url}`);
  });

  const WAYS = [
    ["push", "pull", "This end owns the rows"],
    ["pull", "push", "The remote owns the rows"],
  ] as const;

  test.each(WAYS)(
    "D-11.9 with direction %p a run by that name goes no other way, unless forced",
    async (direction, other, text) => {
      const { local, remote } = await pair(owned(direction), owned(other));
      await write(local, { a: "here" });
      await write(remote, { a: "there" });
      const refused = await local.trigger({ table: "airports", direction: other });
      expect([refused.status, refused.json["type"]]).toEqual([500, "sync_error"]);
      expect(refused.json["error"]).toContain(`${text} ("direction": "${direction}")`);
      const all = await local.trigger({ direction: other });
      expect([all.status, all.json["status"]]).toEqual([200, "success"]);
      expect(warningsOf(all)).toEqual([refused.json["error"]]);
      expect([await cities(local), await cities(remote)]).toEqual(["a here", "a there"]);
      for (const body of [{ table: "airports" }, {}]) {
        const both = await local.trigger(body);
        expect([both.status, warningsOf(both)]).toEqual([200, []]);
        const owner = direction === "push" ? "a here" : "a there";
        expect([await cities(local), await cities(remote)]).toEqual([owner, owner]);
      }
      await write(local, { a: "here again" });
      await write(remote, { a: "there again" });
      const forced = await local.trigger({ direction: other, force: true });
      expect([forced.status, warningsOf(forced)]).toEqual([200, []]);
      const winner = direction === "push" ? "a there again" : "a here again";
      expect([await cities(local), await cities(remote)]).toEqual([winner, winner]);
    },
  );

  test("D-11.9 a table with times goes one way too where the registry says so", async () => {
    const timed: TableEntry = { ...TIMED, direction: "push" };
    const { local, remote } = await startPairOf({ timed }, { timed: TIMED });
    const at = "2026-01-01T00:00:00Z";
    await remote.push("timed", { records: [{ code: "there", at }] });
    await local.push("timed", { records: [{ code: "here", at }] });
    expect((await local.trigger()).status).toBe(200);
    expect((await local.rows("timed")).map(({ code }) => code)).toEqual(["here"]);
    expect((await remote.rows("timed")).map(({ code }) => code)).toEqual(["here", "there"]);
  });

  test("D-11.9.3 a push over HTTP is written whatever the direction says", async () => {
    const { local } = await pair(owned("pull"), owned("push"));
    await write(local, { a: "1" });
    expect(await cities(local)).toBe("a 1");
  });

  test("D-11.9.1 schema tells the direction and the id of the own remote, which is asked for its status first", async () => {
    const { local, remote } = await mutualPair(owned("push"), owned("pull"));
    expect(await schemaOf(local)).toMatchObject({
      ...{ direction: "push", remote_id: await deploymentId(remote) },
    });
    expect(await schemaOf(remote)).toMatchObject({
      ...{ direction: "pull", remote_id: await deploymentId(local) },
    });
    const alone = await startRunApp({ backend, tables: { airports: AIRPORTS } });
    expect(await schemaOf(alone)).toMatchObject({ direction: null, remote_id: null });
    const env = { SYNC_REMOTE_URL: "http://127.0.0.1:1" };
    const lost = await startRunApp({ backend, tables: { airports: owned("pull") }, env });
    expect(await schemaOf(lost)).toMatchObject({ direction: "pull", remote_id: null });
  });

  const SAME = [
    ["push", 'set "pull" in the registry of the end that does not own the rows'],
    ["pull", 'set "push" in the registry of the end that owns the rows'],
  ] as const;

  test.each(SAME)(
    "D-11.9.1 where both ends say %p and are each other's remote, the table ends with what to change",
    async (direction, advice) => {
      const { local, remote } = await mutualPair(owned(direction), owned(direction));
      await write(local, { a: "here" });
      await write(remote, { a: "there" });
      const error = `Both ends say "direction": "${direction}" of "airports"; ${advice}`;
      for (const body of [{}, { table: "airports", direction }]) {
        const reply = await local.trigger(body);
        expect([reply.status, reply.json]).toEqual([500, { error, type: "sync_error" }]);
      }
      const repaired = await local.ask("/compare", {
        ...{ method: "POST", headers: { "Content-Type": "application/json" } },
        body: JSON.stringify({ table: "airports", repair: "newest" }),
      });
      expect([repaired.status, repaired.json]).toEqual([500, { error, type: "sync_error" }]);
      expect([await cities(local), await cities(remote)]).toEqual(["a here", "a there"]);
    },
  );

  test("D-11.9.1 where only the words are equal there is one warning", async () => {
    const { local, remote } = await pair(owned("push"));
    await write(local, { a: "here" });
    const reply = await local.trigger({ table: "airports" });
    expect([reply.status, await cities(remote)]).toEqual([200, "a here"]);
    expect(warningsOf(reply)).toEqual([
      'Both ends have "direction": "push" for "airports", and the remote has another remote than this ' +
        "deployment: see that only one end is written to",
    ]);
  });
});

onOneBackend("repairs of tables without times", (backend) => {
  async function repaired(here: TableEntry, there: TableEntry) {
    const remote = await startRunApp({ backend, tables: { airports: there } });
    const env = { SYNC_REMOTE_URL: remote.url };
    const local = await startRunApp({ backend, tables: { airports: here }, env });
    await write(local, { a: "here", b: "here", same: "1" });
    await write(remote, { a: "there", c: "there", same: "1" });
    const reply = await local.ask("/compare", {
      ...{ method: "POST", headers: { "Content-Type": "application/json" } },
      body: JSON.stringify({ table: "airports", repair: "newest" }),
    });
    expect(reply.status).toBe(200);
    return { reply: reply.json, cities: [await cities(local), await cities(remote)] };
  }

  test("D-11.9.2 repair newest without an owner keeps what differs and what is missing", async () => {
    const { reply, cities: left } = await repaired(AIRPORTS, AIRPORTS);
    expect(reply).toMatchObject({ matched: 1, repaired: 0, kept: 3 });
    const { kept } = reply["examples"] as { kept: JsonFields[] };
    const order = (a: JsonFields, b: JsonFields) =>
      JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
    expect([...kept].sort(order)).toEqual([
      { key: { code: "a" }, reason: "no_owner" },
      { key: { code: "b" }, reason: "no_owner" },
      { key: { code: "c" }, reason: "no_owner" },
    ]);
    expect(left).toEqual(["a here, b here, same 1", "a there, c there, same 1"]);
  });

  test("D-11.9.2 repair newest goes by the owner, from it only", async () => {
    const mine = await repaired(owned("push"), owned("pull"));
    expect(mine.reply).toMatchObject({ repaired: 2, kept: 0 });
    expect(mine.cities).toEqual(["a here, b here, same 1", "a here, b here, c there, same 1"]);
    const theirs = await repaired(owned("pull"), owned("push"));
    expect(theirs.reply).toMatchObject({ repaired: 2, kept: 0 });
    expect(theirs.cities).toEqual(["a there, b here, c there, same 1", "a there, c there, same 1"]);
  });
});
