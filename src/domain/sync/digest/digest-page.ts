// Digests of a table by ranges of its key, as two deployments of this service exchange them. D-4.10.
import type { UpsertKey } from "../rows/row-key.ts";
import type { Row } from "../table/table.ts";

/** Which rows a digest is of. */
export interface DigestQuery {
  /** Only rows behind this key; null from the first on. */
  readonly after: UpsertKey | null;
  /** Only rows up to this key; null to the last. */
  readonly through: UpsertKey | null;
  /** Rows of one segment, 1 or more. */
  readonly segmentRows: number;
  /** True for the rows themselves, in place of short segments. */
  readonly withRecords: boolean;
}

/** The rows behind the segment before it, or behind the query's `after`, up to a key. */
export interface DigestSegment {
  /** Null in the last segment of a query without `through`. */
  readonly through: UpsertKey | null;
  readonly count: number;
  /** As `RowsDigest` has it. */
  readonly digest: string;
}

/** The reply, in its field order. */
export interface DigestPage {
  readonly table: string;
  /** `DIGEST_FORMAT` of the sender. */
  readonly format: string;
  /** Names of the columns that were read, sorted. */
  readonly columns: readonly string[];
  /** In the order of the key. The last one reaches the query's `through` unless there is more. */
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
  /** `true` for the rows themselves. */
  readonly records: string | null;
}

/** The parameters that say the same. */
export function digestParameters(query: DigestQuery): DigestParameters {
  const text = (key: UpsertKey | null) => (key === null ? null : JSON.stringify(key));
  return {
    after: text(query.after),
    through: text(query.through),
    segmentRows: String(query.segmentRows),
    records: query.withRecords ? "true" : null,
  };
}
