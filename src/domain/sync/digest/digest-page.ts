// Digests of a table by ranges of its key: two deployments of this service prove by them that their rows are equal. D-4.10.
import { AppError } from "../../shared/errors.ts";
import { parseJsonOr } from "../../shared/json.ts";
import { DIGEST_SEGMENT_ROWS } from "../../shared/limits.ts";
import { HASH_WORDS, hashText, wordsHex } from "../../shared/text.ts";
import { convertPosition, keyRow, rowText, type UpsertKey } from "../rows/row-key.ts";
import type { Row, Table } from "../table/table.ts";

/** A range by keys: rows of key columns alone, in the order of `upsert_key`. */
export interface DigestRange {
  /** Only rows behind this key; null from the first on. */
  readonly after: Row | null;
  /** Only rows up to this key; null to the last. */
  readonly through: Row | null;
}

export interface DigestQuery extends DigestRange {
  /** 1 or more. */
  readonly segmentRows: number;
  /** True: send the rows themselves in place of short segments. */
  readonly withRecords: boolean;
}

/** The rows behind the segment before it, or behind the query's `after`, up to a key. */
export interface DigestSegment {
  /** Null in the last segment of a query without `through`. */
  readonly through: UpsertKey | null;
  readonly count: number;
  /** Sums of the words of the rows' hashes, in any order of rows: 32 hexadecimal digits. */
  readonly digest: string;
}

/** The reply, in its field order. */
export interface DigestPage {
  readonly table: string;
  /** `DIGEST_FORMAT` of the sender. */
  readonly format: string;
  /** Names of the columns that were read, sorted. */
  readonly columns: readonly string[];
  /** Segments in the order of the key. The last one reaches the query's `through` unless there are more. */
  readonly segments: readonly DigestSegment[];
  /** True when the reply stops before the query's `through`: ask again behind the last segment. */
  readonly hasMore: boolean;
  /** Rows in the order of the key, when they were asked for. */
  readonly records?: readonly Row[];
}

/** The query's parameters as text; null when absent. */
export interface DigestParameters {
  /** JSON array of the key's values. */
  readonly after: string | null;
  readonly through: string | null;
  readonly segmentRows: string | null;
  readonly records: string | null;
}

export function digestParameters(query: DigestQuery): DigestParameters {
  const text = (key: Row | null) => (key === null ? null : JSON.stringify(Object.values(key)));
  return {
    after: text(query.after),
    through: text(query.through),
    segmentRows: String(query.segmentRows),
    records: query.withRecords ? "true" : null,
  };
}

export const MAX_SEGMENT_ROWS = 999_999_999;

/** Reads the parameters. Throws `invalid_request`. */
export function readDigestQuery(table: Table, parameters: DigestParameters): DigestQuery {
  const segmentRows = parameters.segmentRows ?? String(DIGEST_SEGMENT_ROWS);
  if (!/^[1-9]\d*$/.test(segmentRows) || Number(segmentRows) > MAX_SEGMENT_ROWS) {
    throw new AppError(
      "invalid_request",
      `segment_rows must be a whole number from 1 to ${MAX_SEGMENT_ROWS}: "${segmentRows}"`,
    );
  }
  return {
    after: readKey(table, "after", parameters.after),
    through: readKey(table, "through", parameters.through),
    segmentRows: Number(segmentRows),
    withRecords: parameters.records === "true",
  };
}

function readKey(table: Table, name: string, text: string | null): Row | null {
  if (text === null || text === "") return null;
  const values = parseJsonOr(text, null);
  const key =
    Array.isArray(values) && values.length === table.keyColumns.length
      ? convertPosition(table, keyRow(table, values))
      : null;
  if (key !== null) return key;
  const names = table.keyColumns.map((column) => column.name).join(", ");
  throw new AppError(
    "invalid_request",
    `${name} must be a JSON array of the key columns: ${names}`,
  );
}

/** Names the way rows are written and hashed; ends with different ones cannot compare digests. */
export const DIGEST_FORMAT = "rows-1";

export class DigestSum {
  readonly #table: Table;
  readonly #words = new Uint32Array(HASH_WORDS);
  readonly #sum = new Uint32Array(HASH_WORDS);
  #count = 0;

  constructor(table: Table) {
    this.#table = table;
  }

  add(row: Row): void {
    const sum = this.#sum;
    hashText(rowText(this.#table, row), this.#words);
    for (let i = 0; i < HASH_WORDS; i++) sum[i] = (sum[i] ?? 0) + (this.#words[i] ?? 0);
    this.#count++;
  }

  result(): Pick<DigestSegment, "count" | "digest"> {
    return { count: this.#count, digest: wordsHex(this.#sum) };
  }
}
