// D-6.5: what a lookup's reply rests on is on the disk before it is sent. SQLite commits a batch without waiting for the
// disk, and the log is synced once for all batches that wait (docs/decisions/0040).
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, renameSync, statSync, symlinkSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { openBunSqlite } from "../../../../src/adapters/sqlite/driver/bun-driver.ts";
import type { SqliteOptions } from "../../../../src/adapters/sqlite/driver/database.ts";
import type { OpenSqlite } from "../../../../src/adapters/sqlite/driver/driver.ts";
import type { OpenSyncedFile } from "../../../../src/adapters/sqlite/driver/wal-sync.ts";
import { SqliteStorage } from "../../../../src/adapters/sqlite/storage.ts";
import {
  NO_DEADLINE,
  openParts,
  Scene,
  wordOf,
} from "../../../contract/lookups/reputation-harness.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { SEED } from "../../../support/seed.ts";
import { SeededRandom } from "../../../support/seeded-random.ts";
import { remembering } from "../reputation-support.ts";
import { failureOf, SqliteFile } from "../support.ts";

const TIME = { nowMs: () => Date.now(), advance: async () => {}, dispose: async () => {} };
const LIMITS = { callsPerMinute: 30, callsPerMonth: 1_000 };
const BATCHES = 80;
const SQLITE_IOERR = 10;

/** A scene on a file whose log is synced by `openLog`. */
async function setScene(file: SqliteFile, openLog: OpenSyncedFile, options: SqliteOptions = {}) {
  return await sceneIn(await file.open({ openLog, ...options }));
}

async function sceneIn(storage: SqliteStorage) {
  const parts = await openParts(storage, remembering);
  const scene = new Scene(parts, { storage: parts, ...TIME });
  await scene.enrol("ana", { plan: "enterprise" });
  const { hash } = await scene.giveKey("ana");
  return { parts, scene, hash };
}

/** Lets everything happen that can happen without waiting for anything outside. */
async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The disk's threads take their time. */
async function turnsUntil(isReached: () => boolean): Promise<void> {
  while (!isReached()) await new Promise((resolve) => setImmediate(resolve));
}

function requestIds(database: Database): Set<string> {
  const rows = database.query<{ id: string }, []>("SELECT request_id AS id FROM repsync_audit");
  return new Set(rows.all().map(({ id }) => id));
}

