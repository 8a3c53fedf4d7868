// Finds a person's audit records: in the index segments that may name them, and behind all segments.
import type { ClientSession, Db, Document, Filter } from "mongodb";
import { accessPlace } from "../../../domain/reputation/audit/access-item.ts";
import type { AuditRecord } from "../../../domain/reputation/audit/audit-chain.ts";
import { newestFirst } from "../../../domain/reputation/audit/audit-place.ts";
import type { AccessPosition } from "../../../ports/lookups/audit-log.ts";
import { SNAPSHOT } from "../driver/operations.ts";
import { type AuditBlock, auditBlocks, blockId, idsOfChain, recordsOf } from "./audit-blocks.ts";
import { filterBits, findUnindexed, type IndexSegment, indexSegments } from "./index-segments.ts";

interface AccessLogQuery {
  /** HMACs that stand for the person. */
  readonly subjectHmacs: readonly string[];
  readonly limit: number;
  readonly before: AccessPosition | null;
}

/** Segments that are looked through at once. */
const SEGMENTS_AT_ONCE = 4;

/** Records about a person in the snapshot of `tx`, as `AuditLog.accessLog` orders and limits them. */
export async function readAccessLog(
  db: Db,
  wanted: AccessLogQuery,
  tx: ClientSession,
): Promise<readonly AuditRecord[]> {
  const { subjectHmacs, limit, before } = wanted;
  const isAbout = { $in: subjectHmacs };
  const end = before === null ? null : accessPlace(before);
  const options = { ...SNAPSHOT, session: tx };
  let found: readonly AuditRecord[] = [];
  const lookThrough = async (ranges: readonly Filter<AuditBlock>[]) => {
    if (ranges.length === 0) return;
    const filter = { $or: [...ranges], "records.subjectHmac": isAbout, ...notAfter(before) };
    const projection = { at: 1, version: 1, records: namesOnly(subjectHmacs) };
    const blocks = await auditBlocks(db)
      .find(filter, { ...options, projection })
      .toArray();
    const records = blocks.flatMap(recordsOf) as unknown as AuditRecord[];
    const older = records.filter((record) => end === null || newestFirst(end, record) < 0);
    found = [...found, ...older].sort(newestFirst).slice(0, limit);
  };

  const unindexed = await findUnindexed(db, options);
  await lookThrough(unindexed.map(({ chainId, afterSeq }) => behind(chainId, afterSeq)));
  const mayName = {
    $or: subjectHmacs.map((hmac) => ({ filter: { $bitsAllSet: filterBits(hmac) } })),
    ...(before === null ? {} : { firstAt: { $lte: before.at } }),
  };
  const segments = indexSegments(db).find(mayName, {
    ...options,
    sort: { lastAt: -1 },
    projection: { filter: 0 },
    batchSize: SEGMENTS_AT_ONCE,
  });
  for await (const next of inGroups(segments)) {
    const last = found.length < limit ? undefined : found.at(-1);
    if (last !== undefined && last.at > (next[0]?.lastAt ?? "")) break;
    await lookThrough(next.map(within));
  }
  return found;
}

async function* inGroups(
  segments: AsyncIterable<IndexSegment>,
): AsyncGenerator<readonly IndexSegment[]> {
  let group: IndexSegment[] = [];
  for await (const segment of segments) {
    group.push(segment);
    if (group.length < SEGMENTS_AT_ONCE) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

function behind(chainId: string, afterSeq: number): Filter<AuditBlock> {
  return { _id: { $gt: blockId(chainId, afterSeq), $lt: idsOfChain(chainId).$lt } };
}

function within({ _id, chainId, lastSeq }: IndexSegment): Filter<AuditBlock> {
  return { _id: { $gte: _id, $lte: blockId(chainId, lastSeq) } };
}

/** Of a block's records those that name a person; a damaged block has none. */
function namesOnly(subjectHmacs: readonly string[]): Document {
  const input = { $cond: [{ $isArray: "$records" }, "$records", []] };
  return { $filter: { input, cond: { $in: ["$$this.subjectHmac", subjectHmacs] } } };
}

/** A condition for blocks that may have records before a position. */
function notAfter(position: AccessPosition | null) {
  return position === null ? {} : { at: { $lte: position.at } };
}
