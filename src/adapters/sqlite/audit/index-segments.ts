// Finds a person's audit records. An index over all records would be changed in another place by every lookup, at four
// times the price of the record itself. So records are listed by person in parts of some thousands, each written once
// and in order, and those behind the last part are looked through as they are.
import { accessPlace, newestAccessFirst } from "../../../domain/reputation/audit/access-item.ts";
import type { AuditRecord } from "../../../domain/reputation/audit/audit-chain.ts";
import type { AccessPage, AccessPosition } from "../../../ports/lookups/audit-log.ts";
import type { SqliteDatabase } from "../driver/database.ts";
import type { SqliteRow } from "../driver/driver.ts";
import { AUDIT_COLUMNS } from "./audit-tables.ts";

/** Tables of the parts. Whatever they say is checked against the records: they are no part of the log. */
export const AUDIT_PART_TABLES = [
  `CREATE TABLE IF NOT EXISTS repsync_audit_segments (
    part INTEGER PRIMARY KEY, chain_id TEXT NOT NULL, last_seq INTEGER NOT NULL,
    first_at TEXT NOT NULL, last_at TEXT NOT NULL, UNIQUE (chain_id, last_seq)
  )`,
  "CREATE INDEX IF NOT EXISTS repsync_audit_segments_at ON repsync_audit_segments (last_at)",
  `CREATE TABLE IF NOT EXISTS repsync_audit_segment_records (
    part INTEGER, subject TEXT, seq INTEGER, PRIMARY KEY (part, subject, seq)
  ) WITHOUT ROWID`,
];

/** Records of a part: every part costs whoever looks for a person a few microseconds. */
const PART_RECORDS = 4_096;
/** Records that are listed at once, which takes a millisecond or two; the lookups of that moment wait for it. */
export const AUDIT_SLICE_RECORDS = 1_024;
/** Digits of a person's HMAC that a place is found by; the record has all of them. */
const SUBJECT_DIGITS = 16;

/** Pruned records count as listed. */
const LAST_LISTED = `SELECT max(
  coalesce((SELECT max(last_seq) FROM repsync_audit_segments WHERE chain_id = ?1), 0),
  coalesce((SELECT seq FROM repsync_audit_checkpoints WHERE chain_id = ?1), 0)) AS seq`;
const NEXT_SLICE = `SELECT count(*) AS records, max(seq) AS last_seq, min(at) AS first_at,
  max(at) AS last_at FROM (SELECT seq, at FROM repsync_audit
  WHERE chain_id = ? AND seq > ? ORDER BY seq LIMIT ${AUDIT_SLICE_RECORDS})`;
const ADD_PART = `INSERT INTO repsync_audit_segments (chain_id, last_seq, first_at, last_at)
  VALUES (?, ?, ?, ?) RETURNING part`;
const GROW_PART = `UPDATE repsync_audit_segments SET last_seq = ?, first_at = min(first_at, ?),
  last_at = max(last_at, ?) WHERE chain_id = ? AND last_seq = ? RETURNING part`;
const ADD_PLACES = `INSERT INTO repsync_audit_segment_records (part, subject, seq)
  SELECT ?, substr(subject_hmac, 1, ${SUBJECT_DIGITS}), seq FROM repsync_audit
  WHERE chain_id = ? AND seq > ? AND seq <= ? ORDER BY 2, 3`;
const DROP_PLACES = `DELETE FROM repsync_audit_segment_records WHERE part IN
  (SELECT part FROM repsync_audit_segments WHERE chain_id = ?1 AND last_seq <= ?2)`;
/** Of the part that the last pruned record stands in. */
const CUT_PLACES = `DELETE FROM repsync_audit_segment_records WHERE seq <= ?2 AND part = (SELECT part
  FROM repsync_audit_segments WHERE chain_id = ?1 AND last_seq > ?2 ORDER BY last_seq LIMIT 1)`;
const DROP_PARTS = "DELETE FROM repsync_audit_segments WHERE chain_id = ?1 AND last_seq <= ?2";

