// The commands by which pushes reach MongoDB: the driver makes several of a `bulkWrite` that is too large for one, and
// goes on with the next after one that has ended the transaction.

import { describe, expect, spyOn, test } from "bun:test";
import { BSON, Collection, type Document, MongoClient } from "mongodb";
import { DeleteRecorder } from "../../../../src/adapters/mongodb/deletes/delete-recorder.ts";
import { MongoDocuments } from "../../../../src/adapters/mongodb/documents/mongo-documents.ts";
import { PrimaryWatch } from "../../../../src/adapters/mongodb/driver/operations.ts";
import { Versions } from "../../../../src/adapters/mongodb/driver/versions.ts";
import { MongoTableStore } from "../../../../src/adapters/mongodb/storage.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import type { Row } from "../../../../src/domain/sync/table/table.ts";
import { SYNC_CALLS } from "../../../../src/ports/documents.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { asWrites } from "../../../contract/tables/table-under-test.ts";
import { MemoryLogger } from "../../../support/memory-logger.ts";
import { makeTable } from "../../../support/rows/make-table.ts";
import { writeTo } from "../../../support/rows/write-to.ts";
import { mongoAvailable } from "../../../support/stores/shared-mongo.ts";
import { makeDatabase } from "../support.ts";

const TEST_TIMEOUT_MS = 120_000;
const MIB = 1024 * 1024;
const LONG_NAME = "n".repeat(60);

/** Rows cost most beside their values: long names, a condition on each, and numbers. */
const ITEMS = makeTable({
  timestamp_column: LONG_NAME,
  upsert_key: ["shop", "sku"],
  conflict: "newer",
  columns: {
    id: { type: "integer", auto_increment: true },
    shop: { type: "text" },
    sku: { type: "integer" },
    [LONG_NAME]: { type: "datetime" },
    note: { type: "text" },
  },
});

const item = (sku: number, note: string | null): Row => ({
  shop: "a",
  sku,
  [LONG_NAME]: "2024-01-01T00:00:00Z",
  note,
});
const items = (first: number, count: number, note: string | null): Row[] =>
  Array.from({ length: count }, (_, n) => item(first + n, note));

/** A command that wrote to the table, and what came of it. */
interface Command {
  readonly name: string;
  readonly bytes: number;
  readonly filters: readonly Document[];
  readonly transaction: string;
  isRefused: boolean;
}

/** A store on a database of its own whose commands are listened to. */
class Watched {
  readonly tables: MongoTableStore;
  readonly documents: MongoDocuments;
  readonly client: MongoClient;
  readonly commands: Command[] = [];
  /** Outside of transactions, and for the table or the time. */
  readonly questions: string[] = [];
  readonly #byRequest = new Map<number, Command>();

  constructor(url: string) {
    this.client = new MongoClient(url, { monitorCommands: true });
    const db = this.client.db();
    const primaryWatch = new PrimaryWatch(this.client, db);
    const versions = new Versions(db);
    const clock = new SystemClock();
    const deps = {
      client: this.client,
      db,
      clock,
      primaryWatch,
      storeClock: null,
      callLimit: SYNC_CALLS,
      versions,
    };
    const recorder = new DeleteRecorder(deps, new MemoryLogger());
    this.tables = new MongoTableStore(deps, recorder);
    this.documents = new MongoDocuments(deps);
    this.client.on("commandStarted", ({ commandName, command, requestId }) => {
      const isOfTable = command[commandName] === "items" && command["txnNumber"] === undefined;
      if (isOfTable || commandName === "hello") this.questions.push(commandName);
      if (command[commandName] !== "items" || !["insert", "update"].includes(commandName)) return;
      const one = readCommand(commandName, command);
      this.commands.push(one);
      this.#byRequest.set(requestId, one);
    });
    this.client.on("commandSucceeded", ({ requestId, reply }) => {
      const one = this.#byRequest.get(requestId);
      if (one !== undefined) one.isRefused = (reply as Document)["writeErrors"] !== undefined;
    });
  }

  /** Pushes rows; the commands that were sent, how many `bulkWrite`s there were, and the records refused. */
  async push(rows: readonly Row[]) {
    this.commands.length = 0;
    const bulkWrites = spyOn(Collection.prototype, "bulkWrite");
    try {
      const { failures } = await writeTo(this, ITEMS, asWrites(rows));
      const collections = bulkWrites.mock.contexts as readonly Collection[];
      const ofTable = collections.filter(({ collectionName }) => collectionName === "items");
      return { commands: [...this.commands], bulkWrites: ofTable.length, failures };
    } finally {
      bulkWrites.mockRestore();
    }
  }
}

function readCommand(name: string, command: Document): Command {
  const updates: Document[] = command["updates"] ?? [];
  const inserted: Document[] = command["documents"] ?? [];
  return {
    name,
    bytes: BSON.calculateObjectSize(command),
    filters: [
      ...updates.map(({ q }) => q),
      ...inserted.map((row) => ({ shop: row["shop"], sku: row["sku"] })),
    ],
    transaction: BSON.EJSON.stringify([command["lsid"], command["txnNumber"]]),
    isRefused: false,
  };
}

