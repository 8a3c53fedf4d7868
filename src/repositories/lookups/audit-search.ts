import type { AuditRecord } from "../../domain/reputation/audit/audit-chain.ts";
import type { StoredRecord } from "../../domain/reputation/audit/audit-check.ts";
import {
  type AuditNames,
  type AuditPlace,
  END_OF_TIME,
  newestFirst,
} from "../../domain/reputation/audit/audit-item.ts";
import { INDEX_SHAPE } from "../../domain/reputation/audit/name-filter.ts";
import { keysOf } from "../../domain/shared/document-key.ts";
import { LAST_TIME_MS } from "../../domain/shared/time.ts";
import type { DocumentStore, Reader, Stretch } from "../../ports/documents.ts";
import { SUBJECTS, type SubjectDocument } from "../account-collections.ts";
import {
  AUDIT,
  type AuditStretch,
  type CheckpointDocument,
  type HeadDocument,
  LOOKUP_LOG,
  SEGMENTS,
  type SegmentDocument,
  type TailDocument,
} from "../lookup-collections.ts";
import { Repository } from "../repository.ts";
import { blockKey, recordsOf } from "./audit-blocks.ts";
import type { Subjects } from "./audit-chains.ts";
import { SegmentGroups } from "./segment-groups.ts";
import { MAX_SEGMENT_SPAN_MS } from "./segment-writer.ts";

interface StretchQuery {
  /** Only those that may have records up to this time; `END_OF_TIME` for all. */
  readonly upTo: string;
  /** Only those that may have records from this time on; `""` for all. */
  readonly from: string;
  /** Only those that may name the account or person; null for all. */
  readonly names: AuditNames | null;
  /** The most segments that end before `upTo`, 1 or more; all others come. */
  readonly limit: number;
}

export interface AuditQuery {
  /** Only records before it in the order of the log. */
  readonly before: AuditPlace;
  /** Only records from this time on; `""` for all. */
  readonly from: string;
  /** Only records of the account or about the person; null for all. */
  readonly names: AuditNames | null;
  /** 1 or more. */
  readonly limit: number;
}

/** Segments that are read by their numbers, more than any page needs; where there are more they are looked for by time. */
const MOST_BY_NUMBER = 1_000;
const SEGMENTS_AT_ONCE = 256;

/**
 * Looks through the audit log back in time, for administrators and for the people in it. Stretches come from an index that is not
 * verified with the log. A search holds up lookups for some milliseconds at most.
 */
export class AuditSearch extends Repository {
  readonly #subjects: Subjects;
  readonly #groups: SegmentGroups;

  constructor(documents: DocumentStore, subjects: Subjects, shape = INDEX_SHAPE) {
    super(documents);
    this.#subjects = subjects;
    this.#groups = new SegmentGroups(documents, shape);
  }

  /** The latest `lastAt` first. Each record asked for is in exactly one; stretches stay as they are while the log grows. */
  async stretches(query: StretchQuery): Promise<readonly AuditStretch[]> {
    const { upTo, from, limit } = query;
    return await this.reading("audit.search", async (at) => {
      const tails = await findTails(at);
      const segments = await this.#findSegments(at, query);
      const inTime = segments.filter(({ firstAt, lastAt }) => firstAt <= upTo && lastAt >= from);
      const ended = inTime.filter(({ lastAt }) => lastAt < upTo).sort(latestFirst);
      return [
        ...tails.filter(({ firstAt, lastAt }) => firstAt <= upTo && lastAt >= from),
        ...inTime.filter(({ lastAt }) => lastAt >= upTo),
        ...ended.slice(0, limit),
      ].sort(latestFirst);
    });
  }

  /** Records of a stretch, newest first by time, then by place; damaged ones without a place are left out. */
  async records(
    { chainId, firstSeq, lastSeq }: AuditStretch,
    { before, from, names, limit }: AuditQuery,
  ): Promise<readonly AuditRecord[]> {
    const stretch = {
      within: [["block", chainId]],
      after: blockKey(chainId, firstSeq - 1),
      upTo: blockKey(chainId, lastSeq),
    };
    const [blocks] = await this.ask("audit.search", { from: LOOKUP_LOG, stretch });
    return blocks
      .flatMap((block) => recordsOf(block))
      .filter(hasPlace)
      .filter((record) => names === null || isNamed(record, names))
      .filter((record) => record.at >= from && record.seq <= lastSeq)
      .filter((record) => newestFirst(before, record) < 0)
      .sort(newestFirst)
      .slice(0, limit);
  }

  /** The names that the log has in place of a username, whoever had it. */
  async namesOf(username: string): Promise<AuditNames> {
    const subject = await this.#subjectOf(username);
    const subjectHmacs = this.#subjects.everyHmac(username, subject);
    return { username, accountId: subject?.id ?? null, subjectHmacs };
  }

