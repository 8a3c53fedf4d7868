// What the service itself keeps: accounts, keys, runs, leases … each a collection of documents in one transactional store.
import { isKey, type Key } from "../domain/shared/document-key.ts";
import { AppError } from "../domain/shared/errors.ts";
import { REQUEST_DEADLINE_MS } from "../domain/shared/limits.ts";
import type { Row, Table } from "../domain/sync/table/table.ts";
import type { TableWrites } from "./tables/table-writes.ts";

/**
 * Documents of one sort, declared once. A document holds its own key, so that it can be read and copied as it is.
 *
 * Documents are JSON with field names of ours; what strangers wrote is one text in a field. A document has at most 1 MiB
 * beside its texts and bytes, each of which has at most 4 MiB. Fields that are undefined are left out.
 */
export interface Collection<Doc extends object> {
  /** `^[a-z][a-z_]*$`. */
  readonly name: string;
  /** The key of a document, at most 1 KiB. */
  readonly keyOf: (doc: Doc) => Key;
  /** Other orders, by name: a document's place, or null for none. It stands at `[...place, ...key]`, so places may be shared. */
  readonly indexes?: Readonly<Record<string, (doc: Doc) => Key | null>>;
  /** All fields: the columns of a view for people who look into the store. */
  readonly fields?: readonly FieldOf<Doc>[];
  /** Fields that are `Uint8Array` where they are there. */
  readonly bytes?: readonly (keyof Doc & string)[];
  /** True where documents, without fields of bytes, may exceed some KiB: a store then reads them one by one. */
  readonly isLarge?: true;
  /** False for what means something in this store only, such as leases: copies leave it out. */
  readonly isCopied?: false;
}

/** A field of a document, of whichever sort it is. */
type FieldOf<Doc> = Doc extends unknown ? keyof Doc & string : never;

// biome-ignore lint/suspicious/noExplicitAny: a collection of whatever documents
export type AnyCollection = Collection<any>;

export function copiedOf(collections: readonly AnyCollection[]): readonly AnyCollection[] {
  return collections.filter(({ isCopied = true }) => isCopied);
}

/** Consecutive documents in the order of the keys, or of an index. */
export interface Stretch {
  /** The index whose order it is; absent: that of the keys. Keys below are then places, with the document's key behind. */
  readonly index?: string;
  /** Only keys that begin with one of these. */
  readonly within?: readonly Key[];
  /** Only what comes after this key in the direction of reading. */
  readonly after?: Key;
  /** Only what does not come after this key in the direction of reading. */
  readonly upTo?: Key;
  /** True reads from the end. */
  readonly isReverse?: boolean;
  /** At most so many, 1 or more; absent: all of them. */
  readonly limit?: number;
}

/** A stored document that another program has put or changed. */
export class Damaged {
  /** The document's key; null where what stands there is no key. */
  readonly key: Key | null;
  /** As it is stored, for people. */
  readonly text: string;
  /** The key as the store understands it. */
  readonly place: unknown;

  constructor(key: Key | null, text: string, place: unknown) {
    this.key = key !== null && isKey(key) ? key : null;
    this.text = this.key === null ? text : JSON.stringify(this.key);
    this.place = place;
  }
}

/** The error of a read that meets a damaged document. */
export function damagedDocument({ name }: AnyCollection, cause?: unknown): AppError {
  const message = `A document of "${name}" is damaged: another program has changed it`;
  return new AppError("store_unavailable", message, { cause });
}

/** Consecutive documents in the order of the keys, as they are stored. */
export interface StoredStretch {
  /** Only keys that begin with one of these; absent: everything that is stored, with whatever key. */
  readonly within?: readonly Key[];
  /** Only what comes after this key, or after this document. */
  readonly after?: Key | Damaged;
  /** At most so many, 1 or more; absent: all of them. */
  readonly limit?: number;
}

export type Query =
  /**
   * Documents by key, in the order of the keys, each once; a key without a document gives none. With `lock`, where one body locks a
   * key and another locks, puts or removes it, one of the two runs again, whether there is a document or not; only in a body's
   * first read.
   */
  | { readonly from: AnyCollection; readonly keys: readonly Key[]; readonly lock?: true }
  | { readonly from: AnyCollection; readonly stretch: Stretch }
  /** Passes over none: a document that this collection would store otherwise, in any column, comes as `Damaged`. */
  | { readonly from: AnyCollection; readonly asStored: StoredStretch }
  /** The number of documents in a stretch. */
  | { readonly from: AnyCollection; readonly count: Stretch }
  /** The keys of the documents of a stretch, whichever index it goes by. */
  | { readonly from: AnyCollection; readonly keysOf: Stretch }
  /**
   * A number for each name, in their order, that grows in the commit of every change that raises it: `raise`, and every
   * write of a row of people, whichever program makes it where the store can tell. Other names may share it.
   */
  | { readonly versionsOf: readonly string[] }
  /** The rows with one of these values in a column, in any order, as they were written; none without the column. */
  | {
      readonly rowsOf: Table;
      readonly where: readonly [column: string, values: readonly string[]];
    }
  /** Likewise the rows with these keys. */
  | { readonly rowsOf: Table; readonly keys: readonly Row[] };

