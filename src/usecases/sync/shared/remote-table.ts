// Requests to the remote about one table, each made again until it succeeds or cannot, and its rows page by page. D-4.6.
import { AppError, assert } from "../../../domain/shared/errors.ts";
import type { JsonObject } from "../../../domain/shared/json.ts";
import {
  FIRST_BATCH_ROWS,
  MAX_RUN_ERROR_CHARS,
  MAX_STALL_MS,
} from "../../../domain/shared/limits.ts";
import { cutText } from "../../../domain/shared/text.ts";
import type { DigestPage, DigestQuery } from "../../../domain/sync/digest/digest-page.ts";
import { PullCursor } from "../../../domain/sync/pull/pull-cursor.ts";
import { NO_TIME } from "../../../domain/sync/rows/row-memory.ts";
import { startLike } from "../../../domain/sync/rows/row-time.ts";
import {
  BatchSize,
  isTooMuchToReceive,
  maxAttempts,
  retryWaitMs,
} from "../../../domain/sync/run/pacing.ts";
import type { SyncDirection } from "../../../domain/sync/run/run.ts";
import type { Table } from "../../../domain/sync/table/table.ts";
import { columnsHash, type TableSchema } from "../../../domain/sync/table/table-schema.ts";
import {
  type DeletedReply,
  type DeletedRequest,
  type PulledPage,
  type PullRequest,
  type PushedBatch,
  type PushRequest,
  type RemotePeer,
  RemotePeerError,
  type RowsRequest,
  type StatusReply,
} from "../../../ports/tables/remote-peer.ts";
import type { RunLease } from "./hold-lease.ts";
import type { RunContext } from "./run-context.ts";

/** True for a failure that the caller handles: it is thrown at once, unchanged. */
export type PassesFailure = (error: RemotePeerError) => boolean;

type Bundle = "page" | "batch";

/** After a page longer than this, the next one has fewer rows, so that few bytes are held at once. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** After a page longer than this, the next one has no more rows. */
const MAX_GROWING_PAGE_BYTES = 2 * 1024 * 1024;
/** A page may begin with a known row. */
const LEAST_ROWS = 2;

/**
 * Each method makes one request. Throws `sync_failed` when it fails for good, the signal's reason when the run stops, and the
 * `RemotePeerError` itself where `passes` is true. A dry run sends nothing. D-4.11.
 */
export class RemoteTable {
  readonly run: RunContext;
  readonly table: Table;
  /** Ends requests and waits. */
  readonly signal: AbortSignal;
  /** Hash of the columns that the remote told first, sent with every request; null before. */
  columns: string | null = null;
  readonly #peer: RemotePeer;
  readonly #direction: SyncDirection;
  #progressAtMs: number;

  /** `direction` stands in `retry` events. */
  constructor(
    run: RunContext,
    table: Table,
    signal = run.stop,
    direction = run.directions[0] ?? "push",
  ) {
    this.run = run;
    this.table = table;
    this.#peer = run.remote.peer;
    this.signal = signal;
    this.#direction = direction;
    this.#progressAtMs = run.deps.clock.monotonicMs();
  }

  readStatus(): Promise<StatusReply> {
    return this.#call((by) => this.#peer.readStatus(by));
  }

  async readSchema(lateAfter: string | null): Promise<TableSchema> {
    const asked = lateAfter === null ? {} : { lateAfter };
    const read = (by: RowsRequest) => this.#peer.readSchema(this.table.name, { ...asked, ...by });
    const schema = await this.#call(read);
    this.columns ??= columnsHash(schema.columns);
    return schema;
  }

  pullPage(request: PullRequest, passes?: PassesFailure): Promise<PulledPage> {
    return this.#call((by) => this.#peer.pullPage(this.table.name, { ...request, ...by }), passes);
  }

  readDeleted(asked: DeletedRequest, passes?: PassesFailure): Promise<DeletedReply> {
    return this.#call((by) => this.#peer.readDeleted(this.table.name, { ...asked, ...by }), passes);
  }

