// Reads the change stream of deletes piece by piece. The driver's own stream would resume by itself after a lost connection; here only
// the kept state says where to resume.
import type { ClientSession, Document, Long, Timestamp, UUID } from "mongodb";
import type { Table } from "../../../domain/sync/table/table.ts";
import { Deadline } from "../driver/deadline.ts";
import type { StoreDeps } from "../driver/operations.ts";
import { OWN_DELETES } from "../driver/tombstone-documents.ts";
import { giveUpSession } from "../driver/transaction.ts";
import { keyAndTime } from "../tables/table-layout.ts";
import { DELETE_BARRIERS, RECORDER_CALLS } from "./recorder-state.ts";

const MAX_EVENTS = 1_000;
/** Longest wait for an event. */
const AWAIT_MS = 1_000;

/** Where a stream begins: behind a piece, or at a cluster time. */
export type StreamStart =
  | { readonly resumeAfter: Document }
  | { readonly startAtOperationTime: Timestamp };

/** The fields of a change event that the pipeline projects. Numbers have their BSON types. */
export interface ChangeEvent {
  readonly operationType: string;
  readonly ns?: { readonly coll?: string };
  /** The new name of a renamed collection. */
  readonly to?: { readonly coll?: string };
  readonly clusterTime: Timestamp;
  /** By the clock of the server. */
  readonly wallTime: Date;
  /** With `txnNumber` the transaction, or the retryable write. */
  readonly lsid?: { readonly id: UUID };
  readonly txnNumber?: Long;
  /** Key and time of the row before; absent without a pre-image. */
  readonly fullDocumentBeforeChange?: Document;
  /** An inserted barrier, a value to forget, or key and time of a replaced row. */
  readonly fullDocument?: Document;
  readonly updateDescription?: {
    readonly updatedFields?: Document;
    readonly removedFields?: readonly string[];
  };
}

export interface Piece {
  readonly events: readonly ChangeEvent[];
  /** Resumes behind the piece. */
  readonly token: Document;
}

interface CursorReply {
  readonly id: Long;
  readonly firstBatch?: readonly ChangeEvent[];
  readonly nextBatch?: readonly ChangeEvent[];
  readonly postBatchResumeToken: Document;
}

type StreamDeps = Pick<StoreDeps, "client" | "db" | "clock">;

export class StreamClosed extends Error {}

export class DeleteStream {
  readonly #deps: StreamDeps;
  readonly #session: ClientSession;
  /** Null before the first piece. */
  #cursor: Long | null = null;
  readonly #pipeline: readonly Document[];
  #isClosed = false;
  #endCall: (reason: StreamClosed) => void = () => {};

  /** Events of the tables that may have deleted rows, barriers, and values to forget. */
  constructor(deps: StreamDeps, tables: Iterable<Table>, start: StreamStart) {
    this.#deps = deps;
    this.#pipeline = pipelineOf([...tables], start);
    this.#session = deps.client.startSession({ causalConsistency: false });
  }

  /** The next piece, after at most a second. Throws `StreamClosed`, and errors of the driver. */
  async next(): Promise<Piece> {
    const cursor = { batchSize: MAX_EVENTS };
    const { id, firstBatch, nextBatch, postBatchResumeToken } =
      this.#cursor === null
        ? await this.#run({ aggregate: 1, pipeline: this.#pipeline, cursor })
        : await this.#run({
            getMore: this.#cursor,
            collection: "$cmd.aggregate",
            ...cursor,
            maxTimeMS: AWAIT_MS,
          });
    this.#cursor = id;
    return { events: firstBatch ?? nextBatch ?? [], token: postBatchResumeToken };
  }

  /** Ends the stream and a running `next()`. Never fails, and does not wait for the server. */
  close(): void {
    this.#isClosed = true;
    this.#endCall(new StreamClosed());
    giveUpSession(this.#deps.client, this.#session);
  }

  async #run(command: Document): Promise<CursorReply> {
    if (this.#isClosed) throw new StreamClosed();
    const { db, clock } = this.#deps;
    const options = { session: this.#session, ...KEEP_TYPES };
    // A server that waits for events stops late. A promise for each call, as a shared one would hold all replies.
    const ending = Promise.withResolvers<never>();
    this.#endCall = ending.reject;
    const replying = Promise.race([db.command(command, options), ending.promise]);
    const reply = await new Deadline(clock, RECORDER_CALLS).race(replying);
    return reply["cursor"] as CursorReply;
  }
}

const WITH_DETAILS = { fullDocumentBeforeChange: "whenAvailable", showExpandedEvents: true };
const EXISTS = { $exists: true };
const OF_COLLECTIONS = ["create", "modify", "drop", "rename"];

function pipelineOf(tables: readonly Table[], start: StreamStart): Document[] {
  const names = tables.map(({ name }) => name);
  const keyNames = [...new Set(tables.flatMap((table) => table.keyColumns.map((key) => key.name)))];
  const fields = [...new Set(tables.flatMap(keyAndTime).map(({ name }) => name))];
  const hasNewKey = keyNames.flatMap((name) => [
    { [`updateDescription.updatedFields.${name}`]: EXISTS },
    { "updateDescription.removedFields": name },
  ]);
  const ofTable = { "ns.coll": { $in: names } };
  const passes = [
    { ...ofTable, operationType: { $in: ["delete", "replace", ...OF_COLLECTIONS] } },
    { ...ofTable, operationType: "update", $or: hasNewKey },
    { "ns.coll": DELETE_BARRIERS.name, operationType: { $in: ["insert", "update", "replace"] } },
    { "ns.coll": OWN_DELETES.name, operationType: "insert", "fullDocument.forgets": EXISTS },
    { "to.coll": { $in: names }, operationType: "rename" },
    // After such an event the next commit finds no state of the recorder.
    { operationType: { $in: ["dropDatabase", "invalidate"] } },
  ];
  // Large updates come as replacements with the same key.
  const keepsKey = keyNames.map((name) => ({
    $eq: [`$fullDocument.${name}`, `$fullDocumentBeforeChange.${name}`],
  }));
  const isPlainReplacement = [
    { $eq: ["$operationType", "replace"] },
    { $in: ["$ns.coll", names] },
    { $eq: [{ $type: "$fullDocumentBeforeChange" }, "object"] },
    ...keepsKey,
  ];
  const shown = [
    ...["operationType", "ns.coll", "to.coll", "clusterTime", "wallTime", "lsid.id", "txnNumber"],
    ...fields.map((name) => `fullDocumentBeforeChange.${name}`),
    ...["number", ...keyNames].flatMap((name) => [
      `fullDocument.${name}`,
      `updateDescription.updatedFields.${name}`,
    ]),
    ...["fullDocument.forgets", "updateDescription.removedFields"],
  ];
  return [
    { $changeStream: { ...WITH_DETAILS, ...start } },
    { $match: { $or: passes } },
    { $match: { $expr: { $not: { $and: isPlainReplacement } } } },
    { $project: Object.fromEntries(new Set(shown).values().map((name) => [name, 1])) },
  ];
}

/** Keeps BSON types. Text of other tools need not be valid UTF-8. */
const KEEP_TYPES = { promoteValues: false, enableUtf8Validation: false } as const;
