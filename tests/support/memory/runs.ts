// The stores of sync runs in memory, as simple as their contracts allow.
import { MAX_KEPT_RUNS } from "../../../src/domain/shared/limits.ts";
import type { SyncDirection } from "../../../src/domain/sync/run/marker.ts";
import type { SyncRun } from "../../../src/domain/sync/run/run.ts";
import type { Row, Table } from "../../../src/domain/sync/table/table.ts";
import type { HeldLease, LeaseRequest, LeaseStore } from "../../../src/ports/runs/lease-store.ts";
import type {
  NewRejection,
  RejectedQuery,
  RejectedRecord,
  RejectedRecords,
} from "../../../src/ports/runs/rejected-records.ts";
import type { RunStore } from "../../../src/ports/runs/run-store.ts";
import type { Clock } from "../../../src/ports/runtime/runtime.ts";
import type { KeyRange, RowPosition, RowSource } from "../../../src/ports/tables/row-source.ts";
import { compareRows, keyText, type MemoryTables, rowIndex, sinceIndex } from "./tables.ts";

/** Reads the rows of a `MemoryTables`. */
export class MemoryRowSource implements RowSource {
  readonly #storage: MemoryTables;

  constructor(storage: MemoryTables) {
    this.#storage = storage;
  }

  async readAfter(
    table: Table,
    query: {
      readonly after: RowPosition | null;
      readonly sinceTime: string | null;
      readonly limitRows: number;
    },
  ): Promise<readonly Row[]> {
    const { after, limitRows } = query;
    const rows = this.#storage.sortedRows(table);
    const since = sinceIndex(table, rows, query.sinceTime);
    const behind = after === null ? 0 : rowIndex(table, rows, after);
    const isThere =
      after !== null && rows[behind] !== undefined && !isApart(table, rows[behind], after);
    const from = Math.max(since, behind + Number(isThere));
    return rows.slice(from, from + limitRows).map((row) => readableRow(table, row));
  }

  async countSince(table: Table, sinceTime: string | null): Promise<number> {
    const rows = this.#storage.sortedRows(table);
    return rows.length - sinceIndex(table, rows, sinceTime);
  }

  async readByKeys(table: Table, keys: readonly RowPosition[]): Promise<readonly Row[]> {
    const wanted = new Map(keys.map((key) => [keyText(table, key), key]));
    return [...wanted.values()].flatMap((key) => {
      const row = this.#storage.rowByKey(table, key);
      return row === undefined ? [] : [readableRow(table, row)];
    });
  }

  async readKeyRange(table: Table, range: KeyRange, limitRows: number): Promise<readonly Row[]> {
    const byKey = { ...table, timestampColumn: null };
    const { afterKey, throughKey } = range;
    return this.#storage
      .sortedRows(table)
      .toSorted((a, b) => compareRows(byKey, a, b))
      .filter((row) => afterKey === null || compareRows(byKey, row, afterKey) > 0)
      .filter((row) => throughKey === null || compareRows(byKey, row, throughKey) <= 0)
      .slice(0, limitRows)
      .map((row) => readableRow(table, row));
  }
}

function isApart(table: Table, a: Row, b: Row): boolean {
  return compareRows(table, a, b) !== 0;
}

function readableRow(table: Table, row: Row): Row {
  const columns = table.pageColumns.filter((column) => table.pushColumns.includes(column));
  return Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null]));
}

