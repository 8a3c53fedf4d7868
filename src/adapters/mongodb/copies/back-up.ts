import type { ClientSession, Db } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import { STORE_FORMAT } from "../../../domain/shared/store-format.ts";
import type { BackUpJob, BackupFacts, CopyCounts } from "../../../ports/copies/store-copies.ts";
import { hasCode, toAppError } from "../driver/errors.ts";
import { SNAPSHOT, type StoreDeps } from "../driver/operations.ts";
import { TABLE_DEFINITIONS } from "../tables/table-inspection.ts";
import { type ArchivedCollection, readArchive, writeArchive } from "./archive.ts";
import { isOwnName, LEFT_OUT } from "./contents.ts";

/** Server codes: of a snapshot that the server no longer has, and of one that it does not have yet. */
const SNAPSHOT_TOO_OLD = 239;
const SNAPSHOT_UNAVAILABLE = 246;
const SNAPSHOT_TRIES = 5;
const BATCH_DOCUMENTS = 1_000;

/** As `StoreCopies.backUp()`: an archive of all collections, read in one snapshot. */
export async function backUp(deps: StoreDeps, job: BackUpJob): Promise<CopyCounts> {
  for (let tries = 1; ; tries++) {
    const reading = new SnapshotReading(deps.db, job);
    const session = deps.client.startSession({ snapshot: true });
    try {
      const facts: BackupFacts = { store: "mongodb", format: STORE_FORMAT, ...job.facts };
      const content = { collections: reading.collections(session), counts: () => reading.counts() };
      await writeArchive(job.path, facts, content);
      const { counts } = await readArchive(job.path, { take: () => job.stop?.throwIfAborted() });
      return counts;
    } catch (error) {
      // A collection that was made a moment ago.
      if (hasCode(error, SNAPSHOT_UNAVAILABLE) && tries < SNAPSHOT_TRIES) continue;
      throw backUpError(error, job.stop);
    } finally {
      await session.endSession();
    }
  }
}

class SnapshotReading {
  readonly #db: Db;
  readonly #job: BackUpJob;
  readonly #documents = new Map<string, number>();
  #total = 0;
  #done = 0;

  constructor(db: Db, job: BackUpJob) {
    this.#db = db;
    this.#job = job;
  }

  async *collections(session: ClientSession): AsyncGenerator<ArchivedCollection> {
    const names = await collectionNames(this.#db);
    for (const name of names)
      this.#total += await this.#db.collection(name).estimatedDocumentCount();
    for (const name of names) {
      this.#documents.set(name, 0);
      const documents = await this.#db.collection(name).estimatedDocumentCount();
      yield { name, documents, content: this.#content(name, session) };
    }
  }

  counts(): CopyCounts {
    const tables = [...this.#documents].filter(([name]) => !isOwnName(name));
    const rows = tables.reduce((sum, [, documents]) => sum + documents, 0);
    return { tables: tables.length, rows, accounts: this.#documents.get("repsync_accounts") ?? 0 };
  }

  async *#content(name: string, session: ClientSession): AsyncGenerator<Uint8Array> {
    const { onProgress, stop } = this.#job;
    const options = { ...SNAPSHOT, session, raw: true, batchSize: BATCH_DOCUMENTS };
    let count = 0;
    for await (const document of this.#db.collection(name).find({}, options)) {
      count++;
      if (++this.#done % BATCH_DOCUMENTS === 0) {
        stop?.throwIfAborted();
        const part = Math.min(1, this.#done / Math.max(1, this.#total));
        onProgress?.({ rows: this.#done, part });
      }
      yield document as unknown as Uint8Array;
    }
    this.#documents.set(name, count);
  }
}

/** The tables that were ever prepared, and what the service keeps of its own, but for what is left out. */
export async function collectionNames(db: Db): Promise<readonly string[]> {
  const found = await db.listCollections({ type: "collection" }, { nameOnly: true }).toArray();
  const definitions = db.collection<{ _id: string }>(TABLE_DEFINITIONS.name);
  const tables = (await definitions.find().toArray()).map(({ _id }) => _id);
  return found
    .map(({ name }) => name)
    .filter((name) => (isOwnName(name) ? isCopied(name) : tables.includes(name)))
    .sort();
}

function isCopied(name: string): boolean {
  return name.startsWith("repsync_") && !LEFT_OUT.includes(name);
}

function backUpError(error: unknown, stop: AbortSignal | undefined): unknown {
  if (stop?.aborted) return stop.reason;
  if (hasCode(error, SNAPSHOT_TOO_OLD)) {
    const text =
      "MongoDB keeps too little of its history for a backup of one moment: raise minSnapshotHistoryWindowInSeconds (300 by default) to more seconds than the backup takes";
    return new AppError("store_unavailable", text, { cause: error });
  }
  return error instanceof Error && !(error instanceof AppError) && "code" in error
    ? toAppError(error)
    : error;
}
