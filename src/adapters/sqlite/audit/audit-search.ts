// Looks through the audit log back in time, by the segments in which its records are indexed.
import type { AuditRecord } from "../../../domain/reputation/audit/audit-chain.ts";
import type { AuditNames } from "../../../domain/reputation/audit/audit-item.ts";
import { END_OF_TIME } from "../../../domain/reputation/audit/audit-place.ts";
import type {
  AuditSearch,
  AuditStretch,
  RecordQuery,
  StretchQuery,
} from "../../../ports/lookups/audit-search.ts";
import type { Subjects } from "../accounts/subjects.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteValue } from "../driver/driver.ts";
import { AUDIT_COLUMNS } from "./audit-tables.ts";

const PRUNED = `coalesce((SELECT c.seq FROM repsync_audit_checkpoints c WHERE c.chain_id = x.chain_id), 0)`;
const LAST_BEFORE =
  "SELECT max(p.last_seq) FROM repsync_audit_segments p WHERE p.chain_id = x.chain_id";
/** A segment begins behind the one before it in its chain. */
const SEGMENTS = `SELECT x.chain_id AS chainId,
  max(coalesce((${LAST_BEFORE} AND p.last_seq < x.last_seq), 0), ${PRUNED}) + 1 AS firstSeq,
  x.last_seq AS lastSeq, x.first_at AS firstAt, x.last_at AS lastAt
  FROM repsync_audit_segments x`;
const OVERLAPPING = `${SEGMENTS} WHERE x.first_at <= ?1 AND x.last_at >= ?1 AND x.last_at >= ?2`;
const EARLIER = `${SEGMENTS} WHERE x.last_at < ?1 AND x.last_at >= ?2 ORDER BY x.last_at DESC LIMIT ?3`;
/** Records that are in no segment yet, up to the head as it is now. */
const UNINDEXED = `SELECT chainId, firstSeq, lastSeq, headAt FROM (
  SELECT x.chain_id AS chainId, x.seq AS lastSeq, x.at AS headAt,
  max(coalesce((${LAST_BEFORE}), 0), ${PRUNED}) + 1 AS firstSeq FROM repsync_audit_heads x
) WHERE lastSeq >= firstSeq`;

const FIELDS = AUDIT_COLUMNS.map(([column, field]) => `a.${column} AS "${field}"`).join(", ");
const OF_STRETCH = `SELECT ${FIELDS} FROM repsync_audit a
  WHERE a.chain_id = ? AND a.seq >= ? AND a.seq <= ? AND a.at >= ? AND (a.at, a.chain_id, a.seq) < (?, ?, ?)`;
const NEWEST = "ORDER BY a.at DESC, a.seq DESC LIMIT ?";
const USERNAME = "SELECT username FROM repsync_subjects WHERE id = ?";

export class SqliteAuditSearch implements AuditSearch {
  readonly #database: SqliteDatabase;
  readonly #subjects: Subjects;

  constructor(database: SqliteDatabase, subjects: Subjects) {
    this.#database = database;
    this.#subjects = subjects;
  }

  async stretches({ upTo, from, limit }: StretchQuery): Promise<readonly AuditStretch[]> {
    return await this.#database.read(() => {
      const unindexed = this.#database.all(UNINDEXED).map((row) => tailOf(row as unknown as Tail));
      const indexed = [
        ...this.#database.all(OVERLAPPING, [upTo, from]),
        ...this.#database.all(EARLIER, [upTo, from, limit]),
      ] as unknown as AuditStretch[];
      return [
        ...unindexed.filter((one) => one.firstAt <= upTo && one.lastAt >= from),
        ...indexed,
      ].sort((a, b) => (a.lastAt < b.lastAt ? 1 : a.lastAt > b.lastAt ? -1 : 0));
    });
  }

  async records(
    { chainId, firstSeq, lastSeq }: AuditStretch,
    { before, from, names, limit }: RecordQuery,
  ): Promise<readonly AuditRecord[]> {
    const named = names === null ? { sql: "", values: [] } : namedIn(names);
    const place = [before.at, before.chainId, before.seq];
    const values = [chainId, firstSeq, lastSeq, from, ...place, ...named.values, limit];
    const sql = `${OF_STRETCH} ${named.sql} ${NEWEST}`;
    return await this.#database.read(
      () => this.#database.all(sql, values) as unknown as readonly AuditRecord[],
    );
  }

  async namesOf(username: string): Promise<AuditNames> {
    return await this.#database.read(() => ({
      username,
      accountId: this.#subjects.accountId(username),
      subjectHmacs: this.#subjects.everyHmac(username),
    }));
  }

  async accountNames(accountIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return await this.#database.read(() => {
      const found = [...new Set(accountIds)].flatMap((id) =>
        this.#database.all(USERNAME, [id]).map((row) => [id, String(row["username"])] as const),
      );
      return new Map(found);
    });
  }
}

interface Tail extends Omit<AuditStretch, "firstAt" | "lastAt"> {
  readonly headAt: string;
}

/** The head tells when the last record was made, and others may be later: clocks are set back. */
function tailOf({ headAt, ...places }: Tail): AuditStretch {
  const isOne = places.firstSeq === places.lastSeq;
  return {
    ...places,
    firstAt: isOne ? headAt : "",
    lastAt: isOne ? headAt : END_OF_TIME,
  };
}

/** HMACs of those looked up and of those acted on differ, so a record cannot be taken for one of the other kind. */
function namedIn({ accountId, subjectHmacs }: AuditNames): {
  readonly sql: string;
  readonly values: readonly SqliteValue[];
} {
  const marks = subjectHmacs.map(() => "?").join(", ");
  return {
    sql: `AND (a.account_id = ? OR a.subject_hmac IN (${marks}))`,
    values: [accountId, ...subjectHmacs],
  };
}
