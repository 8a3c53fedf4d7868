// Stores whose tables other programs change by the driver.
import type { Db } from "mongodb";
import { openMongoStorage } from "../../../../src/adapters/mongodb/storage.ts";
import { planUpserts, storedFields } from "../../../../src/adapters/mongodb/tables/upserts.ts";
import { SystemClock } from "../../../../src/adapters/system/system.ts";
import { isAppError } from "../../../../src/domain/shared/errors.ts";
import type { Clock } from "../../../../src/ports/runtime/runtime.ts";
import type { FullStorage } from "../../../../src/ports/storage.ts";
import type { TombstonePage } from "../../../../src/ports/tables/table-store.ts";
import { COLLECTIONS } from "../../../../src/repositories/collections.ts";
import { ITEMS, type OtherProgram } from "../../../contract/tables/tombstones/tombstone-table.ts";
import { atOnce } from "../../../support/at-once.ts";
import { MemoryLogger } from "../../../support/memory-logger.ts";
import { keepResource } from "../../../support/resources.ts";

/** What is told after 10 s. */
export const NOT_RECORDED =
  "The deletes made here until now were not recorded within 10 s: try again";

/** A store with the table `items`, and what it logged. */
export interface Instance {
  readonly storage: FullStorage;
  readonly logger: MemoryLogger;
}

/** Opens an instance, closed after the test, and prepares `items`, with deletes. */
export async function openInstance(
  url: string,
  clock: Pick<Clock, "monotonicMs"> = new SystemClock(),
): Promise<Instance> {
  const logger = new MemoryLogger();
  const storage = await openMongoStorage({ url, collections: COLLECTIONS, clock, logger });
  keepResource(() => storage.close());
  await storage.documents.prepare(COLLECTIONS);
  await storage.tables.prepare([ITEMS]);
  return { storage, logger };
}

/** A program that uses the driver. */
export function otherProgram(db: Db): OtherProgram {
  return {
    async insert(table, row) {
      const [upsert] = atOnce(planUpserts(table, [{ index: 0, row }])).upserts;
      await db.collection(table.name).insertOne({ ...upsert?.document });
    },
    async update(table, key, changes) {
      const update = { $set: storedFields(table, changes) };
      await db.collection(table.name).updateOne(storedFields(table, key), update);
    },
    async remove(table, key) {
      await db.collection(table.name).deleteOne(storedFields(table, key));
    },
    async removeAll(table) {
      await db.collection(table.name).deleteMany({});
    },
  };
}

/** Makes somebody else the recorder, who does nothing, until the claim ends. */
export async function holdRecording(db: Db, durationMs = 9_000): Promise<void> {
  const taken = [{ $set: { recorder: "somebody", expiresAt: { $add: ["$$NOW", durationMs] } } }];
  await db.collection("repsync_delete_recorder").updateMany({}, taken);
}

/** The list, asked for until deletes are recorded: after a recorder was killed, a busy machine may need more than 10 s. */
export async function listItems({ tombstones }: FullStorage): Promise<TombstonePage> {
  for (;;) {
    try {
      return await tombstones.list(ITEMS, { after: null, sinceTime: null, limitRows: 100_000 });
    } catch (error) {
      if (!isAppError(error) || error.message !== NOT_RECORDED) throw error;
    }
  }
}

/** The keys that are listed, in their order. */
export async function listedKeys(storage: FullStorage): Promise<string[]> {
  return (await listItems(storage)).items.map(({ key }) => String(key["k"]));
}

/** Documents of `items`, as repsync stores them, with a time long ago. */
export function documents(...keys: readonly string[]) {
  return keys.map((k) => ({ k, at: "2024-05-01T10:00:00", v: 1 }));
}

/** Texts `<prefix>0000` and so on. */
export function manyKeys(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}${String(n).padStart(5, "0")}`);
}
