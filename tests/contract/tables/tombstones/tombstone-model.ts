// A table with deletes as D-7.6 has it, in a few lines that share no code with the service. Times are microseconds from the
// moment that a history began.
const MAX_AHEAD = 300_000_000;

export interface ModelRow {
  /** Null for a row without a time. */
  readonly at: number | null;
  readonly v: number;
}

interface ModelTombstone {
  readonly deletedAt: number;
  /** A program deleted the row, and it was not listed anew since. */
  readonly isOwn: boolean;
}

/** A write of this service. */
export interface ModelWrite {
  readonly deleted: readonly { readonly k: string; readonly deletedAt: number }[];
  readonly rows: readonly (ModelRow & { readonly k: string })[];
  readonly conflict: "overwrite" | "newer" | "restore";
}

export class TombstoneModel {
  readonly rows = new Map<string, ModelRow>();
  /** In the order of the list. */
  readonly tombstones = new Map<string, ModelTombstone>();

  write({ deleted, rows, conflict }: ModelWrite) {
    const isGuarded = conflict === "newer";
    const outcome = { kept: [] as number[], changed: 0, deleted: 0 };
    for (const { k, deletedAt } of deleted) {
      const row = this.rows.get(k);
      if (row !== undefined && isLater(row.at, deletedAt)) continue;
      if (this.rows.delete(k)) outcome.deleted++;
      this.#keep(k, { deletedAt, isOwn: false });
    }
    for (const [index, { k, at, v }] of rows.entries()) {
      const tombstone = this.tombstones.get(k);
      const before = this.rows.get(k);
      if (isGuarded && tombstone !== undefined && !isLater(at, tombstone.deletedAt)) {
        this.tombstones.delete(k);
        this.tombstones.set(k, { ...tombstone, isOwn: false });
        outcome.kept.push(index);
      } else if (isGuarded && before !== undefined && isLater(before.at, at)) {
        outcome.kept.push(index);
      } else {
        if (before?.at !== at || before.v !== v) outcome.changed++;
        this.put(k, { at, v });
        if (conflict === "restore") this.tombstones.delete(k);
      }
    }
    return outcome;
  }

  /** Puts a row, as any program does. */
  put(k: string, row: ModelRow): void {
    this.rows.set(k, row);
    const tombstone = this.tombstones.get(k);
    if (tombstone !== undefined && isLater(row.at, tombstone.deletedAt)) this.tombstones.delete(k);
  }

  /** Deletes a row whose time is to come. */
  remove(k: string): void {
    const { at } = this.rows.get(k) ?? { at: null };
    this.rows.delete(k);
    if (at !== null) this.#keep(k, { deletedAt: at + 1, isOwn: true });
  }

  /**
   * True for a program's row of which is known what becomes of a tombstone. Not so for one that comes in the millisecond of its
   * delete; nor for one that gets an earlier time, as a store may not have looked at the later one yet.
   */
  isClear(k: string, { at }: ModelRow): boolean {
    const tombstone = this.tombstones.get(k);
    if (isLater(this.rows.get(k)?.at ?? null, at)) return false;
    return tombstone === undefined || !tombstone.isOwn || isLater(at, tombstone.deletedAt);
  }

  #keep(k: string, tombstone: ModelTombstone): void {
    const before = this.tombstones.get(k);
    if (before !== undefined && before.deletedAt >= tombstone.deletedAt) return;
    this.tombstones.delete(k);
    this.tombstones.set(k, tombstone);
  }
}

/** True when a time ranks above another one. */
function isLater(a: number | null, b: number | null): boolean {
  return rank(a) > rank(b);
}

function rank(time: number | null): number {
  if (time === null) return Number.NEGATIVE_INFINITY;
  return time > MAX_AHEAD ? time - 1e15 : time;
}
