import type { QueuedAlert } from "../domain/alerts/alert.ts";
import { type Key, keysOf } from "../domain/shared/document-key.ts";
import { MAX_KEPT_DRY_RUNS, MAX_KEPT_RUNS } from "../domain/shared/limits.ts";
import { textParts } from "../domain/shared/text.ts";
import type { News } from "../domain/sync/run/news.ts";
import { isListed, type ListedRun, readStoredRun, type StoredRun } from "../domain/sync/run/run.ts";
import type { Transaction } from "../ports/documents.ts";
import { queueAlerts } from "./alert-outbox.ts";
import { SEQUENCES } from "./collections.ts";
import { forgetLeases, runLeaseName } from "./leases.ts";
import { RunRepository } from "./repository.ts";
import { RUN_NEWS, RUNS, type RunDocument, type RunKind } from "./run-collections.ts";

export interface ToldRun {
  readonly run: StoredRun;
  /** Put together as `addNews` does. */
  readonly news: readonly News[];
}

interface RunQuery {
  readonly limit: number;
  /** Only runs that were first saved before the run with this id; null: from the newest on. */
  readonly beforeId: string | null;
}

const KEPT: Readonly<Record<RunKind, number>> = { run: MAX_KEPT_RUNS, dry_run: MAX_KEPT_DRY_RUNS };

/** The last `MAX_KEPT_RUNS` runs and comparisons, and, in no list, `MAX_KEPT_DRY_RUNS` dry runs and imports. D-4.9, D-7.8, D-9.5. */
export class Runs extends RunRepository {
  /**
   * Keeps a run under its id, with what it has told, in one durable commit, and drops the oldest beyond the limit of its kind, with
   * their leases. A known run keeps its place in the order, and its news where `news` is absent. `alerts` are queued in the same
   * commit. Of a run that has ended only another end is kept, without alerts: its process stood still, and others took it for gone.
   */
  async save(
    run: StoredRun,
    news?: readonly News[],
    alerts: readonly QueuedAlert[] = [],
  ): Promise<void> {
    const kind = isListed(run) ? "run" : "dry_run";
    const text = JSON.stringify(run);
    const parts = news === undefined ? null : textParts(JSON.stringify(news));
    await this.writing("runs.save", async (tx) => {
      const [[known], [sequence]] = await tx.read(
        { from: RUNS, keys: [[run.runId]] },
        { from: SEQUENCES, keys: [[kind]] },
      );
      const hasEnded = known !== undefined && readStoredRun(known.run).status !== "running";
      if (hasEnded && run.status === "running") return;
      if (!hasEnded) queueAlerts(tx, alerts);
      const former = known?.newsParts ?? 0;
      const told = known?.isSilenced ? [] : parts;
      const newsParts = told?.length ?? former;
      if (known !== undefined) tx.put(RUNS, { ...known, run: text, newsParts });
      else {
        const number = (sequence?.last ?? 0) + 1;
        await this.#add(tx, { id: run.runId, kind, number, run: text, newsParts });
      }
      for (const [part, one] of (told ?? []).entries()) {
        tx.put(RUN_NEWS, { id: run.runId, part, text: one });
      }
      for (let part = newsParts; part < former; part++) tx.remove(RUN_NEWS, [run.runId, part]);
    });
  }

  /** Asks for the end of a run or dry run, on whichever instance; `reason` is for its `error`. D-7.8. */
  async cancel(runId: string, reason: string): Promise<void> {
    await this.writing("runs.cancel", async (tx) => {
      const [[known]] = await tx.read({ from: RUNS, keys: keysOf(runId) });
      if (known === undefined || known.cancelled !== undefined) return;
      tx.put(RUNS, { ...known, cancelled: reason });
    });
  }

  /** The reason of the first `cancel` of a run; null when nobody asked for its end. */
  async cancellation(runId: string): Promise<string | null> {
    return (await this.#find("runs.cancellation", runId))?.cancelled ?? null;
  }

  /** A run or dry run; null when it is unknown or was dropped. */
  async find(runId: string): Promise<StoredRun | null> {
    const found = await this.#find("runs.find", runId);
    return found === undefined ? null : readStoredRun(found.run);
  }

  /** Reads a run with its news, both of one moment. */
  async findTold(runId: string): Promise<ToldRun | null> {
    const within = keysOf(runId);
    const [[found], parts] = await this.ask(
      "runs.find_told",
      { from: RUNS, keys: within },
      { from: RUN_NEWS, stretch: { within } },
    );
    if (found === undefined) return null;
    const news = parts.length === 0 ? [] : JSON.parse(parts.map(({ text }) => text).join(""));
    return { run: readStoredRun(found.run), news };
  }

  /** Newest first, by when they were first saved on any instance. None for a `beforeId` that is unknown or in no list. */
  async list({ beforeId, limit }: RunQuery): Promise<readonly ListedRun[]> {
    const newest = { index: "order", within: [["run"]], isReverse: true, limit };
    return await this.reading("runs.list", async (at) => {
      let stretch: typeof newest & { after?: Key } = newest;
      if (beforeId !== null) {
        const [[before]] = await at.read({ from: RUNS, keys: keysOf(beforeId) });
        if (before?.kind !== "run") return [];
        stretch = { ...newest, after: [before.kind, before.number] };
      }
      const [found] = await at.read({ from: RUNS, stretch });
      return found.map(({ run }) => readStoredRun(run) as ListedRun);
    });
  }

  /** Ids of the listed runs that have not ended. */
  async running(): Promise<readonly string[]> {
    const keysOf = { index: "running", within: [["run"]] };
    const [found] = await this.ask("runs.running", { from: RUNS, keysOf });
    return found.map(([id]) => String(id));
  }

  async #add(tx: Transaction, run: RunDocument): Promise<void> {
    const { kind, number } = run;
    tx.put(RUNS, run);
    tx.put(SEQUENCES, { name: kind, last: number });
    if (number <= KEPT[kind]) return;
    // Numbers have no gaps, as each is taken in the commit that uses it.
    const after = [kind, number - KEPT[kind] + 1];
    const [dropped] = await tx.read({
      from: RUNS,
      stretch: { index: "order", within: [[kind]], after, isReverse: true },
    });
    for (const document of dropped) {
      tx.remove(RUNS, [document.id]);
      removeNews(tx, document);
    }
    await forgetLeases(
      tx,
      dropped.map(({ id }) => runLeaseName(id)),
    );
  }

  async #find(name: string, runId: string): Promise<RunDocument | undefined> {
    const [[found]] = await this.ask(name, { from: RUNS, keys: keysOf(runId) });
    return found;
  }
}

/** Drops what comparisons and imports of tables tell of rows, now and while they go on; results stay. D-8.2. */
export async function forgetRowNews(tx: Transaction, tables: readonly string[]): Promise<void> {
  const within = tables.map((table) => [table]);
  const [runs] = await tx.read({ from: RUNS, stretch: { index: "rowNews", within } });
  for (const document of runs) {
    removeNews(tx, document);
    tx.put(RUNS, { ...document, newsParts: 0, isSilenced: true });
  }
}

function removeNews(tx: Transaction, { id, newsParts }: RunDocument): void {
  for (let part = 0; part < newsParts; part++) tx.remove(RUN_NEWS, [id, part]);
}
