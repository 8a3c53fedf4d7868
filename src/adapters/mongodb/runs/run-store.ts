import type { Collection } from "mongodb";
import { MAX_KEPT_RUNS } from "../../../domain/shared/limits.ts";
import { type KeptRun, readKeptRun } from "../../../domain/sync/run/run.ts";
import type { RunQuery, RunStore } from "../../../ports/runs/run-store.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { takeNumbers } from "../driver/id-counters.ts";
import {
  COMMITTED,
  readCommitted,
  type StoreDeps,
  writeOne,
  writeTogether,
} from "../driver/operations.ts";

/** Runs by id, numbered in the order in which they were first saved. */
export const RUNS: InternalCollection = {
  name: "repsync_runs",
  indexes: [{ name: "repsync_number", key: { number: 1 }, unique: true }],
};

interface RunDocument {
  readonly _id: string;
  readonly number: number;
  /** As JSON, which keeps names and their order as they are. */
  readonly run: string;
  /** Why it is to end; absent unless somebody asked for that. */
  readonly cancelled?: string;
}

export class MongoRunStore implements RunStore {
  readonly #deps: StoreDeps;
  readonly #runs: Collection<RunDocument>;

  constructor(deps: StoreDeps) {
    this.#deps = deps;
    this.#runs = deps.db.collection(RUNS.name);
  }

  async save(run: KeptRun): Promise<void> {
    const { db } = this.#deps;
    const [_id, text] = [run.runId, JSON.stringify(run)];
    await writeTogether(this.#deps, async (tx) => {
      const known = await this.#runs.updateOne({ _id }, { $set: { run: text } }, { session: tx });
      if (known.matchedCount > 0) return;
      const number = await takeNumbers(db, RUNS.name, 1, tx);
      await this.#runs.insertOne({ _id, number, run: text }, { session: tx });
      // A number is taken in the commit that uses it, so the kept ones have no gaps.
      await this.#runs.deleteMany({ number: { $lte: number - MAX_KEPT_RUNS } }, { session: tx });
    });
  }

  async cancel(runId: string, reason: string): Promise<void> {
    const isNew = { _id: runId, cancelled: { $exists: false } };
    await writeOne(this.#deps, (options) =>
      this.#runs.updateOne(isNew, { $set: { cancelled: reason } }, options),
    );
  }

  async cancellation(runId: string): Promise<string | null> {
    return (await this.#find(runId))?.cancelled ?? null;
  }

  async find(runId: string): Promise<KeptRun | null> {
    const found = await this.#find(runId);
    return found === null ? null : readRun(found);
  }

  async list({ beforeId, limit }: RunQuery): Promise<readonly KeptRun[]> {
    const before = beforeId === null ? null : await this.#find(beforeId);
    if (beforeId !== null && before === null) return [];
    const filter = before === null ? {} : { number: { $lt: before.number } };
    const found = await readCommitted(this.#deps, () =>
      this.#runs
        .find(filter, { ...COMMITTED, sort: { number: -1 }, limit, batchSize: limit + 1 })
        .toArray(),
    );
    return found.map(readRun);
  }

  async #find(runId: string): Promise<RunDocument | null> {
    return await readCommitted(this.#deps, () => this.#runs.findOne({ _id: runId }, COMMITTED));
  }
}

function readRun({ run }: RunDocument): KeptRun {
  return readKeptRun(run);
}
