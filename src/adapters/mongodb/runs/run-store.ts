import type { Collection, Document } from "mongodb";
import type { QueuedAlert } from "../../../domain/alerts/alert.ts";
import { MAX_KEPT_DRY_RUNS, MAX_KEPT_RUNS } from "../../../domain/shared/limits.ts";
import type { News } from "../../../domain/sync/run/news.ts";
import { type KeptRun, readKeptRun } from "../../../domain/sync/run/run.ts";
import type { RunQuery, RunStore, ToldRun } from "../../../ports/runs/run-store.ts";
import { addAlerts } from "../alerts/alert-outbox.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { takeNumbers } from "../driver/id-counters.ts";
import {
  COMMITTED,
  readCommitted,
  type StoreDeps,
  writeOne,
  writeTogether,
} from "../driver/operations.ts";

const indexes = [{ name: "repsync_number", key: { number: 1 }, unique: true }];

/** Runs by id, numbered in the order in which they were first saved. */
export const RUNS: InternalCollection = { name: "repsync_runs", indexes };

/** The same of dry runs. */
export const DRY_RUNS: InternalCollection = { name: "repsync_dry_runs", indexes };

interface RunDocument {
  readonly _id: string;
  readonly number: number;
  /** As JSON, which keeps names and their order as they are. */
  readonly run: string;
  /** What it has told, as JSON; absent in runs of earlier versions. */
  readonly news?: string;
  /** Why it is to end; absent unless somebody asked for that. */
  readonly cancelled?: string;
}

/** Leaves out what a run has told, which may be much larger than the rest of its document. */
const WITHOUT_NEWS = { news: 0 };

export class MongoRunStore implements RunStore {
  readonly #deps: StoreDeps;
  readonly #runs: Collection<RunDocument>;
  readonly #dryRuns: Collection<RunDocument>;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#runs = deps.db.collection(RUNS.name);
    this.#dryRuns = deps.db.collection(DRY_RUNS.name);
  }

  async save(
    run: KeptRun,
    news?: readonly News[],
    alerts: readonly QueuedAlert[] = [],
  ): Promise<void> {
    const { db } = this.#deps;
    const isDry = run.kind === "sync" && run.dryRun;
    const [runs, limit] = isDry ? [this.#dryRuns, MAX_KEPT_DRY_RUNS] : [this.#runs, MAX_KEPT_RUNS];
    const _id = run.runId;
    const told = news === undefined ? {} : { news: JSON.stringify(news) };
    const values = { run: JSON.stringify(run), ...told };
    await writeTogether(this.#deps, async (tx) => {
      await addAlerts(db, alerts, tx);
      const known = await runs.updateOne({ _id }, { $set: values }, { session: tx });
      if (known.matchedCount > 0) return;
      const number = await takeNumbers(db, runs.collectionName, 1, tx);
      await runs.insertOne({ _id, number, ...values }, { session: tx });
      // A number is taken in the commit that uses it, so the kept ones have no gaps.
      await runs.deleteMany({ number: { $lte: number - limit } }, { session: tx });
    });
  }

  async cancel(runId: string, reason: string): Promise<void> {
    const isNew = { _id: runId, cancelled: { $exists: false } };
    for (const runs of [this.#runs, this.#dryRuns]) {
      await writeOne(this.#deps, (options) =>
        runs.updateOne(isNew, { $set: { cancelled: reason } }, options),
      );
    }
  }

  async cancellation(runId: string): Promise<string | null> {
    return (await this.#find(runId))?.cancelled ?? null;
  }

  async find(runId: string): Promise<KeptRun | null> {
    const found = await this.#find(runId);
    return found === null ? null : readRun(found);
  }

  async findTold(runId: string): Promise<ToldRun | null> {
    const found = await this.#find(runId, {});
    if (found === null) return null;
    return { run: readRun(found), news: found.news === undefined ? [] : JSON.parse(found.news) };
  }

  async list({ beforeId, limit }: RunQuery): Promise<readonly KeptRun[]> {
    const before =
      beforeId === null ? null : await this.#findIn(this.#runs, beforeId, WITHOUT_NEWS);
    if (beforeId !== null && before === null) return [];
    const filter = before === null ? {} : { number: { $lt: before.number } };
    const found = await readCommitted(this.#deps, () =>
      this.#runs
        .find(filter, {
          ...COMMITTED,
          sort: { number: -1 },
          limit,
          batchSize: limit + 1,
          projection: WITHOUT_NEWS,
        })
        .toArray(),
    );
    return found.map(readRun);
  }

  async #find(runId: string, projection: Document = WITHOUT_NEWS): Promise<RunDocument | null> {
    return (
      (await this.#findIn(this.#runs, runId, projection)) ??
      (await this.#findIn(this.#dryRuns, runId, projection))
    );
  }

  async #findIn(
    runs: Collection<RunDocument>,
    runId: string,
    projection: Document,
  ): Promise<RunDocument | null> {
    const options = { ...COMMITTED, projection };
    return await readCommitted(this.#deps, () => runs.findOne({ _id: runId }, options));
  }
}

function readRun({ run }: RunDocument): KeptRun {
  return readKeptRun(run);
}
