import type { Key } from "../domain/shared/document-key.ts";
import { type JsonObject, parseJson } from "../domain/shared/json.ts";
import { textParts } from "../domain/shared/text.ts";
import {
  type AcceptedRecords,
  type DroppedRecord,
  entryName,
  keyName,
  type NewRejection,
  namedPerson,
  type RejectedRecord,
} from "../domain/sync/run/rejections.ts";
import type { SyncDirection } from "../domain/sync/run/run.ts";
import type { Reader, Stretch, Transaction } from "../ports/documents.ts";
import { SEQUENCES } from "./collections.ts";
import { RunRepository } from "./repository.ts";
import { DROPPED, REJECTED, REJECTED_TEXTS, type RejectedDocument } from "./run-collections.ts";

export interface RejectedQuery {
  /** Null for all tables. */
  readonly table: string | null;
  /** Null for both directions. */
  readonly direction: SyncDirection | null;
  /** 1 or more. */
  readonly limit: number;
  /** Absent: newest first. */
  readonly isOldestFirst?: boolean;
  /** Only entries behind the one with this id, also where that is gone; null from the first on. */
  readonly behindId: string | null;
}

type Texts = Pick<RejectedRecord, "key" | "record" | "message">;

/** Digits of an id, with leading zeros, so that ids sort as numbers. */
const ID_DIGITS = 16;
/** The number of the last entry; every new entry writes it. */
export const LAST_REJECTED = { from: SEQUENCES, keys: [["rejected"]] } as const;
const READ_AT_ONCE = 1_000;
/** Comes after every direction. */
const AFTER_DIRECTIONS = "q";

/** Records that wait for the next run, by table, direction and `entryName`. Runs note and drop them (`keepRejections`). */
export class RejectedRecords extends RunRepository {
  /** Lists entries in the order in which they were first noted, by any instance and whatever their times. */
  async list(query: RejectedQuery): Promise<readonly RejectedRecord[]> {
    return await this.reading("rejected.list", async (at) => {
      const [found] = await at.read({ from: REJECTED, stretch: stretchOf(query) });
      return await withTexts(at, found);
    });
  }

  async find(id: string): Promise<RejectedRecord | null> {
    return await this.reading("rejected.find", async (at) => {
      const [found] = await at.read({ from: REJECTED, stretch: numbered(id) });
      const [entry = null] = await withTexts(at, found);
      return entry;
    });
  }

  /** Drops an entry, and remembers that (D-7.7). Resolves to false when there is none. */
  async remove(id: string): Promise<boolean> {
    return await this.writing("rejected.remove", async (tx) => {
      const [found] = await tx.read({ from: REJECTED, stretch: numbered(id) });
      const [entry] = found;
      const [texts] = await withTexts(tx, found);
      if (entry === undefined || texts === undefined) return false;
      const { table, direction, fingerprint, person } = entry;
      const whose = person === undefined ? {} : { person };
      const key = JSON.stringify(texts.key);
      removeEntry(tx, entry);
      tx.put(DROPPED, { table, direction, entry: entry.entry, key, fingerprint, ...whose });
      return true;
    });
  }

  /** Records that `remove` dropped, and that no commit has met since. */
  async dropped(table: string, direction: SyncDirection): Promise<readonly DroppedRecord[]> {
    const [found] = await this.ask("rejected.dropped", {
      from: DROPPED,
      stretch: { within: [[table, direction]] },
    });
    return found.map(({ key, fingerprint }) => ({
      key: parseJson(key) as JsonObject,
      fingerprint,
    }));
  }

  /** The number of entries by table, of both directions or of one. */
  async countByTable(direction?: SyncDirection): Promise<ReadonlyMap<string, number>> {
    return await this.reading("rejected.count", async (at) => {
      const counts = new Map<string, number>();
      let [[next]] = await at.read({ from: REJECTED, keysOf: { limit: 1 } });
      while (next !== undefined) {
        const table = String(next[0]);
        const after = [table, AFTER_DIRECTIONS];
        const within = [direction === undefined ? [table] : [table, direction]];
        const [count, [further]] = await at.read(
          { from: REJECTED, count: { within } },
          { from: REJECTED, keysOf: { after, limit: 1 } },
        );
        if (count > 0) counts.set(table, count);
        next = further;
      }
      return counts;
    });
  }
}

/**
 * Drops the entries of accepted records in a commit, and the memory that they were dropped; then notes refused ones, in their
 * order. A known entry keeps its id and `firstAtMs`, and takes all else from the new one, with one attempt more. A dropped record is
 * not noted; another record of its key is, and the drop is forgotten. D-7.7.
 */
export async function keepRejections(
  tx: Transaction,
  accepted: AcceptedRecords | undefined,
  rejected: readonly NewRejection[],
): Promise<void> {
  if (accepted !== undefined) {
    const { table, direction, keys } = accepted;
    // All entries of a key begin with this name; where a part of the key is null, the content follows.
    const places = keys.map((key) => [table, direction, keyName(key)]);
    for (const within of inParts(places)) await removeAll(tx, { within });
  }
  await noteRejected(tx, rejected);
}

/** Removes entries and drops that name a person in these tables. A body that locks `LAST_REJECTED` leaves none behind. D-8.2. */
export async function forgetRejected(
  tx: Transaction,
  tables: readonly string[],
  person: string,
): Promise<void> {
  await removeAll(tx, { index: "person", within: tables.map((table) => [person, table]) });
}

