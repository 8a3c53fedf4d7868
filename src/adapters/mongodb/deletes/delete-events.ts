// Change events about deleted rows. D-7.6.
import type { ClientSession, Db, Document } from "mongodb";
import { compareDateTimes } from "../../../domain/shared/time.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { changeTime } from "../../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import {
  type ForgetNote,
  type ForgottenValue,
  keyJson,
  OWN_DELETES,
  ownDeletesOf,
  transactionName,
} from "../driver/tombstone-documents.ts";
import { type ChangeEvent, keyTimeReader } from "./delete-stream.ts";
import { DELETE_BARRIERS, type RecorderState } from "./recorder-state.ts";

/** Why deletes may have been missed, for the log. */
const NO_PRE_IMAGE = "its collection kept no pre-images for a while";
const OTHER_COLLECTION = "its collection was dropped or renamed";
type Interruption = typeof NO_PRE_IMAGE | typeof OTHER_COLLECTION;

export interface DeletedKey extends Tombstone {
  /** True in a transaction, which may have put the row back: inserts are not in the stream. */
  readonly isInTransaction: boolean;
  /** When it went. */
  readonly event: Pick<ChangeEvent, "clusterTime" | "wallTime">;
}

export interface Findings {
  /** The last tombstone of each key, by table name and key text. */
  readonly tombstones: ReadonlyMap<string, ReadonlyMap<string, DeletedKey>>;
  readonly interrupted: ReadonlyMap<string, Interruption>;
  /** Names of tables whose collections may keep no pre-images any more. */
  readonly changed: ReadonlySet<string>;
  readonly barrier: number | null;
}

export function forgottenIn(events: readonly ChangeEvent[]): readonly ForgottenValue[] {
  return events.flatMap((event) => forgottenBy(event) ?? []);
}

/** Null for other events. */
function forgottenBy({ ns, fullDocument }: ChangeEvent): ForgottenValue | null {
  return ns?.coll === OWN_DELETES.name ? (fullDocument as ForgetNote).forgets : null;
}

export function transactionsOf(events: readonly ChangeEvent[]): ReadonlySet<string> {
  return new Set(events.flatMap((event) => transactionOf(event) ?? []));
}

/** Those of the transactions whose deletes leave no tombstone. */
export async function findOwnDeletes(
  db: Db,
  transactions: ReadonlySet<string>,
  tx: ClientSession,
): Promise<ReadonlySet<string>> {
  if (transactions.size === 0) return new Set();
  const filter = { _id: { $in: [...transactions] } };
  const found = await ownDeletesOf(db).find(filter, { session: tx }).toArray();
  return new Set(found.map(({ _id }) => _id));
}

interface Found {
  readonly tombstones: Map<string, Map<string, DeletedKey>>;
  readonly interrupted: Map<string, Interruption>;
  readonly changed: Set<string>;
}

/** Reads events of the tables that the recorder watches. */
export class EventReader {
  readonly #tables: ReadonlyMap<string, Table>;
  readonly #recorded: RecorderState["tables"];
  readonly #readers: ReadonlyMap<string, ReturnType<typeof keyTimeReader>>;

  constructor(tables: ReadonlyMap<string, Table>, recorded: RecorderState["tables"]) {
    this.#tables = tables;
    this.#recorded = recorded;
    this.#readers = new Map([...tables].map(([name, table]) => [name, keyTimeReader(table)]));
  }

