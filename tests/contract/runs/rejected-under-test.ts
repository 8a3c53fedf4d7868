import type { JsonObject } from "../../../src/domain/shared/json.ts";
import type { SyncDirection } from "../../../src/domain/sync/run/marker.ts";
import type { Table } from "../../../src/domain/sync/table/table.ts";
import type { NewRejection, RejectedRecords } from "../../../src/ports/runs/rejected-records.ts";
import type { FullStorage } from "../../../src/ports/storage.ts";
import type { CommitExtras } from "../../../src/ports/tables/table-store.ts";
import { makeTable } from "../../support/make-table.ts";
import { type OpenedStore, openSecond, type StoreHarness, storeTests } from "../harness.ts";

export type RejectedParts = Pick<FullStorage, "tables" | "rejected" | "close">;

const TABLE = makeTable({ upsert_key: ["k"], columns: { k: { type: "text" } } });

/** The rejected records of a store, and how commits change them. */
export interface RejectedUnderTest extends RejectedRecords {
  /** Notes rejections in a commit without rows. */
  note(rejections: readonly NewRejection[]): Promise<void>;
  /** Drops the entries of keys that were accepted, in a commit without rows. */
  clear(table: string, direction: SyncDirection, keys: readonly JsonObject[]): Promise<void>;
}

interface RejectedStorage {
  readonly rejected: RejectedUnderTest;
  close(): Promise<void>;
}

/** Commits what a run keeps, without rows, under a table that is prepared. */
export async function commitAlone(
  { tables }: Pick<FullStorage, "tables">,
  table: Table,
  extras: CommitExtras,
): Promise<void> {
  await tables.write(table, [], { beforeCommit: () => extras });
}

/** Defines tests on the rejected records of a store. */
export function rejectedTests(harness: StoreHarness<RejectedParts>) {
  const it = storeTests(harness);
  return (
    name: string,
    body: (storage: RejectedStorage, store: OpenedStore<RejectedParts>) => Promise<void>,
  ) => it(name, async (storage, store) => body(await prepare(storage), store));
}

/** Another instance on the store of a test. */
export async function openOther(store: OpenedStore<RejectedParts>): Promise<RejectedStorage> {
  return await prepare(await openSecond(store));
}

async function prepare(storage: RejectedParts): Promise<RejectedStorage> {
  const { tables, rejected } = storage;
  await tables.prepare([TABLE]);
  const commit = (extras: CommitExtras) => commitAlone(storage, TABLE, extras);
  return {
    close: () => storage.close(),
    rejected: {
      note: (rejections) => commit({ rejected: rejections }),
      clear: (table, direction, keys) => commit({ accepted: { table, direction, keys } }),
      list: (query) => rejected.list(query),
      find: (id) => rejected.find(id),
      remove: (id) => rejected.remove(id),
      dropped: (table, direction) => rejected.dropped(table, direction),
      countByTable: (direction) => rejected.countByTable(direction),
    },
  };
}
