// How the rows of a push are written, within a transaction: what is there is read, the domain decides, new rows are inserted, at a
// quarter of the time, and others upserted. A row that is kept, or is as it should be, is not written; any other change meanwhile
// is a write conflict, after which the push runs again.
import type { ClientSession, Long } from "mongodb";
import type { Tombstone } from "../../../domain/sync/rows/tombstone.ts";
import { decideWrite, type WriteDecision } from "../../../domain/sync/rows/write-decision.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import type { WriteRule, Written } from "../../../ports/tables/table-writes.ts";
import { beginTurns } from "../driver/deadline.ts";
import type { StoreDeps } from "../driver/operations.ts";
import { readNowMs } from "../driver/server-clock.ts";
import { noteOwnDeletes, TombstoneDocuments } from "../driver/tombstone-documents.ts";
import { PushWriter } from "./push-writer.ts";
import { type KeyOfRow, keyOfRow, StoredRows } from "./stored-rows.ts";
import { hasNumbers } from "./table-layout.ts";
import { setNumber, type Upsert, withTime } from "./upserts.ts";

/** A row counts as late so much early: a commit takes longer to become visible, and runs look at clocks of their own. */
const MARGIN_MS = 5_000;
/** Upserts sent first behind a refused one, then twice as many each time: the next refused one may be near. */
const FIRST_TRIED = 8;

interface PushOptions extends WriteRule {
  /** Whether the upserts take effect one after the other. */
  readonly ordered: boolean;
  /** Whether new rows are sent as such: a key that is there after all is a refusal. */
  readonly insertsNew: boolean;
  /** Takes numbers for new rows; the first of them. */
  readonly takeNumbers: (count: number) => Promise<Long>;
}

interface Decided {
  readonly decision: Omit<WriteDecision<Upsert>, "sent">;
  /** The upserts that were sent, in their order; some may change nothing. */
  readonly sent: readonly Upsert[];
}

/** Every method throws `RefusedUpsert` for an upsert that the server refuses. */
export class PushRows {
  readonly #deps: StoreDeps;
  readonly #table: Table;
  readonly #options: PushOptions;
  readonly #conflict: Table["conflict"];
  readonly #deleted: readonly Tombstone[];
  readonly #writer: PushWriter;
  readonly #stored: StoredRows;
  readonly #tombstones: TombstoneDocuments;

  constructor(deps: StoreDeps, table: Table, options: PushOptions) {
    this.#deps = deps;
    this.#table = table;
    this.#options = options;
    this.#conflict = options.conflict ?? table.conflict;
    this.#deleted = options.deleted ?? [];
    this.#writer = new PushWriter(deps.db.collection(table.name), options.ordered);
    this.#stored = new StoredRows(table, deps);
    this.#tombstones = new TombstoneDocuments(deps.db, deps.storeClock);
  }