  /** `own`: the transactions whose deletes leave no tombstone. */
  read(events: readonly ChangeEvent[], own: ReadonlySet<string>): Findings {
    const found: Found = { tombstones: new Map(), interrupted: new Map(), changed: new Set() };
    let barrier: number | null = null;
    for (const event of events) {
      if (event.ns?.coll === DELETE_BARRIERS.name) {
        barrier = barrierOf(event);
        continue;
      }
      const forgotten = forgottenBy(event);
      if (forgotten !== null) {
        this.#forget(forgotten, found);
        continue;
      }
      switch (event.operationType) {
        case "create":
        case "modify":
          found.changed.add(event.ns?.coll ?? "");
          break;
        case "drop":
        case "rename":
          for (const name of [event.ns?.coll, event.to?.coll]) {
            if (this.#isRecorded(name, event)) found.interrupted.set(name, OTHER_COLLECTION);
          }
          break;
        default:
          if (!own.has(transactionOf(event) ?? "")) this.#readRow(event, found);
      }
    }
    return { ...found, barrier };
  }

  /** Forgets the deletes before the note. Later ones are about the next person with the name. */
  #forget({ table: name, text }: ForgottenValue, { tombstones }: Found): void {
    const ofTable = tombstones.get(name) ?? new Map<string, DeletedKey>();
    for (const [id, { key }] of ofTable) {
      if (keyJson(this.#tables.get(name) as Table, key).includes(text)) ofTable.delete(id);
    }
  }

  #readRow(event: ChangeEvent, { tombstones, interrupted }: Found): void {
    const name = event.ns?.coll;
    if (!this.#isRecorded(name, event)) return;
    const gone = this.#tombstoneOf(name, event);
    if (gone === NO_PRE_IMAGE) interrupted.set(name, gone);
    else if (gone !== null) put(tombstones, this.#tables.get(name) as Table, gone);
  }

  #isRecorded(name: string | undefined, { clusterTime }: ChangeEvent): name is string {
    const recorded = name === undefined ? undefined : this.#recorded[name];
    return recorded?.isOn === true && clusterTime.greaterThan(recorded.from);
  }

  /** The tombstone of a deleted row, or of one whose key changed; null when no key has gone. */
  #tombstoneOf(name: string, event: ChangeEvent): DeletedKey | typeof NO_PRE_IMAGE | null {
    const before = event.fullDocumentBeforeChange;
    if (before === undefined) return NO_PRE_IMAGE;
    const read = this.#readers.get(name) as ReturnType<typeof keyTimeReader>;
    const table = this.#tables.get(name) as Table;
    const { key, time } = read(before);
    // A peer cannot have a document without a whole key.
    if (Object.values(key).some((value) => value === null)) return null;
    const after = documentAfter(before, event);
    const hasKey = after !== null && keyText(table, read(after).key) === keyText(table, key);
    if (hasKey) return null;
    const deletedAt = changeTime(time, event.wallTime.getTime());
    return { key, deletedAt, isInTransaction: transactionOf(event) !== null, event };
  }
}

/** At least the key fields of the document after a change; null for a delete. */
function documentAfter(before: Document, event: ChangeEvent): Document | null {
  if (event.operationType === "delete") return null;
  if (event.operationType === "replace") return event.fullDocument ?? {};
  const { updatedFields, removedFields = [] } = event.updateDescription ?? {};
  const removed = removedFields.map((name) => [name, null] as const);
  return { ...before, ...updatedFields, ...Object.fromEntries(removed) };
}

function put(
  tombstones: Map<string, Map<string, DeletedKey>>,
  table: Table,
  tombstone: DeletedKey,
): void {
  const ofTable = tombstones.getOrInsertComputed(table.name, () => new Map());
  const text = keyText(table, tombstone.key);
  const earlier = ofTable.get(text);
  if (earlier !== undefined && compareDateTimes(earlier.deletedAt, tombstone.deletedAt) >= 0)
    return;
  ofTable.set(text, tombstone);
}

function barrierOf({ fullDocument, updateDescription }: ChangeEvent): number {
  return Number(fullDocument?.["number"] ?? updateDescription?.updatedFields?.number ?? 0);
}

function transactionOf({ lsid, txnNumber }: ChangeEvent): string | null {
  return lsid === undefined || txnNumber === undefined ? null : transactionName(lsid.id, txnNumber);
}