  async readDigest(query: DigestQuery, passes?: PassesFailure): Promise<DigestPage> {
    const read = (by: RowsRequest) => this.#peer.readDigest(this.table.name, query, by);
    return (await this.#call(read, passes)).page;
  }

  /** Sends rows or tombstones under a lease. A dry run counts rows as sent, and asks the remote only about tombstones. */
  async pushBatch(
    request: PushRequest,
    lease: RunLease,
    passes: PassesFailure,
  ): Promise<PushedBatch> {
    const { run, table } = this;
    if (run.isDryRun && !request.isDeletesDryRun) return asIfSent(table.name, request);
    const push = (by: RowsRequest) => {
      lease.assertHeld();
      return this.#peer.pushBatch(table.name, { ...request, runId: run.runId, ...by });
    };
    return await this.#call(push, passes);
  }

  /** As `RemotePeer.prepareBatch`. */
  prepareBatch(request: PushRequest): void {
    if (!this.run.isDryRun) this.#peer.prepareBatch?.(request);
  }

  /** The most rows of a page, or rows or tombstones of a batch; `otherwise` where none was too many so far. */
  rowsAtOnce(of: Bundle, otherwise: number): number {
    const { address, learned } = this.run.remote;
    return learned.rowsOf(address, `${of} of ${this.table.name}`, otherwise);
  }

  /** The size of the first page or batch of rows. */
  firstSize(of: Bundle): BatchSize {
    return new BatchSize(this.run.deps.maxPageRows, this.rowsAtOnce(of, FIRST_BATCH_ROWS));
  }

  /** Notes a number of rows that was too large or took too long. */
  learnTooMany(of: Bundle, rows: number): void {
    const { address, learned } = this.run.remote;
    learned.learn(address, `${of} of ${this.table.name}`, rows);
  }

  /** Records a success that was no request, such as a commit: the time without progress begins anew. */
  progressed(): void {
    this.#progressAtMs = this.run.deps.clock.monotonicMs();
  }

  async #call<T>(
    request: (by: RowsRequest) => Promise<T>,
    passes: PassesFailure = () => false,
  ): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      this.signal.throwIfAborted();
      try {
        const reply = await request({ signal: this.signal, columns: this.columns });
        this.progressed();
        return reply;
      } catch (error) {
        this.signal.throwIfAborted();
        if (!(error instanceof RemotePeerError)) throw error;
        await this.#waitAfter(error, attempts, passes);
      }
    }
  }

  /** Waits before the next attempt. Throws when the request is given up. */
  async #waitAfter(error: RemotePeerError, attempts: number, passes: PassesFailure): Promise<void> {
    const { clock, timer, random, logger } = this.run.deps;
    const stalledMs = clock.monotonicMs() - this.#progressAtMs;
    if (passes(error) && stalledMs < MAX_STALL_MS) throw error;
    const waitMs = retryWaitMs(error, { attempts, stalledMs, random: random.next() });
    if (waitMs === null) {
      const tried = attempts === 1 ? "" : ` (${attempts} attempts)`;
      const message = error.messageWithin(MAX_RUN_ERROR_CHARS - tried.length) + tried;
      const { hint, isRecoverable } = error;
      throw new AppError("sync_failed", message, { cause: error, hint, isRecoverable });
    }
    const problem = error.message;
    logger.warn("Request to the remote failed", { attempts, wait_ms: waitMs, problem });
    this.run.publish({
      type: "retry",
      table: this.table.name,
      direction: this.#direction,
      attempt: attempts + 1,
      maxAttempts: maxAttempts(error),
      waitMs,
      reason: cutText(problem.replaceAll(/\s+/g, " "), MAX_RUN_ERROR_CHARS),
    });
    await timer.sleep(waitMs, this.signal);
  }
}

/** The acknowledgement of a remote that writes nothing. */
function asIfSent(table: string, { records, deleted = [] }: PushRequest): PushedBatch {
  assert(deleted.length === 0, "A dry run asks about tombstones and sends none");
  const integrity = "verified";
  const result = { table, upserted: records.length, kept: 0, changed: 0, integrity } as const;
  return { result, bytesCompressed: 0, bytesUncompressed: 0 };
}

/** Asks for the next page of a cursor, with fewer rows while it is too much at once. Awaiting the page throws its failure. */
export function askPage(
  remote: RemoteTable,
  cursor: PullCursor,
  size: BatchSize,
): Promise<PulledPage> {
  const { clock, tracing } = remote.run.deps;
  const { since, offset, limit } = cursor.request();
  const asked = tracing.inSpan("pullPage", async (span) => {
    for (;;) {
      const beganMs = clock.monotonicMs();
      const rows = Math.min(limit, Math.max(LEAST_ROWS, size.rows));
      try {
        const passes = (error: RemotePeerError) => rows > LEAST_ROWS && isTooMuchToReceive(error);
        const pulled = await remote.pullPage({ since, offset, limit: rows }, passes);
        const bytes = pulled.bytesUncompressed;
        if (bytes > MAX_PAGE_BYTES) size.shrink(rows);
        // A look at one row says nothing of a whole page.
        else if (bytes <= MAX_GROWING_PAGE_BYTES && rows >= size.rows) {
          size.grow(clock.monotonicMs() - beganMs);
        }
        span.set({ "repsync.rows": pulled.page.records.length });
        return pulled;
      } catch (error) {
        if (!(error instanceof RemotePeerError)) throw error;
        const tooMany = Math.min(rows, cursor.tableRows ?? rows);
        size.shrink(tooMany);
        // For the next run, as this one may have no time left for a smaller page.
        remote.learnTooMany("page", tooMany);
      }
    }
  });
  asked.catch(() => {});
  return asked;
}

/** A page, and those of its records that had not come before. */
interface PulledRecords extends PulledPage {
  readonly records: readonly JsonObject[];
}

/** Page by page from a time in microseconds on; all where it is `NO_TIME`, or without a time as the remote writes it. */
export async function* recordsFrom(
  remote: RemoteTable,
  fromMicros: number,
  sampleTime: string | null,
): AsyncGenerator<PulledRecords, void, undefined> {
  const { run, table } = remote;
  const { maxPageRows } = run.deps;
  const isAll = sampleTime === null || fromMicros === NO_TIME || table.timestampColumn === null;
  const since = isAll ? null : startLike(table, sampleTime, Math.floor(fromMicros / 1_000));
  const cursor =
    since === null
      ? PullCursor.begin(table, null, maxPageRows)
      : PullCursor.beginSince(table, since, maxPageRows);
  const size = remote.firstSize("page");
  for (let isDone = false; !isDone; ) {
    const pulled = await askPage(remote, cursor, size);
    const accepted = cursor.accept(pulled.page);
    yield { ...pulled, records: accepted.records };
    ({ isDone } = accepted);
  }
}
