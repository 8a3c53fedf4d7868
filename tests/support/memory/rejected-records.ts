import type { JsonObject } from "../../../src/domain/shared/json.ts";
import type { SyncDirection } from "../../../src/domain/sync/run/marker.ts";
import type {
  DroppedRecord,
  NewRejection,
  RejectedQuery,
  RejectedRecord,
  RejectedRecords,
} from "../../../src/ports/runs/rejected-records.ts";

type RecordPlace = Pick<RejectedRecord, "table" | "direction" | "key">;

/** Refused records in a list. */
export class MemoryRejectedRecords implements RejectedRecords {
  /** By name, in the order in which they were first noted. */
  readonly #entries = new Map<string, RejectedRecord>();
  /** What was dropped, by the same names. */
  readonly #dropped = new Map<string, RecordPlace & DroppedRecord>();
  #ids = 0;

  /** Notes refused records, within the commit of rows. */
  add(rejections: readonly NewRejection[]): void {
    for (const rejection of rejections) this.#add(rejection);
  }

  #add(rejection: NewRejection): void {
    const { table, direction, key, record, message, fingerprint, lastAtMs } = rejection;
    const name = entryName(rejection);
    if (this.#dropped.get(name)?.fingerprint === fingerprint) return;
    this.#dropped.delete(name);
    const before = this.#entries.get(name);
    const id = before?.id ?? String(++this.#ids).padStart(16, "0");
    const attempts = (before?.attempts ?? 0) + 1;
    const times = { firstAtMs: before?.firstAtMs ?? lastAtMs, lastAtMs };
    const entry = { id, table, direction, key, record, message, fingerprint, attempts, ...times };
    this.#entries.set(name, entry);
  }

  async find(id: string): Promise<RejectedRecord | null> {
    return [...this.#entries.values()].find((entry) => entry.id === id) ?? null;
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
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, limit);
  }

  /** Drops the entries of accepted records, within the commit of rows. */
  drop(table: string, direction: SyncDirection, keys: readonly JsonObject[]): void {
    const places = new Set(keys.map((key) => placeName({ table, direction, key })));
    for (const entries of [this.#entries, this.#dropped]) {
      for (const [name, entry] of entries) if (places.has(placeName(entry))) entries.delete(name);
    }
  }

  /** Removes what waits of rows of a person, and what was dropped, within the caller's commit. D-8.2. */
  forgetPerson(tables: readonly string[], username: string): void {
    const isNamed = ({ table, key, record }: RecordPlace & { record?: JsonObject | null }) =>
      tables.includes(table) && [key, record].some((row) => row?.["username"] === username);
    for (const entries of [this.#entries, this.#dropped]) {
      for (const [name, entry] of entries) if (isNamed(entry)) entries.delete(name);
    }
  }

  async remove(id: string): Promise<boolean> {
    const entry = [...this.#entries.values()].find((other) => other.id === id);
    if (entry === undefined) return false;
    this.#dropped.set(entryName(entry), entry);
    return this.#entries.delete(entryName(entry));
  }

  async dropped(table: string, direction: SyncDirection): Promise<readonly DroppedRecord[]> {
    return [...this.#dropped.values()]
      .filter((entry) => entry.table === table && entry.direction === direction)
      .map(({ key, fingerprint }) => ({ key, fingerprint }));
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
  has(place: RecordPlace): boolean {
    return this.all().some((entry) => placeName(entry) === placeName(place));
  }
}

function placeName({ table, direction, key }: RecordPlace): string {
  const fields = Object.entries(key).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([table, direction, fields]);
}

/** Records of which a key column is null are apart by their content, too. */
function entryName(entry: RecordPlace & Pick<RejectedRecord, "fingerprint">): string {
  const isApart = Object.values(entry.key).includes(null);
  return `${placeName(entry)}${isApart ? entry.fingerprint : ""}`;
}
