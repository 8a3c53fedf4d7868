// One end of the model: what it stores, by the rules of D-7.1, D-7.4 and D-7.6.

/** Times are microseconds. */
export const SECOND = 1_000_000;
export const LAG = 60 * SECOND;
export const AHEAD = 300 * SECOND;
export const LONG_AGO = -(10 ** 15);
export const BEGIN = 10_000_000 * SECOND;
/** When the file that ends read in was written. */
export const FILE_TIME = BEGIN - 50 * SECOND;
/** What rows without a time have where stamping begins. */
export const FIRST_STAMP = 0;

/** What a stamp is later than. */
type StampRule = "now" | "row" | "row and tombstone";

export interface ModelOptions {
  readonly deletes?: boolean;
  readonly crashes?: boolean;
  /** Seconds by which a clock is off at most. */
  readonly skew?: number;
  readonly meanwhile?: boolean;
  readonly oddTimes?: boolean;
  /** Absent: writers give times. */
  readonly stamps?: StampRule;
  /** Ends begin with rows of which nobody knows the time, and which differ. */
  readonly begun?: boolean;
  /** The rule that a control leaves out. */
  readonly without?:
    | "late rows"
    | "kept rows"
    | "kept tombstones"
    | "early mark"
    | "file time"
    | "first stamp";
}

export interface Version {
  readonly time: number;
  /** No other version has it but the file's. */
  readonly content: number;
}

export class ModelEnd {
  /** By which its clock is off. */
  readonly skew: number;
  readonly rows = new Map<string, Version>();
  readonly tombstones = new Map<string, number>();
  /** In the order of becoming visible. */
  readonly feed: { readonly key: string; readonly deletedAt: number }[] = [];
  readonly markers = { push: LONG_AGO, pull: LONG_AGO };
  ownMark = 0;
  remoteMark = 0;
  sent = 0;
  fetched = 0;
  /** Rows as they last went or came. */
  readonly agreed = new Map<string, Version>();
  readonly #notes: { readonly time: number; readonly isOwnRun: boolean }[] = [];
  readonly #options: ModelOptions;

  constructor(options: ModelOptions, skew: number) {
    this.#options = options;
    this.skew = skew;
  }

  get mark(): number {
    return this.#notes.length;
  }

  /** What an own run brought is for others, not for pushes to where it came from. */
  earliestSince(mark: number, isForOwnPush: boolean): number | null {
    const told = this.#notes.slice(mark).filter((one) => !(isForOwnPush && one.isOwnRun));
    return told.length === 0 ? null : Math.min(...told.map(({ time }) => time));
  }

  /** In the order in which a run meets them. */
  rowsFrom(from: number): readonly (readonly [string, Version])[] {
    const found = [...this.rows].filter(([, { time }]) => time >= from);
    return found.sort(([a, one], [b, other]) => one.time - other.time || (a < b ? -1 : 1));
  }

  /** Without the guard a writer writes whatever is there. */
  write(key: string, version: Version, now: number, guard: "run" | "push" | null = null): void {
    const { without } = this.#options;
    const deletedAt = this.tombstones.get(key);
    if (guard !== null && this.#isKeptOut(key, version, now)) return;
    if (deletedAt !== undefined && rank(version.time, now) > deletedAt) this.tombstones.delete(key);
    this.rows.set(key, version);
    if (version.time < now - LAG && without !== "late rows")
      this.#note(version.time, guard === "run");
  }

  #isKeptOut(key: string, version: Version, now: number): boolean {
    const { without, stamps } = this.#options;
    const old = this.rows.get(key);
    const deletedAt = this.tombstones.get(key);
    if (deletedAt !== undefined && rank(version.time, now) <= deletedAt) {
      if (without !== "kept tombstones") this.feed.push({ key, deletedAt });
      return true;
    }
    if (old === undefined) return false;
    if (rank(old.time, now) > rank(version.time, now)) {
      if (without !== "kept rows") this.#note(old.time, false);
      return true;
    }
    const isFirst =
      stamps !== undefined && version.time === FIRST_STAMP && old.time === FIRST_STAMP;
    return isSame(old, version) || (isFirst && without !== "first stamp");
  }

  delete(key: string, now: number): number {
    const time = this.rows.get(key)?.time ?? LONG_AGO;
    const deletedAt = time > now + AHEAD ? now : Math.max(now, time + 1);
    this.rows.delete(key);
    this.#list(key, deletedAt);
    return deletedAt;
  }

  /** A tombstone arrives. */
  bury(key: string, deletedAt: number, now: number): void {
    const row = this.rows.get(key);
    if (row !== undefined && rank(row.time, now) > deletedAt) {
      this.#note(row.time, false);
      return;
    }
    this.rows.delete(key);
    if ((this.tombstones.get(key) ?? LONG_AGO) < deletedAt) this.#list(key, deletedAt);
  }

  #list(key: string, deletedAt: number): void {
    this.tombstones.set(key, deletedAt);
    this.feed.push({ key, deletedAt });
  }

  #note(time: number, isOwnRun: boolean): void {
    this.#notes.push({ time, isOwnRun });
  }
}

export function isSame(a: Version | undefined, b: Version): boolean {
  return a?.time === b.time && a.content === b.content;
}

/** Times more than five minutes ahead rank below all others. */
function rank(time: number, now: number): number {
  return time <= now + AHEAD ? time : LONG_AGO + time;
}