describe("SQLite: durable before the reply", () => {
  test("D-6.5 a lookup is answered after a sync that began after its commit, and not before", () =>
    SqliteFile.use(async (file) => {
      const events: string[] = [];
      let release = () => {};
      const { scene, hash } = await setScene(file, async (path) => {
        expect(path).toBe(`${file.path}-wal`);
        const log = await open(path, "r+");
        return {
          async datasync() {
            events.push(`sync of ${requestIds(tool).size} records`);
            await new Promise<void>((resolve) => {
              release = resolve;
            });
            await log.datasync();
            events.push("synced");
          },
          close: () => log.close(),
        };
      });
      const tool = file.openElsewhere();
      const answer = async (name: string) => {
        await scene.lookUp(hash, "x");
        events.push(`answered ${name}`);
      };
      const first = answer("first");
      await turnsUntil(() => events.length > 0);
      await manyTurns();
      // It is committed, so anybody can see it, and it is not answered.
      expect(events).toEqual(["sync of 1 records"]);
      const others = [answer("second"), answer("third")];
      await turnsUntil(() => requestIds(tool).size === 3);
      // They were committed after that sync had begun: it is not theirs.
      release();
      await first;
      await turnsUntil(() => events.length >= 4);
      expect(events[1]).toBe("synced");
      expect(events.slice(2).sort()).toEqual(["answered first", "sync of 3 records"]);
      release();
      await Promise.all(others);
      expect(events.slice(4)).toEqual(["synced", "answered second", "answered third"]);
    }));

  test("D-6.5, D-5.8 when the disk fails nobody is answered, and the calls are given back", () =>
    SqliteFile.use(async (file) => {
      let isFailing = true;
      const { parts, scene, hash } = await setScene(
        file,
        failingWhile(() => isFailing),
      );
      const fellow = await scene.giveKey("ana");
      const failures = await Promise.all(
        [hash, fellow.hash, hash].map((key) => failureOf(scene.lookUp(key, "x"))),
      );
      for (const failure of failures) expect(failure).toMatchObject({ kind: "store_unavailable" });
      isFailing = false;
      expect(wordOf(await scene.lookUp(hash, "x"))).toBe("profile_not_found");
      const used = async () => {
        const { reading } = await parts.usage.read("ana", LIMITS);
        return [reading.minuteCalls, reading.month?.used];
      };
      expect(await used()).toEqual([1, 1]);
      // Once: later calls stay counted.
      for (let i = 0; i < 2; i++) await scene.lookUp(hash, "x");
      expect(await used()).toEqual([3, 3]);
    }));

  test("D-6.5, D-6.4 calls are given back to their own month only", () =>
    SqliteFile.use(async (file) => {
      let isFailing = true;
      const clock = new FakeClock("2026-03-31T23:59:59.999Z");
      const { parts, scene, hash } = await setScene(
        file,
        failingWhile(() => isFailing),
        { clock },
      );
      const month = async () => (await parts.usage.read("ana", LIMITS)).reading.month;
      expect(await failureOf(scene.lookUp(hash, "x"))).toMatchObject({ kind: "store_unavailable" });
      expect(await month()).toEqual({ month: "2026-03", used: 1 });
      isFailing = false;
      clock.advance(1);
      const other = await openParts(await file.open({ clock }), remembering);
      await new Scene(other, { storage: other, ...TIME }).lookUp(hash, "x");
      await scene.lookUp(hash, "x");
      expect(await month()).toEqual({ month: "2026-04", used: 2 });
    }));

  test.each(["a lookup", "a grant of consent"])(
    "D-6.5 after the disk has failed %s is acknowledged only when the database file itself holds all before it",
    (what) =>
      SqliteFile.use(async (file) => {
        let isFailing = true;
        const { parts, scene, hash } = await setScene(
          file,
          failingWhile(() => isFailing),
        );
        const tool = file.openElsewhere();
        tool.query("PRAGMA wal_checkpoint").all();
        expect(await failureOf(scene.lookUp(hash, "x"))).not.toBeNull();
        const [committed = ""] = requestIds(tool);
        expect(requestIdsWithoutLog(file)).not.toContain(committed);
        isFailing = false;
        if (what === "a lookup") await scene.lookUp(hash, "x");
        else await parts.consents.grant("ana", { ...GRANT, nowMs: Date.now() });
        expect(requestIdsWithoutLog(file)).toContain(committed);
      }),
  );

  test("D-6.5 a commit that the disk fails puts the log in doubt as a sync does", () =>
    SqliteFile.use(async (file) => {
      let isFailing = false;
      const openSqlite = failingToCommitWhile(() => isFailing);
      const { scene, hash } = await sceneIn(await file.open({}, openSqlite));
      const tool = file.openElsewhere();
      tool.query("PRAGMA wal_checkpoint").all();
      await scene.lookUp(hash, "x");
      const [committed = ""] = requestIds(tool);
      isFailing = true;
      expect(await failureOf(scene.lookUp(hash, "x"))).toEqual({
        kind: "store_unavailable",
        message: "The database is unavailable: the disk failed",
      });
      expect(requestIdsWithoutLog(file)).not.toContain(committed);
      isFailing = false;
      await scene.lookUp(hash, "x");
      expect(requestIdsWithoutLog(file)).toContain(committed);
    }));

  test("D-6.5 after the disk has failed nothing is acknowledged while the log cannot be emptied", () =>
    SqliteFile.use(async (file) => {
      let isFailing = true;
      const { scene, hash } = await setScene(
        file,
        failingWhile(() => isFailing),
        { busyDeadlineMs: 20 },
      );
      const reader = file.openElsewhere();
      reader.run("BEGIN");
      reader.query("SELECT count(*) FROM repsync_audit").get();
      expect(await failureOf(scene.lookUp(hash, "x"))).not.toBeNull();
      isFailing = false;
      expect(await failureOf(scene.lookUp(hash, "x"))).toEqual({
        kind: "store_unavailable",
        message: "The database is unavailable: another process is using it",
      });
      reader.run("COMMIT");
      expect(wordOf(await scene.lookUp(hash, "x"))).toBe("profile_not_found");
    }));

  test("D-6.5 the log of a database behind a link is the one that is synced", () =>
    SqliteFile.use(async (file) => {
      const link = join(file.folder, "link.db");
      const real = join(file.folder, "real.db");
      await (await file.open()).close();
      renameSync(file.path, real);
      symlinkSync(real, link);
      const paths: string[] = [];
      const storage = await SqliteStorage.open(openBunSqlite, link, {
        openLog: (path) => {
          paths.push(path);
          return open(path, "r+");
        },
      });
      const parts = await openParts(storage, remembering);
      const scene = new Scene(parts, { storage: parts, ...TIME });
      await scene.enrol("ana");
      const { hash } = await scene.giveKey("ana");
      await scene.lookUp(hash, "x");
      expect(paths).toEqual([`${real}-wal`]);
      await storage.close();
    }));
});

