// Writes rows within a transaction. Most rows are sent as upserts by key, without a read: reading first makes writes of existing keys an
// eighth slower. A write with a guard, stamps, tombstones, numbers, or records that must not be new reads first, and the domain decides.
// It inserts new rows, in a quarter of the time of an upsert, and leaves out unchanged ones. A concurrent change of a written row is a
// write conflict, after which the write runs again. The server tells how many rows of a bulk write changed, not which: a write that
// changed only some of its late rows runs again with a read. A table that is being filled is not read.
import type { ClientSession, Long } from "mongodb";
import { compareDateTimes } from "../../../domain/shared/time.ts";
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { earliestTime } from "../../../domain/sync/rows/row-time.ts";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import {
  decideWrite,
  setsTime,
  type WriteDecision,
} from "../../../domain/sync/rows/write-decision.ts";
import { lateBefore } from "../../../domain/sync/run/late-rows.ts";
import { isVersioned, type Table, type WriteConflict } from "../../../domain/sync/table/table.ts";
import { SYNC_CALLS } from "../../../ports/documents.ts";
import type { WriteRule, Written } from "../../../ports/tables/table-writes.ts";
import { takeNumbers } from "../driver/collections.ts";
import { beginTurns } from "../driver/deadline.ts";
import {
  findTombstones,
  forgetTombstones,
  listTombstones,
  noteOwnDeletes,
} from "../driver/tombstone-documents.ts";
import { Rerun } from "../driver/transaction.ts";
import type { VersionedDeps } from "../driver/versions.ts";
import { findStored, type KeyOfRow, keyOfRow, removeStored } from "./stored-rows.ts";
import { hasNumbers } from "./table-layout.ts";
import { readNowMs } from "./table-states.ts";
import { sendInserts, sendUpserts } from "./upsert-sender.ts";
import { mayInsert, ofNoList, onlyChanges, setNumber, type Upsert, withTime } from "./upserts.ts";

/** Margin of lateness: a commit takes time to become visible, and runs have clocks of their own. */
const MARGIN_MS = 5_000;
/** Upserts in the first try behind a refused one, as the next refused one may be near. Each further try has twice as many. */
const FIRST_TRIED = 8;

/** What earlier attempts have met, for the next one. */
export interface Learnt {
  /** True when new rows are inserted: an existing key is then a refusal. False after a refusal, which a unique index may have caused. */
  insertsNew: boolean;
  /** True when rows are always read: an earlier attempt could not tell which of them changed. */
  readsFirst: boolean;
  /** True when tombstones without rows have met the commits of others. */
  meetsFirst: boolean;
  /** Numbers for new rows. */
  numbers: { readonly first: Long; readonly count: number } | null;
}

interface WriteOptions {
  readonly rule: WriteRule;
  readonly learnt: Learnt;
  /** True when upserts take effect one after the other. */
  readonly ordered: boolean;
  /** True when all rows count as new, unread. */
  readonly isFilling: boolean;
}

interface WrittenRows extends Written {
  readonly newRows: number;
}

interface There {
  readonly nowMs: number;
  /** `deletedAt` by the text of the key. */
  readonly tombstones: Map<string, string>;
}

type Done = Omit<WrittenRows, "visibleMs">;

/** Every method throws `RefusedUpsert` when the server refuses an upsert. */
export class RowWrites {
  readonly #deps: VersionedDeps;
  readonly #table: Table;
  readonly #options: WriteOptions;
  readonly #conflict: WriteConflict;
  readonly #deleted: readonly Tombstone[];

  constructor(deps: VersionedDeps, table: Table, options: WriteOptions) {
    this.#deps = deps;
    this.#table = table;
    this.#options = options;
    this.#conflict = options.rule.conflict ?? table.conflict;
    this.#deleted = options.rule.deleted ?? [];
  }

