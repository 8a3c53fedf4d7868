import {
  DIGEST_SEGMENT_ROWS,
  MAX_DIGEST_RECORDS,
  MAX_DIGEST_ROWS,
  MAX_DIGEST_SEGMENTS,
} from "../../domain/limits.ts";
import {
  type DigestPage,
  type DigestParameters,
  type DigestQuery,
  type DigestSegment,
  type Key,
  keyOf,
  keyRow,
  readDigestQuery,
} from "../../domain/sync/digest-page.ts";
import {
  comparedColumns,
  DIGEST_FORMAT,
  type DigestSum,
  startDigest,
} from "../../domain/sync/row-digest.ts";
import type { Registry, Row, Table } from "../../domain/sync/table.ts";
import type { RowSource } from "../../ports/row-source.ts";
import { findTable } from "./pull-page.ts";

/** What digesting needs. */
export interface DigestTableDeps {
  readonly registry: Registry;
  readonly rows: RowSource;
}

/**
 * Digests a table by ranges of its key, so that another deployment can compare its own rows. D-4.10.
 * Throws `unknown_table`, `invalid_request`, `store_unavailable`.
 */
export async function digestTable(
  deps: DigestTableDeps,
  input: { readonly tableName: string; readonly parameters: DigestParameters },
): Promise<DigestPage> {
  const table = findTable(deps.registry, input.tableName);
  const query = readDigestQuery(table, input.parameters);
  const columns = comparedColumns(table).map(({ name }) => name);
  const head = { table: table.name, format: DIGEST_FORMAT, columns };
  if (query.withRecords) return { ...head, ...(await readRecords(deps.rows, table, query)) };
  return { ...head, ...(await readSegments(deps.rows, table, query)) };
}

async function readRecords(source: RowSource, table: Table, query: DigestQuery) {
  const found = await source.readKeyRange(table, rangeOf(table, query), MAX_DIGEST_RECORDS + 1);
  const records = found.slice(0, MAX_DIGEST_RECORDS);
  const hasMore = found.length > records.length;
  const sum = startDigest(table);
  for (const row of records) sum.add(row);
  const last = records.at(-1);
  const through = hasMore && last !== undefined ? keyOf(table, last) : query.through;
  return { segments: [{ through, ...sum.result() }], has_more: hasMore, records };
}

async function readSegments(source: RowSource, table: Table, query: DigestQuery) {
  const segments: DigestSegment[] = [];
  let sum = startDigest(table);
  let last: Row | null = null;
  let rows = 0;
  const close = (through: Key | null) => {
    segments.push({ through, ...sum.result() });
    sum = startDigest(table);
  };
  for await (const row of rowsByKey(source, table, query)) {
    // Closed only when a row follows, so that the last segment reaches the end of the query.
    if (last !== null && sum.result().count === query.segmentRows) {
      close(keyOf(table, last));
      const isEnough = segments.length >= MAX_DIGEST_SEGMENTS || rows >= MAX_DIGEST_ROWS;
      if (isEnough) return { segments, has_more: true };
    }
    sum.add(row);
    last = row;
    rows++;
  }
  close(query.through);
  return { segments, has_more: false };
}

/** The digest of all rows of a range. */
export async function digestRange(
  source: RowSource,
  table: Table,
  range: Pick<DigestQuery, "after" | "through">,
) {
  const sum: DigestSum = startDigest(table);
  for await (const row of rowsByKey(source, table, range)) sum.add(row);
  return sum.result();
}

/** The rows of a range in the order of the key. */
export async function* rowsByKey(
  source: RowSource,
  table: Table,
  range: Pick<DigestQuery, "after" | "through">,
): AsyncGenerator<Row, void, undefined> {
  const { throughKey, ...start } = rangeOf(table, range);
  let { afterKey } = start;
  for (;;) {
    const rows = await source.readKeyRange(table, { afterKey, throughKey }, DIGEST_SEGMENT_ROWS);
    yield* rows;
    if (rows.length < DIGEST_SEGMENT_ROWS) return;
    afterKey = rows.at(-1) ?? null;
  }
}

function rangeOf(table: Table, { after, through }: Pick<DigestQuery, "after" | "through">) {
  return {
    afterKey: after === null ? null : keyRow(table, after),
    throughKey: through === null ? null : keyRow(table, through),
  };
}
