// The rows that one body reads and writes. A write finds what is there, lets the domain decide, and sends the changes. Where the server
// refuses records, the write decides again without them.
import { keyText } from "../../../domain/sync/rows/row-key.ts";
import { rowTime } from "../../../domain/sync/rows/row-time.ts";
import {
  type Arrivals,
  type ArrivingRecord,
  type DecisionRule,
  decideWrite,
  type FoundByKey,
} from "../../../domain/sync/rows/write-decision.ts";
import type { ColumnValue, Row, Table } from "../../../domain/sync/table/table.ts";
import type {
  RowWrite,
  TableWrites,
  TombstoneWrite,
  WriteRule,
  Written,
} from "../../../ports/tables/table-writes.ts";
import { isRefusal, passedOver } from "../driver/errors.ts";
import { TAKE_TOLD } from "../driver/schema.ts";
import { inParts } from "../driver/sql.ts";
import type { ServerTransaction } from "../driver/transaction.ts";
import { timeOf } from "./columns.ts";
import type { Layout } from "./layout.ts";
import type { PostgresTables } from "./postgres-tables.ts";
import { findRows, RowStatements } from "./row-statements.ts";
import { requireSame, requireSameSince } from "./table-fit.ts";
import { tombstonesWith } from "./tombstones.ts";
import {
  arriving,
  type ByKey,
  type Decided,
  inRounds,
  type KeyedRow,
  keysOf,
  locks,
  outcomeOf,
  type Refused,
  type RefusedItem,
  refusedOf,
  sentRows,
  without,
} from "./write-steps.ts";

interface Sending {
  readonly layout: Layout;
  /** Rows and tombstones before the write. */
  readonly known: FoundByKey;
  /** Rows and tombstones after the write. */
  readonly found: FoundByKey;
  readonly decided: Decided;
  readonly deleted: readonly TombstoneWrite[];
}

interface Arrived extends Arrivals<ArrivingRecord> {
  readonly deleted: readonly TombstoneWrite[];
}

/** No refusals; never changed. */
const NONE_REFUSED: Refused = { records: [], deletes: [] };

export class BodyTables implements TableWrites {
  readonly #tx: ServerTransaction;
  readonly #tables: PostgresTables;
  readonly #rows: RowStatements;
  excludesPushes = false;

  constructor(tx: ServerTransaction, tables: PostgresTables) {
    this.#tx = tx;
    this.#tables = tables;
    this.#rows = new RowStatements(tx);
  }

