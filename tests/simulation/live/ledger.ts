// What has been written, and what may stand at the end. Shares no code with the service.

/** A row as a writer left it. */
export interface Version {
  /** Null for a row without a time. */
  readonly at: string | null;
  /** No other version has it. */
  readonly v: string;
  /** Null when it was written where the column does not exist. */
  readonly notes: string | null;
}

/** What a writer met. */
interface WriteContext {
  /** What it overwrote. */
  readonly before: Version | null;
  /** Some end takes its time for one too far ahead. */
  readonly isAhead: boolean;
}

/** What is known of one key. */
interface KeyLedger {
  readonly versions: Version[];
  /** Versions that need not stand at the end: writers overwrote them with older ones, or their time was ahead. */
  readonly lost: string[];
  /** Versions that may not stand at the end. */
  readonly gone: string[];
  readonly deletedAt: string[];
}

/** What is promised beyond what always is. */
interface LedgerRules {
  /** As in the scenario. */
  readonly isStrict: boolean;
  /** What a writer replaced by a row without a time may not stand at the end. */
  readonly stamped: boolean;
  /**
   * A version stands with the notes that it was written with, as long as writers put no older ones over newer ones. Where it
   * can come back from an end without the column by another way than it went, it has those of an older version.
   */
  readonly keepsNotes: boolean;
}

/** Every version and every delete of each key. */
export class Ledger {
  readonly #keys = new Map<string, KeyLedger>();
  readonly #rules: LedgerRules;

  constructor(rules: LedgerRules) {
    this.#rules = rules;
  }

  wrote(k: string, version: Version, { before, isAhead }: WriteContext): void {
    const { versions, lost, gone } = this.#of(k);
    versions.push(version);
    if (isAhead) lost.push(version.v);
    if (before === null) return;
    if (isAfter(before.at, version.at)) lost.push(before.v);
    const { isStrict, stamped } = this.#rules;
    if (stamped || (isStrict && before.at === version.at)) gone.push(before.v);
  }

  deleted(k: string, deletedAt: string): void {
    this.#of(k).deletedAt.push(deletedAt);
  }

  /** What is wrong with the rows that stand at the end; null when nothing is. */
  problem(rows: ReadonlyMap<string, Version>): string | null {
    for (const k of rows.keys()) if (!this.#keys.has(k)) return `${k} was never written`;
    for (const [k, ledger] of this.#keys) {
      const final = rows.get(k);
      const problem =
        final === undefined
          ? absenceProblem(ledger)
          : (presenceProblem(ledger, final) ?? this.#notesProblem(ledger, final));
      if (problem !== null) return `${k}: ${problem}; ${JSON.stringify(ledger)}`;
    }
    return null;
  }

  #notesProblem({ versions, lost }: KeyLedger, final: Version): string | null {
    const own = versions.find(({ v }) => v === final.v)?.notes ?? null;
    const isKept = this.#rules.keepsNotes && own !== null && lost.length === 0;
    if (isKept && final.notes !== own) return `${final.v} has the notes ${final.notes}`;
    const isKnown = final.notes === null || versions.some(({ notes }) => notes === final.notes);
    return isKnown ? null : `nobody wrote ${final.notes}`;
  }

  #of(k: string): KeyLedger {
    const known = this.#keys.get(k) ?? { versions: [], lost: [], gone: [], deletedAt: [] };
    this.#keys.set(k, known);
    return known;
  }
}

function absenceProblem(ledger: KeyLedger): string | null {
  const { versions, deletedAt } = ledger;
  if (versions.length === 0) return null;
  const lastDelete = deletedAt.toSorted().at(-1);
  if (lastDelete === undefined) return "it is gone, though nobody deleted it";
  const later = requiredAfter(ledger, lastDelete);
  return later === undefined ? null : `${later.v} is gone, though it is later than any delete`;
}

function presenceProblem(ledger: KeyLedger, final: Version): string | null {
  const { versions, gone, deletedAt } = ledger;
  if (!versions.some(({ at, v }) => v === final.v && at === final.at)) {
    return `nobody wrote ${JSON.stringify(final)}`;
  }
  if (gone.includes(final.v)) return `${final.v} is there again, though it was overwritten`;
  const newer = requiredAfter(ledger, final.at);
  if (newer !== undefined) return `it is ${final.v} instead of the newer ${newer.v}`;
  // A tombstone may be gone once a later row was written, whatever became of that.
  const lasting = deletedAt.filter((time) => !versions.some(({ at }) => isAfter(at, time)));
  if (lasting.some((time) => !isAfter(final.at, time))) {
    return `${final.v} is there, though it was deleted later`;
  }
  return null;
}

/** A version later than a time that has to stand, as no version that replaced it was lost. */
function requiredAfter({ versions, lost }: KeyLedger, time: string | null): Version | undefined {
  const replaced = versions.filter(({ v }) => lost.includes(v)).map(({ at }) => at);
  return versions.find(
    ({ at }) => isAfter(at, time) && replaced.every((other) => isAfter(at, other)),
  );
}

/** Of canonical times; none comes before all. */
function isAfter(a: string | null, b: string | null): boolean {
  return (a ?? "").replace("Z", "") > (b ?? "").replace("Z", "");
}
