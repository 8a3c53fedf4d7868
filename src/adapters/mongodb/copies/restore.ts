// Fills an empty database from an archive. Until it is done a mark keeps every instance from using it. D-10.7.
import { BSON, type Db, type Document, type Timestamp } from "mongodb";
import { AppError } from "../../../domain/shared/errors.ts";
import { checkFormat, STORE_FORMAT } from "../../../domain/shared/store-format.ts";
import type {
  BackupFacts,
  KeptPepper,
  Restored,
  RestoreJob,
} from "../../../ports/copies/store-copies.ts";
import type { Logger } from "../../../ports/runtime/logger.ts";
import { DELETE_RECORDER } from "../deletes/recorder-state.ts";
import { createCollection, DURABLE } from "../driver/collections.ts";
import { connect } from "../driver/connection.ts";
import type { Stopwatch } from "../driver/deadline.ts";
import { toAppError } from "../driver/errors.ts";
import { HOLD_SECONDS, holdToFill, isServed } from "../driver/holders.ts";
import { readFacts, removeFact, STORE_FACTS, setFact } from "../driver/store-facts.ts";
import { TABLE_DEFINITIONS } from "../tables/table-inspection.ts";
import { readArchive } from "./archive.ts";
import { isOwnName } from "./contents.ts";
import { DocumentDigest } from "./document-digest.ts";
import { DocumentWriter } from "./document-writer.ts";

interface Target {
  readonly url: string;
  readonly clock: Stopwatch;
  readonly logger: Logger;
}

/** As `RestoreStore`. */
export async function restoreDatabase(
  { url, clock, logger }: Target,
  job: RestoreJob,
): Promise<Restored> {
  const archive = await examine(job);
  const { client, db } = await connect(url, { clock, logger }, async () => {});
  try {
    const claim = await claimEmptyDatabase(db, job.adminUsername, archive.tables);
    try {
      const sessions = await fill(db, job, archive);
      await claim.finish();
      return { ...archive.counts, facts: archive.facts, sessions };
    } catch (error) {
      await claim.giveUp();
      throw error;
    }
  } catch (error) {
    throw error instanceof Error && "code" in error ? toAppError(error) : error;
  } finally {
    await client.close();
  }
}

/** Reads the whole archive before anything is written. */
async function examine(job: RestoreJob) {
  const kept: { -readonly [Name in keyof KeptPepper]: KeptPepper[Name] } = {
    pepper: null,
    mark: null,
  };
  const tables: string[] = [];
  let rows = 0;
  const archive = await readArchive(job.path, {
    begin: (_: BackupFacts, collection: string) => {
      if (!isOwnName(collection)) tables.push(collection);
    },
    take: ({ collection, bson }) => {
      if (++rows % 1_000 === 0) job.stop?.throwIfAborted();
      if (collection !== "repsync_secrets") return;
      const { name, secret } = BSON.deserialize(bson);
      if (name === "api_key_pepper") kept.pepper = String(secret);
      if (name === "api_key_pepper_mark") kept.mark = String(secret);
    },
  });
  job.check(archive.facts, kept);
  return { ...archive, tables, total: rows };
}

interface Claim {
  /** The database is whole. */
  finish(): Promise<void>;
  /** Leaves nothing of what was written. */
  giveUp(): Promise<void>;
}

/** Takes an empty database for this process, and empties it of what a start has made. Throws `invalid_request`. */
export async function claimEmptyDatabase(
  db: Db,
  adminUsername: string | null,
  tables: readonly string[],
  by: "restore" | "move" = "restore",
): Promise<Claim> {
  if (await isServed(db)) throw held();
  // Of several processes one goes on.
  const holder = await holdToFill(db);
  if (holder === null) throw held();
  try {
    const facts = new Map(await readFacts(db));
    const isUnfinished = facts.delete("filled_by");
    checkFormat(facts, true);
    if (!isUnfinished) await refuseFull(db, adminUsername, tables);
    await createCollection(db, STORE_FACTS);
    // A service that starts now either finds this, or is found below.
    await setFact(db, "filled_by", by);
    if (await isServed(db)) {
      if (!isUnfinished) await removeFact(db, "filled_by");
      throw held();
    }
  } catch (error) {
    await holder.end();
    throw error;
  }
  await empty(db, tables);
  // The next start makes another one.
  await removeFact(db, "deployment_id");
  return {
    async finish() {
      await removeFact(db, "filled_by");
      await holder.end();
    },
    async giveUp() {
      try {
        await empty(db, tables);
        await db.dropCollection(STORE_FACTS);
      } catch {
        // The mark stays: nobody may use what is left.
      }
      await holder.end();
    },
  };
}