/** Leases by a clock. */
export class MemoryLeaseStore implements LeaseStore {
  readonly #clock: Clock;
  readonly #held = new Map<string, { holder: string; turn: number; expiresAtMs: number }>();
  #turns = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async acquire({ name, holder, ttlMs }: LeaseRequest): Promise<HeldLease | { heldBy: string }> {
    const present = this.#held.get(name);
    if (present !== undefined && present.expiresAtMs > this.#clock.nowMs()) {
      return { heldBy: present.holder };
    }
    const turn = ++this.#turns;
    this.#held.set(name, { holder, turn, expiresAtMs: this.#clock.nowMs() + ttlMs });
    return {
      renew: async () => {
        const own = this.#held.get(name);
        if (own?.turn !== turn || own.expiresAtMs <= this.#clock.nowMs()) return false;
        own.expiresAtMs = this.#clock.nowMs() + ttlMs;
        return true;
      },
      release: async () => {
        if (this.#held.get(name)?.turn === turn) this.#held.delete(name);
      },
    };
  }

  /** Who has a lease now; null when nobody has. */
  holderOf(name: string): string | null {
    const present = this.#held.get(name);
    const isHeld = present !== undefined && present.expiresAtMs > this.#clock.nowMs();
    return isHeld ? present.holder : null;
  }
}

/** Runs in the order in which they were first saved. */
export class MemoryRunStore implements RunStore {
  readonly #runs = new Map<string, SyncRun>();

  async save(run: SyncRun): Promise<void> {
    this.#runs.set(run.runId, structuredClone(run));
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > MAX_KEPT_RUNS && oldest !== undefined) this.#runs.delete(oldest);
  }

  async find(runId: string): Promise<SyncRun | null> {
    return this.#runs.get(runId) ?? null;
  }

  async list(query: {
    readonly limit: number;
    readonly beforeId: string | null;
  }): Promise<readonly SyncRun[]> {
    const newest = [...this.#runs.values()].reverse();
    if (query.beforeId === null) return newest.slice(0, query.limit);
    const at = newest.findIndex((run) => run.runId === query.beforeId);
    return at === -1 ? [] : newest.slice(at + 1, at + 1 + query.limit);
  }
}

/** Refused records in a list. */
export class MemoryRejectedRecords implements RejectedRecords {
  /** By table, direction and key, in the order in which they were first noted. */
  readonly #entries = new Map<string, RejectedRecord>();
  #ids = 0;
  /** Called after every change. */
  onCommit: () => void = () => {};

  async note(rejections: readonly NewRejection[]): Promise<void> {
    for (const rejection of rejections) {
      const { table, direction, key, record, message, lastAtMs } = rejection;
      const before = this.#entries.get(entryName(rejection));
      const id = before?.id ?? String(++this.#ids).padStart(16, "0");
      const attempts = (before?.attempts ?? 0) + 1;
      const times = { firstAtMs: before?.firstAtMs ?? lastAtMs, lastAtMs };
      const entry = { id, table, direction, key, record, message, attempts, ...times };
      this.#entries.set(entryName(rejection), entry);
    }
    this.onCommit();
  }

  async list({
    table,
    direction,
    limit,
    beforeId,
  }: RejectedQuery): Promise<readonly RejectedRecord[]> {
    return [...this.#entries.values()]
      .filter((entry) => table === null || entry.table === table)
      .filter((entry) => direction === null || entry.direction === direction)
      .filter((entry) => beforeId === null || entry.id < beforeId)
      .reverse()
      .slice(0, limit);
  }

  async clear(table: string, direction: SyncDirection, keys: readonly Row[]): Promise<void> {
    for (const key of keys) this.#entries.delete(entryName({ table, direction, key }));
    this.onCommit();
  }

  async remove(id: string): Promise<boolean> {
    const entry = [...this.#entries.values()].find((other) => other.id === id);
    return entry !== undefined && this.#entries.delete(entryName(entry));
  }

  async countByTable(only?: SyncDirection): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (const { table, direction } of this.#entries.values()) {
      if (only !== undefined && direction !== only) continue;
      counts.set(table, (counts.get(table) ?? 0) + 1);
    }
    return counts;
  }

  /** Every entry as it stands, the oldest first. */
  all(): readonly RejectedRecord[] {
    return [...this.#entries.values()];
  }

  /** True when there is an entry of this key. */
  has(entry: Pick<RejectedRecord, "table" | "direction" | "key">): boolean {
    return this.#entries.has(entryName(entry));
  }
}

function entryName(entry: Pick<RejectedRecord, "table" | "direction" | "key">): string {
  const fields = Object.entries(entry.key).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([entry.table, entry.direction, fields]);
}
