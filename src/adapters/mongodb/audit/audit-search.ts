// Looks through the audit log back in time, by the segments in which its blocks are indexed.
import type { ClientSession, Document, Filter } from "mongodb";
import type { AuditRecord } from "../../../domain/reputation/audit/audit-chain.ts";
import type { StoredRecord } from "../../../domain/reputation/audit/audit-check.ts";
import type { AuditNames } from "../../../domain/reputation/audit/audit-item.ts";
import { END_OF_TIME, newestFirst } from "../../../domain/reputation/audit/audit-place.ts";
import type {
  AuditSearch,
  AuditStretch,
  RecordQuery,
  StretchQuery,
} from "../../../ports/lookups/audit-search.ts";
import type { Subjects } from "../accounts/subjects.ts";
import { readSnapshot, SNAPSHOT, type StoreDeps } from "../driver/operations.ts";
import { type AuditBlock, auditBlocks, blockId, readBlockId, recordsOf } from "./audit-blocks.ts";
import { findUnindexed, type IndexSegment, indexSegments } from "./index-segments.ts";

interface AuditSearchDeps extends StoreDeps {
  readonly subjects: Subjects;
}

export class MongoAuditSearch implements AuditSearch {
  readonly #deps: AuditSearchDeps;

  constructor(deps: AuditSearchDeps) {
    this.#deps = deps;
  }

  async stretches({ upTo, from, limit }: StretchQuery): Promise<readonly AuditStretch[]> {
    const { db } = this.#deps;
    return await readSnapshot(this.#deps, async (tx) => {
      const options = { ...SNAPSHOT, session: tx, projection: { filter: 0 } };
      const segments = indexSegments(db);
      const unindexed = await findUnindexed(db, { ...SNAPSHOT, session: tx });
      const reaching = { firstAt: { $lte: upTo }, lastAt: { $gte: from > upTo ? from : upTo } };
      const overlapping = await segments.find(reaching, options).toArray();
      const ended = { lastAt: { $lt: upTo, $gte: from } };
      const sorted = { ...options, sort: { lastAt: -1 }, limit } as const;
      const earlier = await segments.find(ended, sorted).toArray();
      const tails = unindexed.map(tailOf);
      return [
        ...tails.filter(({ firstAt, lastAt }) => firstAt <= upTo && lastAt >= from),
        ...[...overlapping, ...earlier].map(stretchOf),
      ].sort((a, b) => (a.lastAt < b.lastAt ? 1 : a.lastAt > b.lastAt ? -1 : 0));
    });
  }

  async records(
    { chainId, firstSeq, lastSeq }: AuditStretch,
    { before, from, names, limit }: RecordQuery,
  ): Promise<readonly AuditRecord[]> {
    const filter: Filter<AuditBlock> = {
      _id: { $gte: blockId(chainId, firstSeq), $lte: blockId(chainId, lastSeq) },
      at: { $gte: from, $lte: before.at },
      ...(names === null ? {} : namedInBlock(names)),
    };
    const projection = names === null ? {} : { projection: onlyNamed(names) };
    const blocks = await readSnapshot(this.#deps, (tx) =>
      auditBlocks(this.#deps.db)
        .find(filter, { ...asStored(tx), ...projection })
        .toArray(),
    );
    const records = blocks.flatMap(recordsOf).filter(hasPlace);
    return records
      .filter((record) => newestFirst(before, record) < 0 && record.seq <= lastSeq)
      .sort(newestFirst)
      .slice(0, limit);
  }

  async namesOf(username: string): Promise<AuditNames> {
    const { subjects } = this.#deps;
    return await readSnapshot(this.#deps, async (tx) => {
      const subject = await subjects.find(username, tx, SNAPSHOT);
      const subjectHmacs = subjects.everyHmac(username, subject);
      return { username, accountId: subject?.id ?? null, subjectHmacs };
    });
  }

  async accountNames(accountIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (accountIds.length === 0) return new Map();
    const { subjects } = this.#deps;
    return await readSnapshot(this.#deps, (tx) => subjects.namesOf(accountIds, tx, SNAPSHOT));
  }
}

function asStored(tx: ClientSession) {
  // Text of a damaged record need not be UTF-8.
  return { ...SNAPSHOT, session: tx, enableUtf8Validation: false };
}

function stretchOf(segment: Omit<IndexSegment, "filter">): AuditStretch {
  const { _id, chainId, lastSeq, firstAt, lastAt } = segment;
  return { chainId, firstSeq: readBlockId(_id)?.firstSeq ?? 0, lastSeq, firstAt, lastAt };
}

function tailOf(unindexed: Awaited<ReturnType<typeof findUnindexed>>[number]): AuditStretch {
  const { chainId, afterSeq, throughSeq, at } = unindexed;
  const isOne = throughSeq === afterSeq + 1;
  return {
    chainId,
    firstSeq: afterSeq + 1,
    lastSeq: throughSeq,
    firstAt: isOne ? at : "",
    lastAt: isOne ? at : END_OF_TIME,
  };
}

/** HMACs of those looked up and of those acted on differ, so a record cannot be taken for one of the other kind. */
function namedInBlock({ accountId, subjectHmacs }: AuditNames): Filter<AuditBlock> {
  const isAbout = { "records.subjectHmac": { $in: subjectHmacs } };
  return { $or: [isAbout, ...(accountId === null ? [] : [{ "records.accountId": accountId }])] };
}

/** Of a block's records those that name somebody; a damaged block has none. */
function onlyNamed({ accountId, subjectHmacs }: AuditNames): Document {
  const input = { $cond: [{ $isArray: "$records" }, "$records", []] };
  const isAbout = { $in: ["$$this.subjectHmac", subjectHmacs] };
  const cond = { $or: [isAbout, { $eq: ["$$this.accountId", accountId] }] };
  return { at: 1, version: 1, records: { $filter: { input, cond } } };
}

/** True for a record that can be put in order, damaged or not. */
function hasPlace(record: StoredRecord): record is AuditRecord {
  const { at, chainId, seq } = record;
  return typeof at === "string" && typeof chainId === "string" && Number.isSafeInteger(seq);
}
