// D-6.3, D-6.5, D-5.8, D-8.3: what a disk that fails or stalls makes of lookups.
import { describe, expect, spyOn, test } from "bun:test";
import { openBunSqlite } from "../../../../src/adapters/sqlite/driver/bun-driver.ts";
import type { OpenSqlite } from "../../../../src/adapters/sqlite/driver/connection.ts";
import {
  openParts,
  PROFILES,
  realScene,
  Scene,
  wordOf,
} from "../../../contract/lookups/reputation-harness.ts";
import { auditRecords } from "../../../support/audit-views.ts";
import { failureOf } from "../../../support/failures.ts";
import { FakeClock } from "../../../support/time/fake-clock.ts";
import { remembering } from "../../../support/value-caches.ts";
import { SqliteFile } from "../support.ts";

const LIMITS = { callsPerMinute: 1_000_000, callsPerMonth: null };
const UNLIMITED = { plan: "enterprise", rateLimitPerMinute: 1_000_000 } as const;
const SQLITE_IOERR = 10;
const SQLITE_FULL = 13;
/** As many as a full disk fails in some seconds. */
const FAILURES = 9_500;

/** A disk that a test fills and empties. */
class Disk {
  /** Of every commit; null: it works. */
  resultCode: number | null = null;
  /** Called after every commit. */
  committed: () => void = () => {};
  readonly #error = new Error("the disk");

  /** The driver of the service on this disk. */
  readonly openSqlite: OpenSqlite = async (path) => {
    const connection = await openBunSqlite(path);
    return {
      ...connection,
      get isInTransaction() {
        return connection.isInTransaction;
      },
      prepare: (sql) => {
        const statement = connection.prepare(sql);
        if (sql !== "COMMIT") return statement;
        const run: typeof statement.run = (values) => {
          if (this.resultCode !== null) throw this.#error;
          const changes = statement.run(values);
          this.committed();
          return changes;
        };
        return { ...statement, run };
      },
      resultCode: (error) =>
        error === this.#error ? this.resultCode : connection.resultCode(error),
    };
  };
}