const CHAINS = "SELECT chain_id FROM repsync_audit_heads";
const PARTS = `SELECT part, chain_id, last_at FROM repsync_audit_segments WHERE first_at <= ?
  ORDER BY last_at DESC`;
const FIELDS = AUDIT_COLUMNS.map(([column, field]) => `a.${column} AS "${field}"`).join(", ");
const FOUND = `SELECT ${FIELDS}, s.username AS "accountName"`;
const CALLER = "LEFT JOIN repsync_subjects s ON s.id = a.account_id";
const OF_PERSON = `a.subject_hmac = ? AND (a.at, a.chain_id, a.seq) < (?, ?, ?)
  ORDER BY a.at DESC, a.seq DESC LIMIT ?`;
const IN_PART = `${FOUND} FROM repsync_audit_segment_records p
  CROSS JOIN repsync_audit a ON a.chain_id = ? AND a.seq = p.seq ${CALLER}
  WHERE p.part = ? AND p.subject = ? AND ${OF_PERSON}`;
const BEHIND_PARTS = `${FOUND} FROM repsync_audit a ${CALLER}
  WHERE a.chain_id = ? AND a.seq > ? AND ${OF_PERSON}`;
/** Comes after every position. */
const END: AccessPosition = { at: "~", id: "~-0" };

/** A record about a person, and who made it happen. */
export type AccessRecord = AuditRecord & {
  /** Null when that account is gone. */
  readonly accountName: string | null;
};

/**
 * Lists the records of a chain that are in no part yet, within a write. What makes no whole slice waits unless the chain
 * has ended.
 */
export function listAuditRecords(
  database: SqliteDatabase,
  { chainId, hasEnded }: { readonly chainId: string; readonly hasEnded: boolean },
): void {
  for (;;) {
    const afterSeq = lastListed(database, chainId);
    const [next] = database.all(NEXT_SLICE, [chainId, afterSeq]);
    const records = Number(next?.["records"]);
    if (next === undefined || records === 0) return;
    if (records < AUDIT_SLICE_RECORDS && !hasEnded) return;
    const { last_seq: lastSeq = 0, first_at: firstAt = "", last_at: lastAt = "" } = next;
    const [grown] =
      partOf(afterSeq) === partOf(Number(lastSeq))
        ? database.all(GROW_PART, [lastSeq, firstAt, lastAt, chainId, afterSeq])
        : [];
    const [part] = grown ? [grown] : database.all(ADD_PART, [chainId, lastSeq, firstAt, lastAt]);
    database.run(ADD_PLACES, [Number(part?.["part"]), chainId, afterSeq, lastSeq]);
  }
}

/** Forgets the parts of records that were pruned, within a write. */
export function dropSegments(
  database: SqliteDatabase,
  pruned: { readonly chainId: string; readonly throughSeq: number },
): void {
  for (const sql of [DROP_PLACES, CUT_PLACES, DROP_PARTS]) {
    database.run(sql, [pruned.chainId, pruned.throughSeq]);
  }
}

/** Records about a person within a read, as `AuditLog.accesses` orders and limits them. */
export function readAccessRecords(
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
    found = [...found, ...records].sort(newestAccessFirst).slice(0, page.limit);
  };
  for (const { chain_id: chainId } of database.all(CHAINS)) {
    const listed = lastListed(database, String(chainId));
    add(database.all(BEHIND_PARTS, [chainId as string, listed, ...person]));
  }
  const subject = subjectHmac.slice(0, SUBJECT_DIGITS);
  for (const part of database.all(PARTS, [at])) {
    const last = found.length < page.limit ? undefined : found.at(-1);
    if (last !== undefined && last.at > String(part["last_at"])) break;
    const place = [part["chain_id"] as string, part["part"] as number, subject];
    add(database.all(IN_PART, [...place, ...person]));
  }
  return found;
}

/** Which part a record belongs to, by its place; a slice goes where its last record does. */
function partOf(seq: number): number {
  return Math.floor((seq - 1) / PART_RECORDS);
}

function lastListed(database: SqliteDatabase, chainId: string): number {
  return Number(database.all(LAST_LISTED, [chainId])[0]?.["seq"]);
}
