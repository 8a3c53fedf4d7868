// Calls to a MongoDB that does not answer: they end all the same.

import { describe, expect } from "bun:test";
import type { Clock } from "../../../../src/ports/runtime/runtime.ts";
import { asWrites } from "../../../contract/tables/table-under-test.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { readPage } from "../../../support/rows/read-rows.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import type { RunStorage } from "../../../support/run-parts.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { databaseTest as it, type TestDatabase } from "../support.ts";

const ITEMS = makeTable({
  timestamp_column: "at",
  upsert_key: ["k"],
  columns: {
    id: { type: "integer", auto_increment: true },
    k: { type: "text" },
    at: { type: "datetime" },
  },
});
const APP_NAME = "repsync_silent";

/** A clock by which calls find, after they began, that most of their time has passed. */
class LeapingClock implements Pick<Clock, "monotonicMs"> {
  leapMs = 0;
  #looks = 0;

  /** The next call begins now. */
  begin(): void {
    this.#looks = 0;
  }

  monotonicMs(): number {
    // A deadline looks twice when it starts.
    this.#looks++;
    return performance.now() + (this.#looks > 2 ? this.leapMs : 0);
  }
}

const push = (storage: RunStorage) => writeTo(storage, ITEMS, asWrites([{ k: "a", at: null }]));
const page = { sinceTime: null, offsetRows: 0, limitRows: 10 };

const SILENCE = "MongoDB did not answer in time";
const IN_DOUBT = "The connection to the store broke during a commit: its outcome is unknown";

/** Calls of pushes, pulls and runs: what the server does not answer, and what the caller reads. */
const CALLS: readonly [
  string,
  command: string,
  (storage: RunStorage) => Promise<unknown>,
  message: string,
][] = [
  ["a push", "update", push, SILENCE],
  ["a push that takes numbers", "findAndModify", push, SILENCE],
  ["the commit of a push", "commitTransaction", push, IN_DOUBT],
  ["a page", "find", ({ tables }) => readPage(tables, ITEMS, page), SILENCE],
  ["a count", "aggregate", ({ tables }) => tables.count(ITEMS), SILENCE],
  ["what is remembered", "aggregate", ({ memory }) => memory.readAll(), SILENCE],
  [
    "the commit of a drift",
    "commitTransaction",
    ({ memory }) => memory.keepDrifts(new Map([["a", 1]])),
    IN_DOUBT,
  ],
  [
    "a lease",
    "update",
    ({ leases }) => leases.acquire({ name: "a", holder: "b", ttlMs: 10_000 }),
    SILENCE,
  ],
];

describe.skipIf(!mongoAvailable)("MongoDB that does not answer", () => {
  for (const [name, command, call, message] of CALLS) {
    it(`D-3.12.1 ${name} ends after two minutes`, async (database) => {
      const clock = new LeapingClock();
      const storage = await database.open(`&appName=${APP_NAME}`, clock);
      await storage.tables.prepare([ITEMS]);
      await whileSilent(database, command, async () => {
        clock.begin();
        // A commit comes last: what goes before it has to have the time, on a busy machine too.
        clock.leapMs = message === IN_DOUBT ? 115_000 : 119_800;
        expect(await failureOf(call(storage))).toMatchObject({
          kind: "store_unavailable",
          message,
        });
      });
    });
  }
});

/** Lets the server take commands and say nothing, for longer than the tests wait. */
async function whileSilent(
  { db }: TestDatabase,
  command: string,
  work: () => Promise<void>,
): Promise<void> {
  const data = {
    ...{ appName: APP_NAME, failCommands: [command] },
    ...{ blockConnection: true, blockTimeMS: 8_000 },
  };
  const admin = db.admin();
  await admin.command({ configureFailPoint: "failCommand", mode: "alwaysOn", data });
  try {
    await work();
  } finally {
    await admin.command({ configureFailPoint: "failCommand", mode: "off" });
    // Nobody waits for the answers any more.
    await admin.command({ killAllSessions: [] });
  }
}

function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}
