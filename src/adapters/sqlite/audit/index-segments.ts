// Finds a person's audit records. An index over all records would be changed in another place by every lookup, at four
// times the price of the record itself. So records are indexed by person in segments of some thousands, each
// written once and in order; those behind the last segment are searched as they are.
import { accessPlace } from "../../../domain/reputation/audit/access-item.ts";
import type { AuditRecord } from "../../../domain/reputation/audit/audit-chain.ts";
import { newestFirst } from "../../../domain/reputation/audit/audit-place.ts";
import type { AccessPage, AccessPosition } from "../../../ports/lookups/audit-log.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteRow } from "../driver/driver.ts";
import { AUDIT_COLUMNS } from "./audit-tables.ts";

/** Read results are checked against the records: segments are not verified with the log. */
export const INDEX_SEGMENT_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_audit_segments (
    segment INTEGER PRIMARY KEY, chain_id TEXT NOT NULL, last_seq INTEGER NOT NULL,
    first_at TEXT NOT NULL, last_at TEXT NOT NULL, UNIQUE (chain_id, last_seq)
  )`,
  "CREATE INDEX IF NOT EXISTS repsync_audit_segments_at ON repsync_audit_segments (last_at)",
  `CREATE TABLE IF NOT EXISTS repsync_audit_segment_records (
    segment INTEGER, subject TEXT, seq INTEGER, PRIMARY KEY (segment, subject, seq)
  ) WITHOUT ROWID`,
];

/** Records of a segment: each segment costs a search for a person a few microseconds. */
const SEGMENT_RECORDS = 4_096;
/** Records indexed at once: a millisecond or two, for which lookups wait. */
export const SLICE_RECORDS = 1_024;
/** Digits of a person's HMAC in the index; the record has all of them. */
const SUBJECT_DIGITS = 16;

/** Pruned records count as indexed. */
const LAST_INDEXED = `SELECT max(
  coalesce((SELECT max(last_seq) FROM repsync_audit_segments WHERE chain_id = ?1), 0),
  coalesce((SELECT seq FROM repsync_audit_checkpoints WHERE chain_id = ?1), 0)) AS seq`;
const NEXT_SLICE = `SELECT count(*) AS records, max(seq) AS last_seq, min(at) AS first_at,
  max(at) AS last_at FROM (SELECT seq, at FROM repsync_audit
  WHERE chain_id = ? AND seq > ? ORDER BY seq LIMIT ${SLICE_RECORDS})`;
const ADD_SEGMENT = `INSERT INTO repsync_audit_segments (chain_id, last_seq, first_at, last_at)
  VALUES (?, ?, ?, ?) RETURNING segment`;
const GROW_SEGMENT = `UPDATE repsync_audit_segments SET last_seq = ?, first_at = min(first_at, ?),
  last_at = max(last_at, ?) WHERE chain_id = ? AND last_seq = ? RETURNING segment`;
const ADD_RECORDS = `INSERT INTO repsync_audit_segment_records (segment, subject, seq)
  SELECT ?, substr(subject_hmac, 1, ${SUBJECT_DIGITS}), seq FROM repsync_audit
  WHERE chain_id = ? AND seq > ? AND seq <= ? ORDER BY 2, 3`;
const DROP_RECORDS = `DELETE FROM repsync_audit_segment_records WHERE segment IN
  (SELECT segment FROM repsync_audit_segments WHERE chain_id = ?1 AND last_seq <= ?2)`;
/** From the segment that the last pruned record is in. */
const CUT_RECORDS = `DELETE FROM repsync_audit_segment_records WHERE seq <= ?2 AND segment = (SELECT segment
  FROM repsync_audit_segments WHERE chain_id = ?1 AND last_seq > ?2 ORDER BY last_seq LIMIT 1)`;
const DROP_WHOLE = "DELETE FROM repsync_audit_segments WHERE chain_id = ?1 AND last_seq <= ?2";

const CHAINS = "SELECT chain_id FROM repsync_audit_heads";
const SEGMENTS = `SELECT segment, chain_id, last_at FROM repsync_audit_segments WHERE first_at <= ?
  ORDER BY last_at DESC`;
const FIELDS = AUDIT_COLUMNS.map(([column, field]) => `a.${column} AS "${field}"`).join(", ");
const FOUND = `SELECT ${FIELDS}, s.username AS "accountName"`;
const CALLER = "LEFT JOIN repsync_subjects s ON s.id = a.account_id";
const OF_PERSON = `a.subject_hmac = ? AND (a.at, a.chain_id, a.seq) < (?, ?, ?)
  ORDER BY a.at DESC, a.seq DESC LIMIT ?`;
const IN_SEGMENT = `${FOUND} FROM repsync_audit_segment_records p
  CROSS JOIN repsync_audit a ON a.chain_id = ? AND a.seq = p.seq ${CALLER}
  WHERE p.segment = ? AND p.subject = ? AND ${OF_PERSON}`;
const UNINDEXED = `${FOUND} FROM repsync_audit a ${CALLER}
  WHERE a.chain_id = ? AND a.seq > ? AND ${OF_PERSON}`;
/** Comes after every position. */
const END: AccessPosition = { at: "~", id: "~-0" };

/** A record about a person, and who made it happen. */
type AccessRecord = AuditRecord & {
  /** Null when that account is gone. */
  readonly accountName: string | null;
};

/**
 * Indexes the records of a chain that are in no segment yet, within a write. Less than a slice waits unless the chain has
 * ended.
 */
export function indexRecords(database: SqliteDatabase, chainId: string, hasEnded: boolean): void {
  for (;;) {
    const afterSeq = lastIndexed(database, chainId);
    const [next] = database.all(NEXT_SLICE, [chainId, afterSeq]);
    const records = Number(next?.["records"]);
    if (next === undefined || records === 0) return;
    if (records < SLICE_RECORDS && !hasEnded) return;
    const { last_seq: lastSeq = 0, first_at: firstAt = "", last_at: lastAt = "" } = next;
    const [grown] =
      segmentOf(afterSeq) === segmentOf(Number(lastSeq))
        ? database.all(GROW_SEGMENT, [lastSeq, firstAt, lastAt, chainId, afterSeq])
        : [];
    const [segment] = grown
      ? [grown]
      : database.all(ADD_SEGMENT, [chainId, lastSeq, firstAt, lastAt]);
    database.run(ADD_RECORDS, [Number(segment?.["segment"]), chainId, afterSeq, lastSeq]);
  }
}

/** Drops the segments of pruned records, within a write. */
export function dropSegments(database: SqliteDatabase, chainId: string, throughSeq: number): void {
  for (const sql of [DROP_RECORDS, CUT_RECORDS, DROP_WHOLE]) {
    database.run(sql, [chainId, throughSeq]);
  }
}

/** Records about a person within a read, as `AuditLog.accessLog` orders and limits them. */
export function readAccessLog(
  database: SqliteDatabase,
  subjectHmac: string,
  page: AccessPage,
): readonly AccessRecord[] {
  const { at, chainId, seq } = accessPlace(page.before ?? END);
  const person = [subjectHmac, at, chainId, seq, page.limit];
  let found: readonly AccessRecord[] = [];
  const add = (rows: readonly SqliteRow[]) => {
    if (rows.length === 0) return;
    const records = rows as unknown as readonly AccessRecord[];
    found = [...found, ...records].sort(newestFirst).slice(0, page.limit);
  };
  for (const { chain_id: chainId } of database.all(CHAINS)) {
    const indexed = lastIndexed(database, String(chainId));
    add(database.all(UNINDEXED, [chainId as string, indexed, ...person]));
  }
  const subject = subjectHmac.slice(0, SUBJECT_DIGITS);
  for (const segment of database.all(SEGMENTS, [at])) {
    const last = found.length < page.limit ? undefined : found.at(-1);
    if (last !== undefined && last.at > String(segment["last_at"])) break;
    const place = [segment["chain_id"] as string, segment["segment"] as number, subject];
    add(database.all(IN_SEGMENT, [...place, ...person]));
  }
  return found;
}

/** The number within its chain of the segment that a record belongs to; a slice goes where its last record does. */
function segmentOf(seq: number): number {
  return Math.floor((seq - 1) / SEGMENT_RECORDS);
}

function lastIndexed(database: SqliteDatabase, chainId: string): number {
  return Number(database.all(LAST_INDEXED, [chainId])[0]?.["seq"]);
}
