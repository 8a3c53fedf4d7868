import { earliestTime } from "../domain/sync/rows/row-time.ts";
import {
  addLateTimes,
  hasNoTime,
  type LateNotes,
  type LateTimes,
  lateAndFreshAfter,
  markOf,
  noLateNotes,
} from "../domain/sync/run/late-rows.ts";
import type { Table } from "../domain/sync/table/table.ts";
import type { LateRowsTold } from "../domain/sync/table/table-schema.ts";
import type { DocumentStore, Transaction } from "../ports/documents.ts";
import type { Ids } from "../ports/runtime/runtime.ts";
import { RunRepository } from "./repository.ts";
import { LATE_ROWS, type LateCommitDocument } from "./run-collections.ts";

interface LateRowsQuery {
  /** A mark that `read` gave; null to learn only the present mark. */
  readonly lateAfter: string | null;
  /** True leaves out what runs of this deployment brought: the remote has that. */
  readonly isForOwnPush: boolean;
}

/** The document by which a copy keeps a commit that its source tells and no run has read. */
export function toldCommit(table: string, at: string): LateCommitDocument {
  return { table, id: `told ${at}`, byOwnRuns: null, byOthers: null, freshByOthers: at };
}

/** Documents that one body reads: the notes, and commits to add to them. */
const ADDED_AT_ONCE = 1_000;
/** Commits of one instance after which they are added to the notes of their table, as no run may read there. */
const MAX_COMMITS = 100;

/**
 * Keeps the late notes of tables. A commit puts a document of its own, so that commits do not meet; a reader adds those to the
 * notes of the table, and gives the mark. A commit that it does not see yet gets a later mark. Where the store tells of every
 * commit to a table (`DocumentStore.tellsCommits`), these are noted as well, so that no allowance is needed. D-7.4, D-12.3.
 */
export class LateRows extends RunRepository {
  readonly #ids: Ids;
  readonly #tellsCommits: (table: Table) => boolean;
  /** Commits noted since they were last added, by table. */
  readonly #noted = new Map<string, number>();

  constructor(documents: DocumentStore, ids: Ids) {
    super(documents);
    this.#ids = ids;
    this.#tellsCommits = (table) => documents.tellsCommits?.(table) ?? false;
  }

  /** Seconds by which a commit may come later than the times of its rows without being noted. */
  lagSeconds(table: Table): number {
    return this.#tellsCommits(table) ? 0 : table.lagSeconds;
  }

  /** Reads the mark of a table, and the earliest times noted after another one. */
  async read(
    table: Table,
    { lateAfter, isForOwnPush }: LateRowsQuery,
  ): Promise<Required<LateRowsTold>> {
    const notes = (await this.#readComplete(table)) ?? (await this.#addAll(table));
    const mark = markOf(notes);
    if (lateAfter === null) return { mark, from: null, freshFrom: null };
    return { mark, ...lateAndFreshAfter(notes, lateAfter, isForOwnPush) };
  }

  note(tx: Transaction, table: Table, times: LateTimes): void {
    const { name } = table;
    const { byOwnRuns, byOthers } = times;
    const noted = this.#tellsCommits(table) ? times : { byOwnRuns, byOthers };
    if (hasNoTime(noted)) return;
    tx.put(LATE_ROWS, { table: name, id: this.#ids.next(), ...noted });
    this.#noted.set(name, (this.#noted.get(name) ?? MAX_COMMITS) + 1);
  }

  /** Adds commits to the notes of their table, once in a while. Call it after a commit that has noted times; never rejects. */
  async tidy(table: Table): Promise<void> {
    if ((this.#noted.get(table.name) ?? 0) <= MAX_COMMITS) return;
    this.#noted.set(table.name, 0);
    // A later commit or run makes up for it.
    await this.#addAll(table).catch(() => {});
  }

  /** Null when there are no notes yet, or commits are to be added. */
  async #readComplete(table: Table): Promise<LateNotes | null> {
    if (this.#tellsCommits(table)) return null;
    return await this.reading("late_rows.read", async (at) => {
      const [[first, ...commits]] = await at.read({
        from: LATE_ROWS,
        stretch: { within: [[table.name]], limit: 2 },
      });
      return first?.id === undefined && commits.length === 0 ? (first ?? null) : null;
    });
  }

  async #addAll(table: Table): Promise<LateNotes> {
    for (;;) {
      const { notes, isAll } = await this.#addSome(table);
      if (isAll) return notes;
    }
  }

  async #addSome(table: Table) {
    const { name } = table;
    const newOrigin = this.#ids.next();
    return await this.writing("late_rows.add", async (tx) => {
      const [found] = await tx.read({
        from: LATE_ROWS,
        stretch: { within: [[name]], limit: ADDED_AT_ONCE },
      });
      const kept = found.find((one) => one.id === undefined);
      const commits = found.filter((one) => one.id !== undefined);
      const told = (await tx.tables.takeCommitted?.(table)) ?? null;
      const earliest = (sort: keyof LateTimes, more: string | null = null) =>
        earliestTime([more, ...commits.map((commit) => commit[sort] ?? null)]);
      const notes = addLateTimes(kept ?? noLateNotes(newOrigin), {
        byOwnRuns: earliest("byOwnRuns"),
        byOthers: earliest("byOthers"),
        freshByOwnRuns: earliest("freshByOwnRuns"),
        freshByOthers: earliest("freshByOthers", told),
      });
      if (notes !== kept) tx.put(LATE_ROWS, { ...notes, table: name });
      for (const commit of commits) tx.remove(LATE_ROWS, LATE_ROWS.keyOf(commit));
      return { notes, isAll: found.length < ADDED_AT_ONCE };
    });
  }
}
