// What a peer reads of a table: pages of its rows, of its tombstones, and of digests by ranges of the key. S-4.1, D-4.10, D-7.6.
import {
  DIGEST_SEGMENT_ROWS,
  MAX_DIGEST_MS,
  MAX_DIGEST_RECORDS,
  MAX_DIGEST_ROWS,
  MAX_DIGEST_SEGMENTS,
  MAX_PAGE_RECORD_BYTES,
} from "../../../domain/shared/limits.ts";
import { formatMs } from "../../../domain/shared/time.ts";
import {
  DIGEST_FORMAT,
  type DigestPage,
  type DigestParameters,
  type DigestQuery,
  type DigestRange,
  type DigestSegment,
  DigestSum,
  readDigestQuery,
} from "../../../domain/sync/digest/digest-page.ts";
import {
  buildPullPage,
  type DeletedPage,
  type DeletedQuery,
  type PageQuery,
  type PullPage,
  readDeletedQuery,
  readPageRequest,
} from "../../../domain/sync/rows/page.ts";
import { keyOf } from "../../../domain/sync/rows/row-key.ts";
import { findTable, type Row, type Table } from "../../../domain/sync/table/table.ts";
import { requireColumns } from "../../../domain/sync/table/table-schema.ts";
import type { RowsQuery } from "../../../ports/tables/table-store.ts";
import { storeNowMs } from "../../../repositories/repository.ts";
import type { SyncDeps } from "../shared/sync-deps.ts";

/** Rows of one read for digests: one more than a segment has, to see whether another one follows. */
const READ_ROWS = DIGEST_SEGMENT_ROWS + 1;

type KeyReaderDeps = Pick<SyncDeps, "tables" | "timer">;
type DigestTableDeps = KeyReaderDeps & Pick<SyncDeps, "registry" | "clock">;

/** Throws `unknown_table`, `overloaded`, `store_unavailable`. */
export async function pullPage(
  deps: Pick<SyncDeps, "registry" | "tables" | "maxPageRows">,
  tableName: string,
  query: PageQuery,
): Promise<PullPage> {
  const table = findTable(deps.registry, tableName);
  requireColumns(table, query.columns ?? null);
  const request = readPageRequest(table, query, deps.maxPageRows);
  const { offsetRows, sinceTime, limitRows } = request;
  const { rows, totalRows } = await deps.tables.page(table, {
    from: { offsetRows },
    sinceTime,
    limitRows,
    maxJsonBytes: MAX_PAGE_RECORD_BYTES,
    hasTotal: true,
  });
  return buildPullPage(table, request, rows, totalRows);
}

/**
 * Lists the tombstones of a table. Without `deletes` there are none, and the record counts as complete from now on only: a peer
 * that goes on from here once the table has `deletes` is told to compare. Throws `unknown_table`, `invalid_request` for a cursor
 * that was never given, `store_unavailable`. D-7.6.
 */
export async function listDeleted(
  deps: Pick<SyncDeps, "registry" | "tombstones" | "documents" | "maxPageRows">,
  tableName: string,
  query: DeletedQuery,
): Promise<DeletedPage> {
  const table = findTable(deps.registry, tableName);
  // Before the read, by the store's clock: a cursor is as old as the time that came with it.
  const serverTime = formatMs(await storeNowMs(deps.documents));
  if (!table.deletes) {
    const nothing = { items: [], nextCursor: null, cursor: "" };
    return { table: table.name, ...nothing, earliestAvailable: serverTime, serverTime };
  }
  const asked = readDeletedQuery(query, deps.maxPageRows);
  const { items, cursor, hasMore, earliestAvailable } = await deps.tombstones.list(table, asked);
  const nextCursor = hasMore ? cursor : null;
  return { table: table.name, items, nextCursor, cursor, earliestAvailable, serverTime };
}

/** Throws `unknown_table`, `invalid_request`, `store_unavailable`. */
export async function digestTable(
  deps: DigestTableDeps,
  tableName: string,
  parameters: DigestParameters,
): Promise<DigestPage> {
  const table = findTable(deps.registry, tableName);
  const query = readDigestQuery(table, parameters);
  const columns = table.movedColumns.map(({ name }) => name);
  const head = { table: table.name, format: DIGEST_FORMAT, columns };
  if (query.withRecords) return { ...head, ...(await readRecords(deps, table, query)) };
  return { ...head, ...(await readSegments(deps, table, query)) };
}

async function readRecords({ tables }: KeyReaderDeps, table: Table, query: DigestQuery) {
  const { rows: found } = await tables.page(table, {
    from: { afterKey: query.after, throughKey: query.through },
    limitRows: MAX_DIGEST_RECORDS + 1,
    columns: "sent",
  });
  const records = found.slice(0, MAX_DIGEST_RECORDS);
  const hasMore = found.length > records.length;
  const sum = new DigestSum(table);
  for (const row of records) sum.add(row);
  const last = hasMore ? (records.at(-1) ?? null) : query.through;
  return { segments: [{ through: last && keyOf(table, last), ...sum.result() }], hasMore, records };
}

async function readSegments(deps: DigestTableDeps, table: Table, query: DigestQuery) {
  const endMs = deps.clock.monotonicMs() + MAX_DIGEST_MS;
  const segments: DigestSegment[] = [];
  let sum = new DigestSum(table);
  let last: Row | null = null;
  let segmentRows = 0;
  let rows = 0;
  const close = (through: Row | null) => {
    segments.push({ through: through && keyOf(table, through), ...sum.result() });
    sum = new DigestSum(table);
    segmentRows = 0;
  };
  for await (const chunk of chunksByKey(deps, table, query)) {
    for (const row of chunk) {
      // Closed only when a row follows: the last segment reaches the end of the query.
      if (last !== null && segmentRows === query.segmentRows) {
        close(last);
        const isFull = segments.length >= MAX_DIGEST_SEGMENTS || rows >= MAX_DIGEST_ROWS;
        if (isFull || deps.clock.monotonicMs() >= endMs) return { segments, hasMore: true };
      }
      sum.add(row);
      last = row;
      segmentRows++;
      rows++;
    }
  }
  close(query.through);
  return { segments, hasMore: false };
}

export async function digestRange(deps: KeyReaderDeps, table: Table, range: DigestRange) {
  const sum = new DigestSum(table);
  for await (const chunk of chunksByKey(deps, table, range)) {
    for (const row of chunk) sum.add(row);
  }
  return sum.result();
}

export async function* rowsByKey(
  deps: KeyReaderDeps,
  table: Table,
  range: DigestRange,
): AsyncGenerator<Row, void, undefined> {
  for await (const chunk of chunksByKey(deps, table, range)) yield* chunk;
}

async function* chunksByKey(
  deps: KeyReaderDeps,
  table: Table,
  { after, through }: DigestRange,
): AsyncGenerator<readonly Row[], void, undefined> {
  for (let afterKey = after; ; ) {
    const from = { afterKey, throughKey: through };
    const query: RowsQuery = { from, limitRows: READ_ROWS, columns: "sent" };
    const { rows } = await deps.tables.page(table, query);
    yield rows;
    if (rows.length < READ_ROWS) return;
    afterKey = rows.at(-1) ?? null;
    await deps.timer.sleep(0);
  }
}
