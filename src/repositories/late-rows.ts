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
  /** A mark that `read` gave; null to learn the mark of now only. */
  readonly lateAfter: string | null;
  /** True leaves out what runs of this deployment brought: the remote has that. */
  readonly isForOwnPush: boolean;
}

/** The document by which a copy keeps what its source tells of commits and no run has read. */
export function toldCommit(table: string, at: string): LateCommitDocument {
  return { table, id: `told ${at}`, byOwnRuns: null, byOthers: null, freshByOthers: at };
}

/** Documents that one body reads: notes, and the commits that it adds to them. */
const ADDED_AT_ONCE = 1_000;
/** Commits that one instance makes before it adds them to the notes of their table: they would pile up where no run reads. */
const MAX_COMMITS = 100;

/**
 * Notes of rows that runs would pass over: per table a mark that grows, and for each mark the earliest time noted since. A
 * commit puts a document of its own, so that commits do not meet; whoever reads adds those to the notes of the table and
 * gives the mark. What it does not see becomes visible later, and so gets a later mark. Where the store tells of every commit
 * to a table (`DocumentStore.tellsCommits`), those are noted alike, so that no allowance is needed. Throws `store_unavailable`. D-7.4,
 * D-12.3.
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

  /** The seconds by which commits of a table may come later than the times of their rows, unnoted. */
  lagSeconds(table: Table): number {
    return this.#tellsCommits(table) ? 0 : table.lagSeconds;
  }

  /** Reads the mark of a table, and the earliest time noted after another one. */
  async read(
    table: Table,
    { lateAfter, isForOwnPush }: LateRowsQuery,
  ): Promise<Required<LateRowsTold>> {
    const notes = (await this.#readComplete(table)) ?? (await this.#addAll(table));
    const mark = markOf(notes);
    if (lateAfter === null) return { mark, from: null, freshFrom: null };
    return { mark, ...lateAndFreshAfter(notes, lateAfter, isForOwnPush) };
  }

  /** Notes what a commit has to note, within it. */
  note(tx: Transaction, table: Table, times: LateTimes): void {
    const { name } = table;
    const { byOwnRuns, byOthers } = times;
    const noted = this.#tellsCommits(table) ? times : { byOwnRuns, byOthers };
    if (hasNoTime(noted)) return;
    tx.put(LATE_ROWS, { table: name, id: this.#ids.next(), ...noted });
    this.#noted.set(name, (this.#noted.get(name) ?? MAX_COMMITS) + 1);
  }

  /** Adds commits to the notes of their table, once in a while. Call it after a commit that noted; never rejects. */
  async tidy(table: Table): Promise<void> {
    if ((this.#noted.get(table.name) ?? 0) <= MAX_COMMITS) return;
    this.#noted.set(table.name, 0);
    // Another commit or a run does what fails here.
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