type Answer<Q> = Q extends { readonly count: Stretch }
  ? number
  : Q extends { readonly keysOf: Stretch }
    ? readonly Key[]
    : Q extends { readonly versionsOf: readonly string[] }
      ? readonly number[]
      : Q extends { readonly rowsOf: Table }
        ? readonly Row[]
        : Q extends { readonly from: Collection<infer Doc>; readonly asStored: StoredStretch }
          ? readonly (Doc | Damaged)[]
          : Q extends { readonly from: Collection<infer Doc> }
            ? readonly Doc[]
            : never;

export type Answers<Queries extends readonly Query[]> = {
  readonly [I in keyof Queries]: Answer<Queries[I]>;
};

export interface CallOptions {
  /** For spans and the log: `consents.grant`. */
  readonly name: string;
  /** True when what is read decides a right: then no server that was replaced can have answered, even where nothing is written. */
  readonly isProven?: true;
  /** Absent: `REQUEST_CALLS`. */
  readonly limit?: CallLimit | undefined;
  /** True when the caller goes on with parts: beside busy writers it soon throws `batch_too_large`. D-11.10. */
  readonly isDivisible?: boolean;
  /** True for short bodies that change one document: those of a name wait for each other, and do not run again and again. */
  readonly isQueued?: true;
}

export interface CallLimit {
  /** Milliseconds in which the body is run again when it meets others or the store is busy. */
  readonly triesMs: number;
  /** Milliseconds after which the call fails, commit included; a store that works at once ends it at a turn. */
  readonly endMs: number;
}

/** For requests under `/v1`. D-8.3. */
export const REQUEST_CALLS: CallLimit = {
  triesMs: REQUEST_DEADLINE_MS,
  endMs: REQUEST_DEADLINE_MS,
};
/** True for bodies of requests. Bodies that write many rows have more time, and would keep others waiting for a turn. */
export function isShort({ triesMs }: CallLimit): boolean {
  return triesMs <= REQUEST_CALLS.triesMs;
}
/** For pages, pushes and runs: MongoDB replaces a lost server in 11 to 13 s, and a broken connection may hang for ever. */
export const SYNC_CALLS: CallLimit = { triesMs: 20_000, endMs: 120_000 };
/** For counts that nothing depends on: a run waits 15 s for a status that is full of them. D-3.10, D-4.6. */
export const COUNT_CALLS: CallLimit = { triesMs: 5_000, endMs: 5_000 };
/** For what a start makes: an index over a large table takes its time. */
export const START_CALLS: CallLimit = { triesMs: 20_000, endMs: Number.POSITIVE_INFINITY };

/** One moment of the store. */
export interface Reader {
  /** The store's clock, which all instances share, in milliseconds since 1970, of this moment. Only after the first read. */
  readonly nowMs: number;

  /**
   * Answers all queries of documents in one message, as of the moment of the body's first read, with the body's own writes. A
   * damaged document fails the call (`damagedDocument`); it is never passed over. Throws `store_unavailable`.
   */
  read<const Queries extends readonly Query[]>(...queries: Queries): Promise<Answers<Queries>>;
}

/** A body's changes: all of them are committed, or none. */
export interface Transaction extends Reader {
  /** Stores a whole document in place of the one with its key. Sent with the commit, or before the next read of its collection. */
  put<Doc extends object>(to: Collection<Doc>, doc: Doc): void;

  /** Removes a document; nothing happens where there is none. */
  remove(from: AnyCollection, key: Key): void;

  /** Raises the versions of names in this commit, or of every name. D-6.3. */
  raise(names: readonly string[] | "everybody"): void;

  readonly tables: TableWrites;

  /** Lets other work of this process have its turn, in a long body. D-7.9. */
  turn(): Promise<void>;
}

/** A commit whose outcome did not become known in time: it may have happened, or still happen. */
export class CommitInDoubt extends AppError {
  constructor(cause?: unknown) {
    const message = "The connection to the store broke during a commit: its outcome is unknown";
    super("store_unavailable", message, { cause });
  }
}

/**
 * The documents of a store. Every method throws `store_unavailable` when the store cannot be reached in time.
 *
 * A body waits for nothing but its reader or transaction, one call after the other: another wait holds others up, or throws. It may
 * run again from its start; then it makes the same calls in the same order. Of two bodies that read a key, present or absent, and
 * put or remove it, one runs again, as if they had run one after the other; what is only read may have changed at the commit,
 * unless it was locked. A body that decides over a set locks its owner's document, such as the account for its keys and consents.
 */
export interface DocumentStore {
  /** Milliseconds for which waiting for more work in a commit pays; absent or 0 where commits cost little. Advice only. */
  readonly gatherMs?: number;

  /** True where bodies are told other programs' commits (`TableWrites.takeCommitted`): then runs need no allowance. D-12.3. */
  tellsCommits?(table: Table): boolean;

  /** The statement by which an owner lets the store tell commits to a table; null where it tells them, or never can. D-12.2. */
  tellingGrant?(table: Table): string | null;

  /** Makes what is missing for these collections. Idempotent, and safe when several instances do it at once. */
  prepare(collections: readonly AnyCollection[]): Promise<void>;

  /** Runs a body that reads one moment; its result and its errors come out. */
  read<T>(options: CallOptions, body: (at: Reader) => Promise<T>): Promise<T>;

  /**
   * Runs a body and commits what it wrote; resolved is durable. What the body throws rolls everything back and comes out. Throws
   * `CommitInDoubt`, after which the body is not run again; where nothing was committed `store_unavailable`, or `commit_failed` for
   * a body that wrote rows.
   */
  transact<T>(options: CallOptions, body: (tx: Transaction) => Promise<T>): Promise<T>;
}