  async write(table: Table, writes: readonly RowWrite[], rule: WriteRule = {}): Promise<Written> {
    const layout = this.#tables.layout(table);
    const { conflict = table.conflict, stamps } = rule;
    const deleted = (rule.deleted ?? []).filter(({ key }) => layout.holdsKey(key));
    const turns = this.#tables.turns();
    const refused: Refused = { records: [], deletes: [] };
    const records = await turns.run(arriving(table, writes, refused.records));
    await requireSameSince(this.#tx, layout);
    const { nowMs } = this.#tx;
    const rules = { conflict, nowMs, stamps };
    const rounds = await turns.run(inRounds(records));
    // The table's rules judge every record of a key. Without rules only the last one is written. D-3.6.
    const isJudged = rounds.length > 1 && (await this.#rows.hasRules(layout));
    const decided: Decided[] = [];
    for (const [i, round] of (isJudged ? rounds : [records]).entries()) {
      const arrived = { deleted: i === 0 ? deleted : [], records: round };
      decided.push(await this.#writeRound(layout, arrived, rules, refused));
    }
    return outcomeOf(decided, refused, nowMs);
  }

  /** Writes all but refused records, which it adds to `refused`. */
  async #writeRound(
    layout: Layout,
    arrived: Arrived,
    rules: DecisionRule<ArrivingRecord>,
    refused: Refused,
  ): Promise<Decided> {
    const { table } = layout;
    const turns = this.#tables.turns();
    let { records, deleted } = arrived;
    const known = await this.#find(layout, await turns.run(keysOf(table, records, deleted)));
    for (;;) {
      const found = { rows: new Map(known.rows), tombstones: new Map(known.tombstones) };
      const decided = await turns.run(decideWrite(table, { deleted, records }, found, rules));
      const now = await this.#send({ layout, known, found, decided, deleted });
      if (now.records.length + now.deletes.length === 0) return decided;
      refused.records.push(...now.records);
      refused.deletes.push(...now.deletes);
      records = without(records, now.records);
      deleted = without(deleted, now.deletes);
    }
  }

  async change(table: Table, column: string, value: string, fields: Row | null): Promise<void> {
    const change = { fields, turns: this.#tables.turns() };
    await this.#rows.change(this.#tables.layout(table), [column, value], change);
  }

  async takeCommitted(table: Table): Promise<string | null> {
    const layout = this.#tables.layout(table);
    const taken = this.#tx.first(TAKE_TOLD, [String(layout.slot)]);
    const [at] = await Promise.all([taken, requireSame(this.#tx, layout)]);
    return typeof at === "string" ? timeOf(at) : null;
  }

  async excludePushes(): Promise<void> {
    this.excludesPushes = true;
  }

  /** Locks what the rows may share with other writes, and finds rows and tombstones. */
  async #find(layout: Layout, keys: ByKey): Promise<FoundByKey> {
    const found: FoundByKey = { rows: new Map(), tombstones: new Map() };
    const locking = await this.#tables.turns().run(locks(layout.table, keys));
    // The server finds the next part while one is taken in, with turns for others. D-7.9.
    let before: Promise<unknown> = Promise.all(this.#tx.send(locking));
    for (const some of inParts([...keys.values()])) {
      const finding = this.#findSome(layout, some, found);
      finding.catch(() => {});
      await before;
      before = finding;
    }
    await before;
    return found;
  }

  async #findSome(layout: Layout, keys: readonly Row[], found: FoundByKey): Promise<void> {
    const { table } = layout;
    const [rows, tombstones] = await Promise.all([
      findRows(this.#tx, layout, keys, table.pushColumns),
      table.deletes ? tombstonesWith(this.#tx, layout, keys) : [],
    ]);
    for (const row of rows) {
      found.rows.set(keyText(table, row), { row, time: rowTime(table, row) });
    }
    for (const { key, deletedAt } of tombstones) {
      found.tombstones.set(keyText(table, key), deletedAt);
    }
  }

  /** Writes the decided changes. When the server refuses some, writes nothing and returns them. */
  async #send(sending: Sending): Promise<Refused> {
    const { layout, found, decided } = sending;
    const rows = await this.#tables.turns().run(sentRows(decided, found));
    const removed = [...decided.removed];
    if (rows.length + removed.length + decided.forgotten.size + decided.listed.length === 0) {
      return NONE_REFUSED;
    }
    this.#tx.writesRows();
    const numbers = await this.#numbers(layout, decided);
    const write = async (isAtOnce: boolean): Promise<Refused> => {
      const act = <Item>(items: readonly Item[], on: (some: readonly Item[]) => Promise<void>) =>
        isAtOnce ? on(items).then(() => []) : this.#findRefused(items, on);
      // Other programs lock a row, and their triggers then its tombstone: another order would meet deadlocks.
      const deletes = await act(removed, (some) => this.#removeAll(layout, some));
      await this.#forget(sending, decided.forgotten.intersection(decided.removed));
      // A key that is too long for an index has no row, so its tombstone is not needed.
      await act(decided.listed, (some) => this.#rows.list(layout, some));
      const records = await act(rows, (some) => this.#putAll(sending, numbers, some));
      await this.#forget(sending, decided.forgotten, OF_OTHERS);
      return refusedOf(layout.table, sending, { deletes, records });
    };
    try {
      await this.#tx.attempt(async () => {
        await write(true);
      });
      return NONE_REFUSED;
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
    let refused = NONE_REFUSED;
    const finding = this.#tx.attempt(async () => {
      refused = await write(false);
      // Refused together, and none of them alone, as by a rule about several rows: all of them are written then.
      if (refused.records.length + refused.deletes.length > 0) throw UNDONE;
    });
    await finding.catch((thrown) => {
      if (thrown !== UNDONE) throw thrown;
    });
    return refused;
  }

  /**
   * Halves refused items until each refused one is found. Accepted ones stay written meanwhile, as a rule may be about several, and
   * refused ones are tried again behind them, as they may need them.
   */
  async #findRefused<Item>(
    items: readonly Item[],
    act: (some: readonly Item[]) => Promise<void>,
  ): Promise<readonly RefusedItem<Item>[]> {
    const refused: RefusedItem<Item>[] = [];
    const place = async (some: readonly Item[]): Promise<void> => {
      const [first] = some;
      if (first === undefined) return;
      try {
        await this.#tx.attempt(() => act(some));
      } catch (error) {
        if (!isRefusal(error)) throw error;
        if (some.length === 1) {
          refused.push({ item: first, failure: error });
          return;
        }
        const half = some.length >> 1;
        await place(some.slice(0, half));
        await place(some.slice(half));
      }
    };
    await place(items);
    if (refused.length === items.length || refused.length > MOST_AGAIN) return refused;
    const again = refused.map(({ item }) => item);
    return await this.#findRefused(again, act);
  }

  async #removeAll(layout: Layout, rows: readonly KeyedRow[]): Promise<void> {
    const keys = rows.map(([, row]) => row);
    if ((await this.#rows.remove(layout, layout.name, keys)) < keys.length) throw passedOver();
  }

  /** Numbers of new rows, by `keyText`, in the order of their records. */
  async #numbers(layout: Layout, decided: Decided): Promise<ReadonlyMap<string, ColumnValue>> {
    const { numbered: column } = layout;
    if (column === null) return new Map();
    const texts = decided.added.map((record) => record.keyText);
    const text = `select nextval(${layout.sequence(column)}) from generate_series(1, $1::int4)`;
    const numbers = new Map<string, ColumnValue>();
    for (const some of inParts(texts)) {
      const lines = await this.#tx.query(text, [String(some.length)]);
      for (const [i, one] of some.entries()) numbers.set(one, Number(lines[i]?.[0]));
    }
    return numbers;
  }

  async #putAll(
    { layout, known, decided }: Sending,
    numbers: ReadonlyMap<string, ColumnValue>,
    rows: readonly KeyedRow[],
  ): Promise<void> {
    const { numbered: number, table } = layout;
    const columns = number === null ? table.pushColumns : [...table.pushColumns, number];
    const isKnown = ([text]: KeyedRow) => known.rows.has(text) && !decided.removed.has(text);
    for (const some of inParts(rows)) {
      const fresh = some.filter((one) => !isKnown(one));
      const inserted = fresh.map(([text, row]) =>
        number === null ? row : { ...row, [number.name]: numbers.get(text) ?? null },
      );
      const updated = some.filter(isKnown).map(([, row]) => row);
      let written = 0;
      if (updated.length > 0) written += await this.#rows.update(layout, updated);
      if (inserted.length > 0) written += await this.#rows.insert(layout, inserted, columns);
      if (written < some.length) throw passedOver();
    }
  }

  async #forget({ layout, found }: Sending, texts: ReadonlySet<string>, also = ""): Promise<void> {
    const rows = Array.from(texts, (text) => found.rows.get(text)?.row);
    const keys = rows.filter((row) => row !== undefined);
    await this.#rows.remove(layout, layout.deleted, keys, also);
  }
}

/** Leaves out tombstones of this transaction: the application's rules have deleted rows that it had just put. */
const OF_OTHERS = "and repsync_xact is distinct from pg_current_xact_id()";
/** Refused rows that are tried again: more would take as long as all else. */
const MOST_AGAIN = 100;
const UNDONE = new Error("Nothing of an attempt stays");