  /** Reads what is there, decides, and writes what changes. */
  async write(upserts: readonly Upsert[], tx: ClientSession): Promise<Written> {
    const nowMs = await readNowMs(this.#deps);
    const beganMs = this.#deps.clock.monotonicMs();
    const { decision, sent } = await this.#decide(upserts, nowMs, tx);
    const { failures, kept, buried, added, removed, earliestChanged, earliestKept } = decision;
    // The driver would make a command of each change between the two kinds.
    const insertsNew = this.#options.insertsNew && !this.#options.ordered;
    const inserted = new Set(insertsNew ? added : []);
    await this.#writer.insert(
      sent.filter((upsert) => inserted.has(upsert)),
      tx,
    );
    const rest = sent.filter((upsert) => !inserted.has(upsert));
    const changed = inserted.size + (await this.#writer.upsert(rest, tx));
    return {
      visibleMs: nowMs + Math.ceil(this.#deps.clock.monotonicMs() - beganMs) + MARGIN_MS,
      changed,
      deleted: removed.size,
      failures,
      kept,
      ...(buried.length === 0 ? {} : { buried }),
      earliestChanged,
      earliestKept,
    };
  }

  /** As `write()`, in parts of which each has twice as many upserts as the one before. */
  async tryOut(upserts: readonly Upsert[], tx: ClientSession): Promise<void> {
    const { sent } = await this.#decide(upserts, await readNowMs(this.#deps), tx);
    for (let i = 0, count = FIRST_TRIED; i < sent.length; i += count, count *= 2) {
      await this.#writer.upsert(sent.slice(i, i + count), tx);
    }
  }

  /**
   * Decides by the snapshot of the transaction, and does what is decided of tombstones. Whoever changes a row meanwhile that
   * is not sent has done it after this push.
   */
  async #decide(upserts: readonly Upsert[], nowMs: number, tx: ClientSession): Promise<Decided> {
    const table = this.#table;
    const turns = beginTurns(this.#deps.clock);
    const keys = [...this.#deleted.map(({ key }) => keyOfRow(table, key)), ...upserts];
    const tombstones = await this.#findTombstones(keys, tx);
    const hasTombstones = this.#deleted.length + tombstones.size > 0;
    const rows = await this.#stored.readRows(keys, tx);
    // Tombstones are listed in the order of the records.
    const records = hasTombstones ? upserts.toSorted(byIndex) : upserts;
    const steps = decideWrite(
      table,
      { deleted: this.#deleted, records },
      { rows, tombstones },
      {
        conflict: this.#conflict,
        nowMs,
        stamps: this.#options.stamps,
        withTime: (upsert, time) => withTime(table, upsert, time),
      },
    );
    const decision = await turns.run(steps);
    await this.#number(decision.added);
    await this.#clear(decision, tx);
    return { decision, sent: this.#sentOf(upserts, decision) };
  }

  /** Numbers new rows in the order of their records. */
  async #number(added: readonly Upsert[]): Promise<void> {
    if (added.length === 0 || !hasNumbers(this.#table)) return;
    const first = await this.#options.takeNumbers(added.length);
    const turns = beginTurns(this.#deps.clock);
    for (const [n, upsert] of added.toSorted(byIndex).entries()) {
      if (turns.isOver) await turns.next();
      setNumber(upsert, first.add(n));
    }
  }

  /** Without the guard the server tells what is the same: a BSON date is not, beside the text of its time. D-7.10. */
  #sentOf(
    upserts: readonly Upsert[],
    { sent, failures }: WriteDecision<Upsert>,
  ): readonly Upsert[] {
    if (this.#conflict !== "newer" && this.#options.stamps === undefined) {
      const failed = new Set(failures.map(({ index }) => index));
      return upserts.filter(({ index }) => !failed.has(index));
    }
    const byPosition = new Map(sent.map((upsert) => [upsert.index, upsert]));
    return upserts.flatMap(({ index }) => byPosition.get(index) ?? []);
  }

  async #findTombstones(
    keys: readonly KeyOfRow[],
    tx: ClientSession,
  ): Promise<Map<string, string>> {
    if (!this.#table.deletes) return new Map();
    const texts = new Set(keys.map(({ keyText }) => keyText));
    return await this.#tombstones.find(this.#table, texts, tx);
  }

  async #clear(
    { forgotten, listed, removed }: WriteDecision<Upsert>,
    tx: ClientSession,
  ): Promise<void> {
    await this.#tombstones.forget(this.#table, forgotten, tx);
    await this.#tombstones.list(this.#table, listed, tx);
    if (removed.size === 0) return;
    const keys = [...removed.values()].map((key) => keyOfRow(this.#table, key));
    await this.#stored.remove(keys, tx);
    if (this.#table.deletes) await noteOwnDeletes(this.#deps.db, tx);
  }
}

function byIndex(a: Upsert, b: Upsert): number {
  return a.index - b.index;
}
