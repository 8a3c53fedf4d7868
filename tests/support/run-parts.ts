import type { DocumentStore } from "../../src/ports/documents.ts";
import type { FullStorage } from "../../src/ports/storage.ts";
import type { TableStore } from "../../src/ports/tables/table-store.ts";
import { Names } from "../../src/repositories/accounts/names.ts";
import type { LateRows } from "../../src/repositories/late-rows.ts";
import {
  makeSyncRepositories,
  type SyncRepositories,
} from "../../src/usecases/sync/shared/sync-deps.ts";
import { hmacOfName } from "../repositories/support/people.ts";

let ids = 0;

/** What runs work with of a store that is opened. */
export function runParts(documents: DocumentStore): SyncRepositories {
  const own = { next: () => `part-${String(++ids).padStart(12, "0")}` };
  return makeSyncRepositories(documents, new Names(documents, hmacOfName), own);
}

export type RunParts = SyncRepositories;

/** What writing rows takes, of a store that is opened. */
export function writingParts(storage: {
  readonly tables: TableStore;
  readonly documents: DocumentStore;
  readonly lateRows?: LateRows;
}) {
  const { tables, documents, lateRows } = storage;
  const parts = runParts(documents);
  return { ...parts, tables, lateRows: lateRows ?? parts.lateRows };
}

/** A store that is opened, with what runs work with. */
export type RunStorage = FullStorage & RunParts;

export function withRunParts<Storage extends { readonly documents: DocumentStore }>(
  storage: Storage,
): Storage & RunParts {
  return Object.assign(storage, runParts(storage.documents));
}
