// Change events about deleted rows. D-7.6.
import { BSON, type ClientSession, type Db, type Document } from "mongodb";
import { compareDateTimes } from "../../../domain/shared/time.ts";
import { keyText, recordKey } from "../../../domain/sync/rows/row-key.ts";
import { changeTime, rowTime } from "../../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Row, Table } from "../../../domain/sync/table/table.ts";
import {
  type ForgetNote,
  type ForgottenValue,
  keyJson,
  OWN_DELETES,
  ownDeletesOf,
  transactionName,
} from "../driver/tombstone-documents.ts";
import { RowReader } from "../tables/row-reader.ts";
import { keyAndTime, layoutOf } from "../tables/table-layout.ts";
import type { ChangeEvent } from "./delete-stream.ts";
import { DELETE_BARRIERS, type RecorderState } from "./recorder-state.ts";

/** Why deletes may have been missed, for the log. */
const NO_PRE_IMAGE = "its collection kept no pre-images for a while";
const NO_KEY = "rows lost a column of their key";
const OTHER_COLLECTION = "its collection was dropped or renamed";

export interface DeletedKey extends Tombstone {
  /** True in a transaction, which may have put the row back: inserts are not in the stream. */
  readonly isInTransaction: boolean;
  /** When it went. */
  readonly event: Pick<ChangeEvent, "clusterTime" | "wallTime">;
}

export interface Findings {
  /** The last tombstone of each key, by table name and key text. */
  readonly tombstones: Map<string, Map<string, DeletedKey>>;
  /** Why deletes may have been missed, by table name. */
  readonly interrupted: Map<string, string>;
  /** Names of tables whose collections may keep no pre-images any more. */
  readonly changed: Set<string>;
  /** The last barrier; null without one. */
  barrier: number | null;
}

export function forgottenIn(events: readonly ChangeEvent[]): readonly ForgottenValue[] {
  return events.flatMap((event) => forgottenBy(event) ?? []);
}

/** Null for other events. */
function forgottenBy({ ns, fullDocument }: ChangeEvent): ForgottenValue | null {
  return ns?.coll === OWN_DELETES.name ? (fullDocument as ForgetNote).forgets : null;
}

/** The transactions of the events whose deletes leave no tombstone. */
export async function findOwnDeletes(
  db: Db,
  events: readonly ChangeEvent[],
  tx: ClientSession,
): Promise<ReadonlySet<string>> {
  const $in = [...new Set(events.flatMap((event) => transactionOf(event) ?? []))];
  if ($in.length === 0) return new Set();
  const found = await ownDeletesOf(db).find({ _id: { $in } }, { session: tx }).toArray();
  return new Set(found.map(({ _id }) => _id));
}

interface WatchedTable {
  readonly table: Table;
  readonly reader: RowReader;
  readonly recorded: RecorderState["tables"][string] | undefined;
}

/** Reads events of the tables that the recorder watches. */
export class EventReader {
  readonly #watched: ReadonlyMap<string, WatchedTable>;

  constructor(tables: Iterable<Table>, recorded: RecorderState["tables"]) {
    const watched = Array.from(tables, (table) => {
      const reader = new RowReader(layoutOf(table), keyAndTime(table));
      return [table.name, { table, reader, recorded: recorded[table.name] }] as const;
    });
    this.#watched = new Map(watched);
  }

  /** `own`: the transactions whose deletes leave no tombstone. */
  read(events: readonly ChangeEvent[], own: ReadonlySet<string>): Findings {
    const found: Findings = {
      tombstones: new Map(),
      interrupted: new Map(),
      changed: new Set(),
      barrier: null,
    };
    for (const event of events) {
      const { ns, to, operationType } = event;
      const forgotten = forgottenBy(event);
      if (ns?.coll === DELETE_BARRIERS.name) found.barrier = barrierOf(event);
      else if (forgotten !== null) this.#forget(forgotten, found);
      else if (operationType === "create" || operationType === "modify") {
        found.changed.add(ns?.coll ?? "");
      } else if (operationType === "drop" || operationType === "rename") {
        for (const name of [ns?.coll, to?.coll]) {
          const gone = this.#recordedTable(name, event)?.table.name;
          if (gone !== undefined) found.interrupted.set(gone, OTHER_COLLECTION);
        }
      } else if (!own.has(transactionOf(event) ?? "")) this.#readRow(event, found);
    }
    return found;
  }

  /** Forgets the deletes before the note. Later ones are about the next person with the name. */
  #forget({ table: name, text }: ForgottenValue, { tombstones }: Findings): void {
    const ofTable = tombstones.get(name) ?? new Map<string, DeletedKey>();
    for (const [id, { key }] of ofTable) {
      const { table } = this.#watched.get(name) as WatchedTable;
      if (keyJson(table, key).includes(text)) ofTable.delete(id);
    }
  }

  /** Takes the tombstone of a deleted row, or of one whose key changed. */
  #readRow(event: ChangeEvent, { tombstones, interrupted }: Findings): void {
    const watched = this.#recordedTable(event.ns?.coll, event);
    if (watched === null) return;
    const { table } = watched;
    const before = event.fullDocumentBeforeChange;
    if (before === undefined) {
      interrupted.set(table.name, NO_PRE_IMAGE);
      return;
    }
    const row = rowOf(watched, before);
    // A peer cannot have a document without a whole key.
    if (table.keyColumns.some(({ name }) => row[name] === null)) return;
    const text = keyText(table, row);
    const after = documentAfter(before, event);
    if (after !== null && keyText(table, rowOf(watched, after)) === text) return;
    if (after !== null && table.keyColumns.some(({ name }) => after[name] === undefined)) {
      // As by a migration that renames the column, and deletes nothing. A key that is set to null is another one.
      interrupted.set(table.name, NO_KEY);
      return;
    }
    const deletedAt = changeTime(rowTime(table, row), event.wallTime.getTime());
    const ofTable = tombstones.getOrInsertComputed(table.name, () => new Map());
    const earlier = ofTable.get(text);
    if (earlier !== undefined && compareDateTimes(earlier.deletedAt, deletedAt) >= 0) return;
    const isInTransaction = transactionOf(event) !== null;
    ofTable.set(text, { key: recordKey(table, row), deletedAt, isInTransaction, event });
  }

  /** Null for a table that was not recorded at the time of the event. */
  #recordedTable(name: string | undefined, { clusterTime }: ChangeEvent): WatchedTable | null {
    const watched = this.#watched.get(name ?? "");
    return watched?.recorded && clusterTime.greaterThan(watched.recorded.from) ? watched : null;
  }
}

/** Reads key and time of a document with BSON types. */
function rowOf({ reader }: WatchedTable, document: Document): Row {
  return reader.read(BSON.serialize(document));
}

/** At least the key fields of the document after a change; null for a delete. */
function documentAfter(before: Document, event: ChangeEvent): Document | null {
  if (event.operationType === "delete") return null;
  if (event.operationType === "replace") return event.fullDocument ?? {};
  const { updatedFields, removedFields = [] } = event.updateDescription ?? {};
  const removed = removedFields.map((name) => [name, undefined] as const);
  return { ...before, ...updatedFields, ...Object.fromEntries(removed) };
}

function barrierOf({ fullDocument, updateDescription }: ChangeEvent): number {
  return Number(fullDocument?.["number"] ?? updateDescription?.updatedFields?.number ?? 0);
}

function transactionOf({ lsid, txnNumber }: ChangeEvent): string | null {
  return lsid === undefined || txnNumber === undefined ? null : transactionName(lsid.id, txnNumber);
}