async function refuseFull(
  db: Db,
  adminUsername: string | null,
  tables: readonly string[],
): Promise<void> {
  const known = await db.collection<{ _id: string }>(TABLE_DEFINITIONS.name).find().toArray();
  for (const name of new Set([...tables, ...known.map(({ _id }) => _id)])) {
    if ((await db.collection(name).findOne({}, { projection: { _id: 1 } })) === null) continue;
    throw notEmpty(`table "${name}" has rows`);
  }
  const accounts = db.collection("repsync_accounts");
  const other = await accounts.findOne({ username: { $ne: adminUsername ?? "" } });
  if (other !== null) throw notEmpty("it has accounts");
}

/** Drops what is the service's own but the mark and the holders, and the tables that will be filled. */
async function empty(db: Db, tables: readonly string[]): Promise<void> {
  const kept: readonly string[] = [STORE_FACTS, "repsync_holders"];
  const found = await db.listCollections({ type: "collection" }, { nameOnly: true }).toArray();
  for (const { name } of found) {
    const isOwn = name.startsWith("repsync_") && !kept.includes(name);
    if (isOwn || tables.includes(name)) await db.dropCollection(name, { writeConcern: DURABLE });
  }
}

/** Writes all documents and reads them back; resolves to the sessions that it left out. */
async function fill(
  db: Db,
  job: RestoreJob,
  { total }: { readonly total: number },
): Promise<number> {
  const written = new Map<string, DocumentDigest>();
  let writer: DocumentWriter | null = null;
  let sessions = 0;
  let rows = 0;
  const now = await clusterTime(db);
  await readArchive(job.path, {
    async begin(_, collection) {
      await writer?.end();
      if (collection === STORE_FACTS) return;
      await createCollection(db, collection);
      const digest = new DocumentDigest();
      written.set(collection, digest);
      writer = new DocumentWriter(db.collection(collection), digest);
    },
    async take({ collection, bson }) {
      if (++rows % 1_000 === 0) {
        job.stop?.throwIfAborted();
        job.onProgress?.({ rows, part: rows / (2 * total) });
      }
      const document = DocumentWriter.read(bson);
      if (collection === STORE_FACTS) return;
      if (collection === "repsync_sessions" && document["username"] !== "") {
        sessions++;
        return;
      }
      const kept = collection === DELETE_RECORDER.name ? begunHere(document, now) : document;
      await writer?.write(kept);
    },
  });
  await (writer as DocumentWriter | null)?.end();
  await compare(db, written, job, total);
  await setFact(db, "format", String(STORE_FORMAT));
  return sessions;
}

/** The place in the change stream is one of this cluster; up to the backup all deletes are recorded. */
function begunHere(state: Document, now: Timestamp): Document {
  const tables = Object.entries((state["tables"] ?? {}) as Record<string, Document>);
  const begun = tables.map(([name, table]) => [name, { ...table, from: now }]);
  const free = { recorder: null, expiresAt: new Date(0), token: null, barrier: 0 };
  return { ...state, ...free, tables: Object.fromEntries(begun) };
}

async function clusterTime(db: Db): Promise<Timestamp> {
  const { operationTime } = await db.command({ ping: 1 });
  return operationTime as Timestamp;
}

/** Throws `store_unavailable` when the database does not hold exactly what was written. */
export async function compare(
  db: Db,
  written: ReadonlyMap<string, DocumentDigest>,
  job: Pick<RestoreJob, "stop" | "onProgress">,
  total: number,
): Promise<void> {
  let rows = 0;
  for (const [name, expected] of written) {
    const found = new DocumentDigest();
    const options = { raw: true, batchSize: 1_000, readConcern: { level: "majority" } } as const;
    for await (const document of db.collection(name).find({}, options)) {
      found.add(document as unknown as Uint8Array);
      if (++rows % 1_000 !== 0) continue;
      job.stop?.throwIfAborted();
      job.onProgress?.({ rows: total, part: Math.min(1, 0.5 + rows / (2 * total)) });
    }
    if (found.text === expected.text) continue;
    throw new AppError("store_unavailable", `"${name}" does not hold what was written to it`);
  }
}

function held(): AppError {
  const text = `A running service, or another command, holds the store, or did within the last ${HOLD_SECONDS} s: stop it first`;
  return new AppError("invalid_request", text);
}

function notEmpty(what: string): AppError {
  return new AppError("invalid_request", `The store of STORAGE_URL is not empty: ${what}`);
}