  /** As `namesOf`, of a person only as one who was looked up. */
  async namesOfLookedUp(username: string): Promise<AuditNames> {
    const subject = await this.#subjectOf(username);
    // Until somebody has an account, lookups of their hidden profile record the HMAC of an absent name. D-8.5.
    const own = subject === undefined ? [] : [this.#subjects.hmacOf(subject)];
    const subjectHmacs = [...own, this.#subjects.hmacOfAbsent(username)];
    return { username, accountId: null, subjectHmacs };
  }

  /** Usernames by the ids of accounts; without accounts that are gone. */
  async accountNames(accountIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const within = [...new Set(accountIds)].filter((id) => id !== "").map((id) => [id]);
    if (within.length === 0) return new Map();
    const stretch = { index: "id", within, limit: within.length };
    const [found] = await this.ask("audit.search", { from: SUBJECTS, stretch });
    return new Map(found.map(({ id, username }) => [id, username]));
  }

  async #findSegments(at: Reader, query: StretchQuery): Promise<readonly SegmentDocument[]> {
    const { names, upTo, from, limit } = query;
    if (names === null) return await segmentsByTime(at, query, () => true);
    const texts = [...names.subjectHmacs, ...(names.accountId === null ? [] : [names.accountId])];
    const numbers = await this.#groups.findNaming(at, texts);
    if (numbers.size > MOST_BY_NUMBER) {
      return await segmentsByTime(at, { upTo, from, limit }, ({ number }) => numbers.has(number));
    }
    const keys = Array.from(numbers, (number) => [number]);
    const [found] = await at.read({ from: SEGMENTS, keys });
    return found;
  }

  async #subjectOf(username: string): Promise<SubjectDocument | undefined> {
    const keys = keysOf(username);
    const [[subject]] = await this.ask("audit.search", { from: SUBJECTS, keys });
    return subject;
  }
}

/** Segments by their ends, the latest first, until enough end before `upTo`. */
async function segmentsByTime(
  at: Reader,
  { upTo, from, limit }: Omit<StretchQuery, "names">,
  isWanted: (segment: SegmentDocument) => boolean,
): Promise<readonly SegmentDocument[]> {
  const found: SegmentDocument[] = [];
  let ended = 0;
  const end = from === "" ? {} : { upTo: [from] };
  for (let after: Partial<Stretch> = startOf(upTo); ; ) {
    const stretch = { index: "time", isReverse: true, limit: SEGMENTS_AT_ONCE, ...end, ...after };
    const [part] = await at.read({ from: SEGMENTS, stretch });
    for (const segment of part) {
      if (!isWanted(segment)) continue;
      found.push(segment);
      if (segment.lastAt < upTo) ended++;
    }
    const last = part.at(-1);
    if (last === undefined || part.length < SEGMENTS_AT_ONCE || ended >= limit) return found;
    after = { after: [last.lastAt, last.number] };
  }
}

/** No segment that begins before a time ends later than this. */
function startOf(upTo: string): Partial<Stretch> {
  const latestMs = Date.parse(upTo) + MAX_SEGMENT_SPAN_MS;
  // The text of a later time comes out of order.
  if (!(latestMs <= LAST_TIME_MS)) return {};
  return { after: [new Date(latestMs).toISOString(), Number.MAX_SAFE_INTEGER] };
}

/** The records that no segment has yet, of chains that go on or have ended lately. */
async function findTails(at: Reader): Promise<readonly AuditStretch[]> {
  const [found] = await at.read({ from: LOOKUP_LOG, stretch: { within: [["tail"]] } });
  const tails = found as readonly TailDocument[];
  const [heads, checkpoints] = await at.read(
    { from: LOOKUP_LOG, keys: tails.map(({ chainId }) => ["head", chainId]) },
    { from: AUDIT, keys: tails.map(({ chainId }) => ["checkpoint", chainId]) },
  );
  const pruned = new Map(
    (checkpoints as readonly CheckpointDocument[]).map(({ chainId, seq }) => [chainId, seq]),
  );
  const indexed = new Map(tails.map(({ chainId, indexedSeq }) => [chainId, indexedSeq]));
  return (heads as readonly HeadDocument[]).flatMap(({ chainId, seq, at: headAt }) => {
    const firstSeq = Math.max(indexed.get(chainId) ?? 0, pruned.get(chainId) ?? 0) + 1;
    if (seq < firstSeq) return [];
    // The head tells the time of the last record, and others may be later: clocks are set back.
    const times =
      seq === firstSeq ? { firstAt: headAt, lastAt: headAt } : { firstAt: "", lastAt: END_OF_TIME };
    return [{ chainId, firstSeq, lastSeq: seq, ...times }];
  });
}

function latestFirst(a: AuditStretch, b: AuditStretch): number {
  return a.lastAt < b.lastAt ? 1 : a.lastAt > b.lastAt ? -1 : 0;
}

/** HMACs of those looked up and of those acted on differ, so a record cannot be taken for one of the other kind. */
function isNamed(record: AuditRecord, { accountId, subjectHmacs }: AuditNames): boolean {
  return subjectHmacs.includes(record.subjectHmac) || record.accountId === accountId;
}

/** True for a record that can be put in order, damaged or not. */
function hasPlace(record: StoredRecord): record is AuditRecord {
  const { at, chainId, seq } = record;
  return typeof at === "string" && typeof chainId === "string" && Number.isSafeInteger(seq);
}