describe("SQLite: power loss", () => {
  test("D-6.5 whatever was answered is on the disk, however checkpoints fall between", () =>
    SqliteFile.use(async (file) => {
      expect(await answersLostByPower(file, { isSynced: true })).toEqual([]);
    }));

  test("D-6.5 without the sync answers would be lost", () =>
    SqliteFile.use(async (file) => {
      expect((await answersLostByPower(file, { isSynced: false })).length).toBeGreaterThan(0);
    }));
});

const GRANT = { purpose: "reputation_lookup", expiresAt: null } as const;

function failingWhile(isFailing: () => boolean): OpenSyncedFile {
  return async (path) => {
    const log = await open(path, "r+");
    return {
      datasync: async () => {
        if (isFailing()) throw new Error("EIO");
        await log.datasync();
      },
      close: () => log.close(),
    };
  };
}

/** The real driver, but for what a disk that fails at a commit makes of it. */
function failingToCommitWhile(isFailing: () => boolean): OpenSqlite {
  return async (path) => {
    const connection = await openBunSqlite(path);
    const failure = new Error("disk I/O error");
    return {
      ...connection,
      get isInTransaction() {
        return connection.isInTransaction;
      },
      prepare(sql) {
        const statement = connection.prepare(sql);
        if (sql !== "COMMIT") return statement;
        const run: typeof statement.run = (values) => {
          if (isFailing()) throw failure;
          return statement.run(values);
        };
        return { ...statement, run };
      },
      resultCode: (error) => (error === failure ? SQLITE_IOERR : connection.resultCode(error)),
    };
  };
}

/** The records of the database file alone, as if the log had been lost. */
function requestIdsWithoutLog(file: SqliteFile): string[] {
  const copy = join(file.folder, "copy.db");
  copyFileSync(file.path, copy);
  const database = new Database(copy);
  const ids = [...requestIds(database)];
  database.close();
  return ids;
}

/**
 * Looks people up while another connection checkpoints, and keeps what is certainly on the disk: the log as of the last
 * sync or checkpoint, the database file as of the last checkpoint. After each answer the power is lost: what then is
 * left is opened, and must have the record of the answer. Gives the ids of those that were lost.
 */
async function answersLostByPower(
  file: SqliteFile,
  { isSynced }: { readonly isSynced: boolean },
): Promise<string[]> {
  const log = `${file.path}-wal`;
  const onDisk = join(file.folder, "disk.db");
  const random = new SeededRandom(SEED);
  const keepLog = () => {
    if (existsSync(log)) copyFileSync(log, `${onDisk}-wal`);
  };
  const checkpoint = (tool: Database, mode: string) => {
    keepLog();
    tool.query(`PRAGMA wal_checkpoint(${mode})`).all();
    copyFileSync(file.path, onDisk);
  };
  const someTurns = async () => {
    for (let i = random.int(0, 3); i > 0; i--)
      await new Promise((resolve) => setImmediate(resolve));
  };
  const openLog: OpenSyncedFile = async () => ({
    async datasync() {
      if (isSynced) keepLog();
      await someTurns();
    },
    close: async () => {},
  });
  const { parts, hash } = await setScene(file, openLog);
  const tool = file.openElsewhere();
  checkpoint(tool, "TRUNCATE");
  const lost: string[] = [];
  let images = 0;
  const lookUp = async (requestId: string) => {
    const call = { keyHash: hash, username: "x", endpoint: "profile", requestId } as const;
    await parts.lookupProcessor.decide([call], NO_DEADLINE);
    const image = join(file.folder, `image-${images++}.db`);
    for (const part of ["", "-wal"]) {
      if (existsSync(onDisk + part)) copyFileSync(onDisk + part, image + part);
    }
    const left = new Database(image);
    if (!requestIds(left).has(requestId)) lost.push(requestId);
    left.close();
  };
  for (let batch = 0; batch < BATCHES; batch++) {
    const answers = Array.from({ length: random.int(1, 3) }, (_, i) =>
      lookUp(`request-${batch}-${i}`),
    );
    await someTurns();
    if (random.int(0, 2) === 0) {
      checkpoint(tool, ["PASSIVE", "FULL", "RESTART", "TRUNCATE"][random.int(0, 3)] ?? "PASSIVE");
    }
    await Promise.all(answers);
  }
  expect(statSync(onDisk).size).toBeGreaterThan(0);
  return lost;
}