describe("SQLite: lookups and the disk", () => {
  test("D-6.5 every commit waits for the disk: the log is synced before a lookup is answered", () =>
    SqliteFile.use(async (file) => {
      const settings = new Set<string>();
      const parts = await openParts(
        await file.open({}, async (path) => {
          const connection = await openBunSqlite(path);
          const prepare: typeof connection.prepare = (sql) => {
            if (/synchronous|journal_mode/.test(sql)) settings.add(sql);
            return connection.prepare(sql);
          };
          return { ...connection, prepare };
        }),
        remembering,
      );
      const scene = realScene(parts);
      await scene.enrol("ana");
      const { hash } = await scene.giveKey("ana");
      expect(wordOf(await scene.lookUp(hash, "x"))).toBe("profile_not_found");
      expect([...settings]).toEqual(["PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"]);
    }));

  test(
    `D-6.3 after ${FAILURES} failed batches a revocation holds as before`,
    () =>
      SqliteFile.use(async (file) => {
        const disk = new Disk();
        const parts = await openParts(await file.open({}, disk.openSqlite), remembering);
        const scene = realScene(parts);
        await scene.enrol("ana", UNLIMITED);
        const { hash, id: keyId } = await scene.giveKey("ana");
        const { id } = await scene.consent("ana");
        expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("allowed");
        disk.resultCode = SQLITE_FULL;
        const failure = {
          kind: "store_unavailable",
          message: "The database is unavailable: the disk is full",
        };
        for (let i = 0; i < FAILURES; i++) {
          expect(await failureOf(scene.lookUp(hash, "ana"))).toEqual(failure);
        }
        disk.resultCode = null;
        expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("allowed");
        await parts.consents.revoke("ana", { id, nowMs: Date.now() });
        expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("consent_required");
        await parts.apiKeys.revoke("ana", { id: keyId, nowMs: Date.now() });
        expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("api_key_revoked");
      }),
    60_000,
  );

  test("D-8.3 a reply more than 1 s after its first read is sent only if it is given again", () =>
    SqliteFile.use(async (file) => {
      const clock = new FakeClock();
      const disk = new Disk();
      const parts = await openParts(
        await file.open({ clock }, disk.openSqlite),
        remembering,
        clock,
      );
      const scene = new Scene(parts, { ...realScene(parts).store, nowMs: () => clock.nowMs() });
      await scene.enrol("ana", UNLIMITED);
      const { hash } = await scene.giveKey("ana");
      await scene.consent("ana");
      const tool = file.openElsewhere();
      const lookUpWhile = async (durationMs: number, change: string) => {
        disk.committed = () => {
          disk.committed = () => {};
          clock.advance(durationMs);
          tool.run(change);
        };
        return await scene.lookUp(hash, "ana").then(wordOf, ({ kind }) => kind);
      };
      const nothing = "UPDATE profiles SET bio = 'x' WHERE username = 'somebody else'";
      const hiding = "UPDATE profiles SET public = 0 WHERE username = 'ana'";
      const showing = "UPDATE profiles SET public = 1 WHERE username = 'ana'";
      expect(await lookUpWhile(60_000, nothing)).toBe("allowed");
      expect(await lookUpWhile(1_000, hiding)).toBe("allowed");
      tool.run(showing);
      // Read before, so that the next commit is that of the batch.
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("allowed");
      expect(await lookUpWhile(1_001, hiding)).toBe("store_unavailable");
      expect(wordOf(await scene.lookUp(hash, "ana"))).toBe("profile_not_found");
      // The one that was answered 503 counts, as its record is kept.
      expect((await parts.usage.read("ana", LIMITS)).reading.month?.used).toBe(5);
    }));

  test("D-8.3 a reply is not confirmed anew after its deadline, however slow the reads and whatever changes", () =>
    SqliteFile.use(async (file) => {
      const clock = new FakeClock();
      const parts = await openParts(await file.open({ clock }), remembering, clock);
      const scene = new Scene(parts, { ...realScene(parts).store, nowMs: () => clock.nowMs() });
      await scene.enrol("ana");
      const { hash } = await scene.giveKey("ana");
      const { documents } = parts.storage;
      const read = documents.read.bind(documents);
      let reads = 0;
      spyOn(documents, "read").mockImplementation(async (options, body) => {
        if (options.name === "lookups.confirm") {
          await scene.push(PROFILES, { username: "x", public: false, bio: `change ${++reads}` });
          // The seventh is fast.
          clock.advance(reads < 7 ? 2_000 : 0);
        }
        return await read(options, body);
      });
      const call = { keyHash: hash, username: "x", endpoint: "profile", requestId: "r" } as const;
      const deadlineMs = clock.monotonicMs() + 9_500;
      const late = parts.lookupProcessor.decide([call], deadlineMs, () => clock.advance(1_001));
      expect(await failureOf(late)).toEqual({
        kind: "store_unavailable",
        message: "The store did not answer in time",
      });
      expect(reads).toBe(5);
    }));

  test("D-8.3 a batch that waits for another process is given up at its deadline", () =>
    SqliteFile.use(async (file) => {
      const parts = await openParts(await file.open({ clock: new FakeClock() }), remembering);
      const scene = realScene(parts);
      await scene.enrol("ana");
      const { hash } = await scene.giveKey("ana");
      const tool = file.openElsewhere();
      tool.run("BEGIN IMMEDIATE");
      const call = { keyHash: hash, username: "x", endpoint: "profile", requestId: "r" } as const;
      const failure = await failureOf(parts.lookupProcessor.decide([call], 30, () => null));
      expect(failure).toEqual({
        kind: "store_unavailable",
        message: "The database is unavailable: another process is using it",
      });
      tool.run("ROLLBACK");
      expect(wordOf(await scene.lookUp(hash, "x"))).toBe("profile_not_found");
    }));

  test.each([SQLITE_IOERR, SQLITE_FULL])(
    "D-6.5, D-5.8 a batch whose commit fails with %i is not answered, does not count and leaves no record",
    (resultCode) =>
      SqliteFile.use(async (file) => {
        const disk = new Disk();
        const parts = await openParts(await file.open({}, disk.openSqlite), remembering);
        const scene = realScene(parts);
        await scene.enrol("ana", UNLIMITED);
        const { hash } = await scene.giveKey("ana");
        disk.resultCode = resultCode;
        const failures = await Promise.all(
          ["x", "ana"].map((name) => failureOf(scene.lookUp(hash, name))),
        );
        for (const failure of failures)
          expect(failure).toMatchObject({ kind: "store_unavailable" });
        disk.resultCode = null;
        expect(wordOf(await scene.lookUp(hash, "x"))).toBe("profile_not_found");
        const { reading } = await parts.usage.read("ana", LIMITS);
        expect([reading.minuteCalls, reading.month?.used]).toEqual([1, 1]);
        expect((await auditRecords(parts.audit)).length).toBe(1);
      }),
  );
});