  /** Sends rows unread where that is enough, else reads, decides, and writes changes. Throws `Rerun` for unread late rows. */
  async write(upserts: readonly Upsert[], tx: ClientSession): Promise<WrittenRows> {
    const { isFilling, learnt } = this.#options;
    if (learnt.meetsFirst) await this.#deps.versions.meetChanges(this.#table, tx);
    const nowMs = await readNowMs(this.#deps, this.#table);
    const beganMs = this.#deps.clock.monotonicMs();
    const tombstones = await this.#findTombstones(upserts, tx);
    const hasTombstones = this.#deleted.length + tombstones.size > 0;
    const written =
      !hasTombstones && !isFilling && this.#isSentUnread(upserts)
        ? await this.#sendUnread(upserts, nowMs, tx)
        : await this.#writeRead(upserts, { nowMs, tombstones }, tx);
    const tookMs = Math.ceil(this.#deps.clock.monotonicMs() - beganMs);
    return { ...written, visibleMs: nowMs + tookMs + MARGIN_MS };
  }

  /** True when neither the outcome of the records nor their times depend on stored rows. */
  #isSentUnread(upserts: readonly Upsert[]): boolean {
    const table = this.#table;
    const isGuarded = this.#conflict === "newer" && isVersioned(table);
    const { ordered, learnt, rule } = this.#options;
    if (isGuarded || rule.stamps !== undefined || learnt.readsFirst || ordered) return false;
    if (hasNumbers(table)) return false;
    const isKey = table.keyColumns.some(({ name }) => name === table.timestampColumn);
    const isTimeless = table.timestampColumn === null || table.updateColumns.length === 0;
    const hasTime = (upsert: Upsert) => isTimeless || isKey || setsTime(table, upsert);
    return upserts.every((one) => mayInsert(one) && hasTime(one));
  }

  /** Throws `Rerun` unless all or none of the late rows have changed. */
  async #sendUnread(upserts: readonly Upsert[], nowMs: number, tx: ClientSession): Promise<Done> {
    const { changed, newRows } = await sendUpserts(this.#target(tx), upserts);
    const earliest = changed === 0 ? null : earliestTime(upserts.map(({ time }) => time));
    const lateLimit = lateBefore(this.#table, nowMs + SYNC_CALLS.triesMs + MARGIN_MS);
    const isLate = earliest !== null && compareDateTimes(earliest, lateLimit) < 0;
    if (isLate && changed < upserts.length) {
      this.#options.learnt.readsFirst = true;
      throw new Rerun();
    }
    const none = { failures: [], kept: [], deleted: 0, earliestKept: null };
    return { ...none, changed, newRows, earliestChanged: earliest };
  }

  async #writeRead(upserts: readonly Upsert[], there: There, tx: ClientSession): Promise<Done> {
    const decision = await this.#decide(upserts, there, tx);
    const { sent, failures, kept, buried, added, removed } = decision;
    const { earliestChanged, earliestKept } = decision;
    const isNew = new Set(this.#options.learnt.insertsNew ? added : []);
    const inserts = sent.filter((upsert) => isNew.has(upsert));
    const updates = sent.filter((upsert) => !isNew.has(upsert));
    const target = this.#target(tx);
    await sendInserts(target, inserts);
    const changed = inserts.length + (await sendUpserts(target, updates)).changed;
    return {
      changed,
      newRows: added.length,
      deleted: removed.size,
      failures,
      kept,
      ...(buried.length === 0 ? {} : { buried }),
      earliestChanged,
      earliestKept,
    };
  }

  /** As `write()`, in parts that double in size. */
  async tryOut(upserts: readonly Upsert[], tx: ClientSession): Promise<void> {
    const nowMs = await readNowMs(this.#deps, this.#table);
    const tombstones = await this.#findTombstones(upserts, tx);
    const { sent } = await this.#decide(upserts, { nowMs, tombstones }, tx);
    for (let i = 0, count = FIRST_TRIED; i < sent.length; i += count, count *= 2) {
      await sendUpserts(this.#target(tx), sent.slice(i, i + count));
    }
  }

  /** Decides by the rows in the snapshot, and applies decisions about tombstones. A later change of an unsent row comes after this write. */
  async #decide(
    upserts: readonly Upsert[],
    { nowMs, tombstones }: There,
    tx: ClientSession,
  ): Promise<WriteDecision<Upsert>> {
    const table = this.#table;
    const turns = beginTurns(this.#deps.clock);
    const hasTombstones = this.#deleted.length + tombstones.size > 0;
    const isUnread = this.#options.isFilling && !hasTombstones;
    const keys = isUnread ? [] : this.#keysOf(upserts);
    const rows = await findStored(this.#deps, table, { keys, columns: table.pushColumns }, tx);
    // Deciding changes the rows. A key that occurs twice has another row by then.
    const before = new Map(this.#isForChanges && !this.#options.ordered ? rows : []);
    // Tombstones are listed in the order of records.
    const records = hasTombstones ? upserts.toSorted(byIndex) : upserts;
    const steps = decideWrite(
      table,
      { deleted: this.#deleted, records },
      { rows, tombstones },
      {
        conflict: this.#conflict,
        nowMs,
        stamps: this.#options.rule.stamps,
        withTime: (upsert, time) => withTime(table, upsert, time),
      },
    );
    const decision = await turns.run(steps);
    await this.#number(decision.added);
    await this.#clear(decision, tx);
    const added = new Set(decision.added);
    const sent: Upsert[] = [];
    for (const upsert of this.#sentOf(upserts, decision)) {
      if (turns.isOver) await turns.next();
      if (added.has(upsert)) {
        sent.push(this.#options.learnt.insertsNew ? upsert : ofNoList(upsert));
        continue;
      }
      const here = before.get(upsert.keyText);
      sent.push(here === undefined ? upsert : onlyChanges(table, upsert, here.row));
    }
    return { ...decision, sent };
  }

  /**
   * Numbers new rows in the order of their records, by the numbers of an earlier attempt where they suffice. Taken outside of the
   * transaction, in which all writes would conflict.
   */
  async #number(added: readonly Upsert[]): Promise<void> {
    const count = added.length;
    if (count === 0 || !hasNumbers(this.#table)) return;
    const { learnt } = this.#options;
    if (learnt.numbers === null || learnt.numbers.count < count) {
      learnt.numbers = { first: await takeNumbers(this.#deps.db, this.#table.name, count), count };
    }
    const { first } = learnt.numbers;
    const turns = beginTurns(this.#deps.clock);
    for (const [n, upsert] of added.toSorted(byIndex).entries()) {
      if (turns.isOver) await turns.next();
      setNumber(upsert, first.add(n));
    }
  }

  /**
   * What is sent, in the order of sending. Without the guard all records are: the server finds equal rows, except a BSON date beside the
   * text of its time. D-7.10.
   */
  #sentOf(
    upserts: readonly Upsert[],
    { sent, failures }: WriteDecision<Upsert>,
  ): readonly Upsert[] {
    if (!this.#isForChanges) {
      const failed = new Set(failures.map(({ index }) => index));
      return upserts.filter(({ index }) => !failed.has(index));
    }
    const byPosition = new Map(sent.map((upsert) => [upsert.index, upsert]));
    return upserts.flatMap(({ index }) => byPosition.get(index) ?? []);
  }

  /** True where the rows in the snapshot decide what is sent of each. */
  get #isForChanges(): boolean {
    return this.#conflict === "newer" || this.#options.rule.stamps !== undefined;
  }

  #target(tx: ClientSession) {
    const collection = this.#deps.db.collection(this.#table.name);
    return { collection, isOrdered: this.#options.ordered, tx };
  }

  /** The keys of all records and tombstones that arrive. */
  #keysOf(upserts: readonly Upsert[]): readonly KeyOfRow[] {
    return [...this.#deleted.map(({ key }) => keyOfRow(this.#table, key)), ...upserts];
  }

  async #findTombstones(
    upserts: readonly Upsert[],
    tx: ClientSession,
  ): Promise<Map<string, string>> {
    if (!this.#table.deletes) return new Map();
    const texts = new Set(this.#keysOf(upserts).map(({ keyText }) => keyText));
    return await findTombstones(this.#deps.db, this.#table, texts, tx);
  }

  async #clear(
    { forgotten, listed, removed }: WriteDecision<Upsert>,
    tx: ClientSession,
  ): Promise<void> {
    const { db, versions } = this.#deps;
    const { learnt } = this.#options;
    const isAlone = ({ key }: Tombstone) => !removed.has(keyText(this.#table, key));
    if (this.#deleted.length > 0 && !learnt.meetsFirst && listed.some(isAlone)) {
      // Nothing else keeps out a row of the key that comes meanwhile.
      learnt.meetsFirst = true;
      await versions.meetChanges(this.#table, tx);
    }
    await forgetTombstones(db, this.#table, forgotten, tx);
    await listTombstones(this.#deps, this.#table, listed, tx);
    if (removed.size === 0) return;
    const keys = [...removed.values()].map((key) => keyOfRow(this.#table, key));
    await removeStored(db, this.#table, keys, tx);
    if (this.#table.deletes) await noteOwnDeletes(db, tx);
  }
}

function byIndex(a: Upsert, b: Upsert): number {
  return a.index - b.index;
}
