import { earliestTime } from "../domain/sync/rows/row-time.ts";
import {
  addLateTimes,
  earliestAfter,
  type LateNotes,
  type LateTimes,
  markOf,
  noLateNotes,
} from "../domain/sync/run/late-rows.ts";
import type { Table } from "../domain/sync/table/table.ts";
import type { DocumentStore, Transaction } from "../ports/documents.ts";
import type { Ids } from "../ports/runtime/runtime.ts";
import { RunDocuments } from "./run-calls.ts";
import { LATE_COMMITS, LATE_NOTES } from "./run-collections.ts";

interface LateRowsQuery {
  /** A mark that `read` gave; null to learn the mark of now only. */
  readonly afterMark: string | null;
  /** True leaves out what runs of this deployment brought: the remote has that. */
  readonly isForOwnPush: boolean;
}

export interface LateRowsReply {
  /** Stands for all notes committed so far; opaque. */
  readonly mark: string;
  /**
   * The earliest time noted since, canonical. Null when nothing was noted, or for a query without a mark; the empty text,
   * which means the start of the table, for a mark that this store never gave.
   */
  readonly from: string | null;
}

/** Commits that one body adds to the notes of their table. */
const ADDED_AT_ONCE = 1_000;
/** Commits that one instance makes before it adds them to the notes of their table: they would pile up where no run reads. */
const MAX_COMMITS = 100;

/**
 * Notes of rows that runs would pass over: per table a mark that grows, and for each mark the earliest time noted since. A
 * commit puts a document of its own, so that commits do not meet; whoever reads adds those to the notes of the table and
 * gives the mark. What it does not see becomes visible later, and so gets a later mark. Throws `store_unavailable`. D-7.4.
 */
export class LateRows {
  readonly #documents: RunDocuments;
  readonly #ids: Ids;
  /** Commits noted since they were last added, by table. */
  readonly #noted = new Map<string, number>();

  constructor(documents: DocumentStore, ids: Ids) {
    this.#documents = new RunDocuments(documents);
    this.#ids = ids;
  }

  /** Reads the mark of a table, and the earliest time noted after another one. */
  async read({ name }: Table, { afterMark, isForOwnPush }: LateRowsQuery): Promise<LateRowsReply> {
    const notes = (await this.#readComplete(name)) ?? (await this.#addAll(name));
    const from = afterMark === null ? null : earliestAfter(notes, afterMark, isForOwnPush);
    return { mark: markOf(notes), from };
  }

  /** Notes what a commit has to note, within it. */
  note(tx: Transaction, table: string, times: LateTimes): void {
    if (times.byOwnRuns === null && times.byOthers === null) return;
    tx.put(LATE_COMMITS, { table, id: this.#ids.next(), ...times });
    this.#noted.set(table, (this.#noted.get(table) ?? MAX_COMMITS) + 1);
  }

  /** Adds commits to the notes of their table, once in a while. Call it after a commit that noted; never rejects. */
  async tidy(table: string): Promise<void> {
    if ((this.#noted.get(table) ?? 0) <= MAX_COMMITS) return;
    this.#noted.set(table, 0);
    // What fails here another commit or a run does.
    await this.#addAll(table).catch(() => {});
  }

  /** Null when there are no notes yet, or commits are to be added. */
  async #readComplete(table: string): Promise<LateNotes | null> {
    return await this.#documents.read("late_rows.read", async (at) => {
      const [commits, [notes]] = await at.read(
        { from: LATE_COMMITS, keysOf: { within: [[table]], limit: 1 } },
        { from: LATE_NOTES, keys: [[table]] },
      );
      return commits.length > 0 ? null : (notes ?? null);
    });
  }

  async #addAll(table: string): Promise<LateNotes> {
    for (;;) {
      const { notes, isAll } = await this.#addSome(table);
      if (isAll) return notes;
    }
  }

  async #addSome(table: string) {
    const newOrigin = this.#ids.next();
    return await this.#documents.transact("late_rows.add", async (tx) => {
      const [commits, [kept]] = await tx.read(
        { from: LATE_COMMITS, stretch: { within: [[table]], limit: ADDED_AT_ONCE } },
        { from: LATE_NOTES, keys: [[table]] },
      );
      const notes = addLateTimes(kept ?? noLateNotes(newOrigin), {
        byOwnRuns: earliestTime(commits.map(({ byOwnRuns }) => byOwnRuns)),
        byOthers: earliestTime(commits.map(({ byOthers }) => byOthers)),
      });
      tx.put(LATE_NOTES, { ...notes, table });
      for (const { id } of commits) tx.remove(LATE_COMMITS, [table, id]);
      return { notes, isAll: commits.length < ADDED_AT_ONCE };
    });
  }
}
