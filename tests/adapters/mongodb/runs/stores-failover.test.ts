// A three-member set whose primary is killed while two instances sign in, hold leases and note refusals.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openMongoStorage } from "../../../../src/adapters/mongodb/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { NO_ROWS } from "../../../../src/domain/sync/run/run.ts";
import { SignIns } from "../../../../src/repositories/accounts/sessions.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { Runs } from "../../../../src/repositories/runs.ts";
import { makeAccount, People } from "../../../repositories/support/people.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { commitAlone } from "../../../support/rows/write-to.ts";
import { type RunStorage, withRunParts } from "../../../support/run-parts.ts";
import { type ReplicaSet, startReplicaSet } from "../../../support/stores/mongo-replica-set.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";

const ITEMS = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } });
const TEST_TIMEOUT_MS = 240_000;
const KILLS = 2;
/** Long enough that no lease runs out during an election. */
const TTL_MS = 60_000;
const WINDOW_MS = 3_600_000;

/** Looks at one promise of a store, on both instances; `n` is another one each time. */
type Check = (n: number, here: RunStorage, there: RunStorage) => Promise<void>;

describe.skipIf(!mongoAvailable)("MongoDB failover of stores", () => {
  let set: ReplicaSet;

  beforeAll(async () => {
    set = await startReplicaSet({ members: 3 });
  }, TEST_TIMEOUT_MS);

  afterAll(async () => {
    await set?.stop();
  }, TEST_TIMEOUT_MS);

  const open = async () => {
    const options = { clock: new SystemClock(), collections: COLLECTIONS };
    const storage = await openMongoStorage({ url: set.uri("stores"), ...options });
    await storage.documents.prepare(COLLECTIONS);
    return withRunParts(storage);
  };

  test(
    "D-6.3 a killed primary breaks no promise of a store, and fails no call",
    async () => {
      const [here, there] = await Promise.all([open(), open()]);
      await here.tables.prepare([ITEMS]);
      const checks = [sessionEnds, oneWins, countsOnce, notesOnce, holdsAlone, savesInOrder];
      const workers = checks.map((check) => new Worker(check, here, there));
      for (let kill = 0; kill < KILLS; kill++) {
        await Promise.all(workers.map((worker) => worker.progress()));
        const primary = await set.primary();
        await primary.kill();
        await Promise.all(workers.map((worker) => worker.progress()));
        await primary.restart();
      }
      await Promise.all(workers.map((worker) => worker.stop()));
      await Promise.all([here.close(), there.close()]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    "D-6.3 isKnown() does not answer from a primary that has lost its majority",
    async () => {
      const storage = await open();
      const people = new People(storage.documents);
      await people.accounts.create(makeAccount("lonely"));
      await people.begin("s", "lonely", Date.now() + WINDOW_MS);
      const primary = await set.primary();
      const others = set.members.filter((member) => member !== primary);
      await Promise.all(others.map((member) => member.freeze()));
      let isAnswered = false;
      const asked = people.isKnown("s", "lonely").then((isKnown) => {
        isAnswered = true;
        return isKnown;
      });
      try {
        // What the primary answers without the others, as long as it takes itself for one.
        for (let n = 0; n < 20; n++) await storage.ping(800).catch(() => {});
        expect(isAnswered).toBe(false);
      } finally {
        for (const member of others) member.thaw();
      }
      expect(await asked).toBe(true);
      await storage.close();
    },
    TEST_TIMEOUT_MS,
  );
});

/** Repeats a check until `stop()`. */
class Worker {
  #rounds = 0;
  #isStopping = false;
  #onRound: () => void = () => {};
  readonly #work: Promise<void>;

  constructor(check: Check, here: RunStorage, there: RunStorage) {
    this.#work = this.#run(check, here, there);
  }

  /** Resolves after two more rounds: the second began after the call. Throws when a check failed. */
  async progress(): Promise<void> {
    const goal = this.#rounds + 2;
    const reached = new Promise<void>((resolve) => {
      this.#onRound = () => {
        if (this.#rounds >= goal) resolve();
      };
    });
    await Promise.race([reached, this.#work]);
  }

  /** Lets the running round end. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#work;
  }

  async #run(check: Check, here: RunStorage, there: RunStorage): Promise<void> {
    while (!this.#isStopping) {
      const isOdd = this.#rounds % 2 === 1;
      await check(this.#rounds, isOdd ? there : here, isOdd ? here : there);
      this.#rounds++;
      this.#onRound();
    }
  }
}

async function sessionEnds(n: number, here: RunStorage, there: RunStorage): Promise<void> {
  const id = `s${n}`;
  const [peopleHere, peopleThere] = [new People(here.documents), new People(there.documents)];
  await peopleHere.accounts.create(makeAccount("bob"));
  await peopleHere.begin(id, "bob", Date.now() + WINDOW_MS);
  expect(await peopleThere.isKnown(id, "bob")).toBe(true);
  await peopleThere.sessions.end({ id, username: "bob" });
  expect(await peopleHere.isKnown(id, "bob")).toBe(false);
}

async function oneWins(n: number, here: RunStorage, there: RunStorage): Promise<void> {
  const [peopleHere, peopleThere] = [new People(here.documents), new People(there.documents)];
  const created = await Promise.all([
    peopleHere.accounts.create(makeAccount(`ana${n}`, { email: `ana${n}@example.org` })),
    peopleThere.accounts.create(makeAccount(`ana${n}`)),
  ]);
  expect(created.toSorted()).toEqual(["created", "username_taken"]);
  expect((await peopleThere.accounts.find(`ana${n}`))?.email === null).toBe(
    created[1] === "created",
  );
  const removed = await Promise.all([peopleHere.remove(`ana${n}`), peopleThere.remove(`ana${n}`)]);
  expect(removed.toSorted()).toEqual([false, true]);
}

async function countsOnce(n: number, here: RunStorage, there: RunStorage): Promise<void> {
  const counter = { key: ["account", n], limit: 3, windowMs: WINDOW_MS, nowMs: Date.now() };
  const counts = [here, there, here, there, here].map(({ documents }) =>
    new SignIns(documents).count([counter]),
  );
  const outcomes = await Promise.all(counts);
  expect(outcomes.filter((seconds) => seconds === null).length).toBe(3);
  const more = { ...counter, limit: 4 };
  expect(await new SignIns(here.documents).retryAfterSeconds([more])).toBeNull();
}

async function notesOnce(n: number, here: RunStorage, there: RunStorage): Promise<void> {
  const key = { k: n };
  const refused = { table: "a", direction: "pull", key, record: null, message: "No" } as const;
  const rejected = [{ ...refused, fingerprint: "f", lastAtMs: n }];
  const notes = [here, there, here].map((storage) => commitAlone(storage, ITEMS, { rejected }));
  await Promise.all(notes);
  const query = { table: "a", direction: null, limit: 1, behindId: null };
  const [entry] = await there.rejected.list(query);
  expect(entry).toMatchObject({ key, attempts: 3 });
  expect(await here.rejected.remove(entry?.id ?? "")).toBe(true);
}

async function holdsAlone(n: number, here: RunStorage, there: RunStorage): Promise<void> {
  const name = "sync push a";
  const held = await here.leases.acquire({ name, holder: `run ${n}`, ttlMs: TTL_MS });
  if ("heldBy" in held) throw new Error(`The lease is held by "${held.heldBy}"`);
  const refused = await there.leases.acquire({ name, holder: "other", ttlMs: TTL_MS });
  expect(refused).toEqual({ heldBy: `run ${n}` });
  expect(await held.renew()).toBe(true);
  await held.release();
}

async function savesInOrder(n: number, here: RunStorage, there: RunStorage): Promise<void> {
  const [runsHere, runsThere] = [new Runs(here.documents), new Runs(there.documents)];
  await runsHere.save(makeRun(`${n}a`));
  await runsThere.save(makeRun(`${n}b`));
  await runsThere.save({ ...makeRun(`${n}a`), status: "success" });
  const runs = await runsHere.list({ limit: 2, beforeId: null });
  expect(runs.map(({ runId, status }) => [runId, status])).toEqual([
    [`${n}b`, "running"],
    [`${n}a`, "success"],
  ]);
}

function makeRun(id: string) {
  return {
    runId: id,
    kind: "sync",
    trigger: "api",
    status: "running",
    direction: "both",
    tables: {},
    totalPushed: 0,
    totalPulled: 0,
    errorCount: 0,
    ...NO_ROWS,
    startedAt: "2024-01-01T00:00:00Z",
    finishedAt: null,
    durationMs: 0,
    fullSync: false,
  } as const;
}