function commandTest(name: string, body: (watched: Watched) => Promise<void>): void {
  test(
    name,
    async () => {
      const database = await makeDatabase();
      await (await database.open()).tables.prepare([ITEMS]);
      const watched = new Watched(database.url);
      await watched.documents.prepare(COLLECTIONS);
      try {
        await body(watched);
      } finally {
        await watched.client.close();
        await database.dispose();
      }
    },
    TEST_TIMEOUT_MS,
  );
}

describe.skipIf(!mongoAvailable)("MongoDB commands", () => {
  commandTest(
    "S-4.2.11 a push is bulkWrites of one command and at most 12 MiB each",
    async (watched) => {
      const large = "x".repeat(2 * MIB);
      const rows = [...items(0, 9_000, null), ...items(9_000, 4, large)];
      for (const [pushed, names] of [
        [rows, ["insert"]],
        // After a push of new keys alone, more of them are expected.
        [rows.map((row) => ({ ...row, note: `${row["note"]}y` })), ["insert", "update"]],
        // Old keys with new ones between them.
        [rows.map((row) => ({ ...row, sku: Number(row["sku"]) * 2 })), ["insert", "update"]],
        [items(100_000, 100, null), ["insert"]],
        [[...items(200_000, 9_000, null), ...items(300_000, 4, large)], ["insert"]],
      ] as const) {
        const { commands, bulkWrites, failures } = await watched.push(pushed);
        expect(failures).toEqual([]);
        expect([...new Set(commands.map(({ name }) => name))]).toEqual([...names]);
        expect(commands.length).toBeGreaterThanOrEqual(pushed.length > 100 ? 2 : 1);
        expect(commands.length).toBe(bulkWrites);
        expect(Math.max(...commands.map(({ bytes }) => bytes))).toBeLessThanOrEqual(12 * MIB);
        const keys = commands.flatMap(({ filters }) => filters).map((q) => Object.keys(q).join());
        expect([...new Set(keys)]).toEqual(["shop,sku"]);
      }
    },
  );

  commandTest(
    "D-14.6 whether the collection is there is asked where rows may be missing, and with the time of a push",
    async (watched) => {
      const asked = async (work: Promise<unknown>) => {
        watched.questions.length = 0;
        await work;
        return [...watched.questions];
      };
      await watched.push(items(0, 3, null));
      const { tables } = watched;
      const keys = (...skus: readonly number[]) =>
        tables.byKeys(
          ITEMS,
          skus.map((sku) => item(sku, null)),
          "page",
        );
      const after = (limitRows: number) => tables.page(ITEMS, { from: { after: null }, limitRows });
      const range = (limitRows: number) =>
        tables.page(ITEMS, { from: { afterKey: null, throughKey: null }, limitRows });
      expect(await asked(keys(0, 1))).toEqual(["find"]);
      expect(await asked(keys(0, 5))).toEqual(["find", "aggregate"]);
      for (const read of [after, range]) {
        const full = await asked(read(3));
        expect(full).not.toContain("aggregate");
        expect(await asked(read(4))).toEqual([...full, "aggregate"]);
      }
      expect(await asked(watched.push(items(0, 1, "x")))).toEqual(["aggregate"]);
    },
  );

  commandTest("S-4.2.11 a record larger than 12 MiB is a bulkWrite by itself", async (watched) => {
    const rows = [...items(0, 5, null), item(5, "x".repeat(15 * MIB)), ...items(6, 5, null)];
    const { commands, bulkWrites, failures } = await watched.push(rows);
    expect(failures).toEqual([]);
    expect(commands.length).toBe(bulkWrites);
    const large = commands.filter(({ bytes }) => bytes > 12 * MIB);
    expect(large.map(({ filters }) => filters)).toEqual([[{ shop: "a", sku: 5 }]]);
  });

  commandTest(
    "S-4.2.10 nothing follows a refused bulkWrite in its transaction",
    async (watched) => {
      const db = watched.client.db();
      await db.command({ collMod: "items", validator: { sku: { $lt: 5 } } });
      const note = "x".repeat(2 * MIB);
      for (const first of [0, 100]) {
        const { commands, failures } = await watched.push(items(first, 9, note));
        expect(failures.map(({ index }) => index)).toEqual(
          first === 0 ? [5, 6, 7, 8] : [0, 1, 2, 3, 4, 5, 6, 7, 8],
        );
        const refused = commands.filter(({ isRefused }) => isRefused);
        expect(refused.length).toBeGreaterThan(0);
        for (const one of refused) {
          const same = commands.filter(({ transaction }) => transaction === one.transaction);
          expect(same.at(-1)).toBe(one);
        }
      }
    },
  );
});