/** Removes the entries and the drops of a stretch. */
async function removeAll(tx: Transaction, stretch: Stretch): Promise<void> {
  const [found, dropped] = await tx.read(
    { from: REJECTED, stretch },
    { from: DROPPED, keysOf: stretch },
  );
  for (const entry of found) removeEntry(tx, entry);
  for (const key of dropped) tx.remove(DROPPED, key);
}

async function noteRejected(tx: Transaction, rejected: readonly NewRejection[]): Promise<void> {
  const keys = rejected.map((one) => [one.table, one.direction, ...entryName(one)]);
  const known = new Map<string, RejectedDocument>();
  const droppedAs = new Map<string, string>();
  let last = 0;
  for (const part of inParts(keys)) {
    const [found, dropped, [sequence]] = await tx.read(
      { from: REJECTED, keys: part },
      { from: DROPPED, keys: part },
      LAST_REJECTED,
    );
    last = sequence?.last ?? 0;
    for (const entry of found) known.set(JSON.stringify(REJECTED.keyOf(entry)), entry);
    for (const drop of dropped) {
      droppedAs.set(JSON.stringify(DROPPED.keyOf(drop)), drop.fingerprint);
    }
  }
  const lastBefore = last;
  for (const [i, one] of rejected.entries()) {
    const key = keys[i] ?? [];
    const name = JSON.stringify(key);
    if (droppedAs.get(name) === one.fingerprint) continue;
    if (droppedAs.delete(name)) tx.remove(DROPPED, key);
    const before = known.get(name);
    known.set(name, putEntry(tx, one, before, before?.number ?? ++last));
  }
  if (last > lastBefore) tx.put(SEQUENCES, { name: "rejected", last });
}

function putEntry(
  tx: Transaction,
  rejection: NewRejection,
  before: RejectedDocument | undefined,
  number: number,
): RejectedDocument {
  const { table, direction, key, record, message, fingerprint, lastAtMs } = rejection;
  const texts = textParts(JSON.stringify({ key, record, message } satisfies Texts));
  const person = namedPerson(rejection);
  const entry: RejectedDocument = {
    table,
    direction,
    entry: entryName(rejection),
    number,
    fingerprint,
    lastAtMs,
    parts: texts.length,
    attempts: (before?.attempts ?? 0) + 1,
    firstAtMs: before?.firstAtMs ?? lastAtMs,
    ...(person === undefined ? {} : { person }),
  };
  tx.put(REJECTED, entry);
  for (const [part, text] of texts.entries()) tx.put(REJECTED_TEXTS, { number, part, text });
  for (let part = texts.length; part < (before?.parts ?? 0); part++) {
    tx.remove(REJECTED_TEXTS, [number, part]);
  }
  return entry;
}

function removeEntry(tx: Transaction, entry: RejectedDocument): void {
  tx.remove(REJECTED, REJECTED.keyOf(entry));
  for (let part = 0; part < entry.parts; part++) tx.remove(REJECTED_TEXTS, [entry.number, part]);
}

async function withTexts(
  at: Reader,
  entries: readonly RejectedDocument[],
): Promise<readonly RejectedRecord[]> {
  if (entries.length === 0) return [];
  const within = entries.map(({ number }) => [number]);
  const [parts] = await at.read({ from: REJECTED_TEXTS, stretch: { within } });
  const texts = Map.groupBy(parts, ({ number }) => number);
  return entries.map((entry) => {
    const { number, table, direction, fingerprint, attempts, firstAtMs, lastAtMs } = entry;
    const text = (texts.get(number) ?? []).map((part) => part.text).join("");
    const { key, record, message } = parseJson(text) as unknown as Texts;
    const id = String(number).padStart(ID_DIGITS, "0");
    const times = { attempts, firstAtMs, lastAtMs };
    return { id, table, direction, key, record, message, fingerprint, ...times };
  });
}

function stretchOf(query: RejectedQuery): Stretch {
  const { table, direction, limit, isOldestFirst = false, behindId } = query;
  const place = [table, direction].filter((part) => part !== null);
  const index = indexOf(table, direction);
  const all = { index, isReverse: !isOldestFirst, limit };
  const within = place.length === 0 ? all : { ...all, within: [place] };
  if (behindId === null) return within;
  // An entry with the number itself comes after it, as its key is behind it.
  const number = numberOf(behindId) + (isOldestFirst ? 1 : 0);
  return { ...within, after: [...place, number] };
}

function indexOf(table: string | null, direction: SyncDirection | null): string {
  if (table !== null) return direction === null ? "table" : "both";
  return direction === null ? "number" : "direction";
}

function numbered(id: string): Stretch {
  return { index: "number", within: [[numberOf(id)]] };
}

/** The number of an entry; 0, which no entry has, when the text is not an id. */
function numberOf(id: string): number {
  const isId = /^\d+$/.test(id) && id.length === ID_DIGITS;
  return isId && Number.isSafeInteger(Number(id)) ? Number(id) : 0;
}

function inParts(keys: readonly Key[]): readonly (readonly Key[])[] {
  const parts: (readonly Key[])[] = [];
  for (let i = 0; i < keys.length; i += READ_AT_ONCE) parts.push(keys.slice(i, i + READ_AT_ONCE));
  return parts;
}
