// Pages of the remote's table, asked for as a cursor says and as large as the remote and this end can take.
import type { JsonObject } from "../../../domain/shared/json.ts";
import type { PullCursor } from "../../../domain/sync/pull/pull-cursor.ts";
import { FIRST_TIME_MS, formatLike } from "../../../domain/sync/rows/row-time.ts";
import { BatchSize, isTooMuchToReceive } from "../../../domain/sync/run/pacing.ts";
import { type PulledPage, RemotePeerError } from "../../../ports/tables/remote-peer.ts";
import type { RemoteTable } from "../shared/run-context.ts";

/** A page longer than this lets the next one have fewer rows, so that few bytes are held at once. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** A page longer than this does not let the next one have more rows. */
const MAX_GROWING_PAGE_BYTES = 2 * 1024 * 1024;

/** A page that begins with a row that is known must have another one. */
const LEAST_ROWS = 2;

/**
 * Asks for the page that a cursor wants, with fewer rows when it is too much at once. A failure waits until the page is
 * looked at.
 */
export function askPage(
  source: RemoteTable,
  cursor: PullCursor,
  size: BatchSize,
): Promise<PulledPage> {
  const { tracing } = source.run.deps;
  const asked = tracing.inSpan("pullPage", async (span) => {
    const pulled = await readPage(source, cursor, size);
    span.set({ "repsync.rows": pulled.page.records.length });
    return pulled;
  });
  asked.catch(() => {});
  return asked;
}

async function readPage(
  { run, table, calls }: RemoteTable,
  cursor: PullCursor,
  size: BatchSize,
): Promise<PulledPage> {
  const { since, offset, limit } = cursor.request();
  for (;;) {
    const beganMs = run.deps.clock.monotonicMs();
    const rows = Math.min(limit, Math.max(LEAST_ROWS, size.rows));
    try {
      const pulled = await calls.call(
        (signal) => run.remote.peer.pullPage(table.name, { since, offset, limit: rows, signal }),
        (error) => rows > LEAST_ROWS && isTooMuchToReceive(error),
      );
      const bytes = pulled.bytesUncompressed;
      if (bytes > MAX_PAGE_BYTES) size.shrink(rows);
      else if (bytes <= MAX_GROWING_PAGE_BYTES) size.grow(run.deps.clock.monotonicMs() - beganMs);
      return pulled;
    } catch (error) {
      if (!(error instanceof RemotePeerError)) throw error;
      size.shrink(rows);
    }
  }
}

/** A page, and the records of it that had not come before. */
export interface PulledRecords extends PulledPage {
  readonly records: readonly JsonObject[];
}

/** All records that a cursor finds, page by page, one after the other. */
export async function* pullRecords(
  source: RemoteTable,
  cursor: PullCursor,
): AsyncGenerator<PulledRecords, void, undefined> {
  const size = new BatchSize(source.run.deps.maxPageRows);
  for (let isDone = false; !isDone; ) {
    const { page, bytesCompressed, bytesUncompressed } = await askPage(source, cursor, size);
    const accepted = cursor.accept(page);
    yield { page, bytesCompressed, bytesUncompressed, records: accepted.records };
    isDone = accepted.isDone;
  }
}

/** Rows that a pull from a marker would bring, by the totals of pages of one row. D-4.11. */
export async function countPull(
  { run, table, calls }: RemoteTable,
  marker: string | null,
): Promise<number> {
  const count = async (since: string | null) => {
    const { page } = await calls.call((signal) =>
      run.remote.peer.pullPage(table.name, { since, offset: 0, limit: 1, signal }),
    );
    return page.total;
  };
  const all = await count(null);
  if (marker === null || table.timestampColumn === null) return all;
  const timed = await count(formatLike(marker, FIRST_TIME_MS));
  return (await count(marker)) + Math.max(0, all - timed);
}
