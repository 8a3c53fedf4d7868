// Which people are named in which segment of the audit log. An index over all records would be changed in another place by
// every lookup, which cost a fifth of all that lookups do; so each segment of some hundred records has a Bloom filter of the
// people in it, made in the background. Readers check it against the records: segments are not verified with the log.
import { type AggregateOptions, Binary, type Collection, type Db } from "mongodb";
import type { ChainTip } from "../../../domain/reputation/audit/audit-chain.ts";
import { type InternalCollection, insertNew } from "../driver/collections.ts";
import { HEADS, nameInLog } from "../driver/lookup-log.ts";
import { COMMITTED } from "../driver/operations.ts";
import { auditBlocks, blockId, idsOfChain, readBlockId } from "./audit-blocks.ts";
import { auditCollections } from "./audit-chain-writer.ts";

export const INDEX_SEGMENTS: InternalCollection = {
  name: "repsync_audit_segments",
  indexes: [
    { name: "repsync_time", key: { lastAt: -1 } },
    { name: "repsync_chain", key: { chainId: 1, lastSeq: -1 } },
  ],
};

/** Consecutive blocks of a chain. */
export interface IndexSegment {
  /** `blockId` of the first. */
  readonly _id: string;
  readonly chainId: string;
  /** Place of the last record. */
  readonly lastSeq: number;
  readonly firstAt: string;
  readonly lastAt: string;
  /** The `filterBits` of all people named are set; the first is the lowest of the first byte. */
  readonly filter: Binary;
}

/** Records of a chain that are in no segment: those behind a place, up to where the chain had come. */
interface UnindexedRecords {
  readonly chainId: string;
  readonly afterSeq: number;
  readonly throughSeq: number;
  /** When the last of them was made; others may be later, as clocks are set back. */
  readonly at: string;
}

/** A block as far as it is indexed: nothing about it is certain. */
interface BlockSubjects {
  readonly _id: string;
  readonly at?: unknown;
  readonly subjects?: unknown;
}

/** Records that make a segment, with the rest of the last block; to look through as many takes about a millisecond. */
const SEGMENT_RECORDS = 512;
/** Ten or more for each record: of a thousand segments without a person fewer than ten match. */
const FILTER_BITS = 8_192;
/** Bits that stand for a person, each from four hexadecimal digits of the HMAC. */
const BITS_OF_PERSON = 7;

export function indexSegments(db: Db): Collection<IndexSegment> {
  return db.collection(INDEX_SEGMENTS.name);
}

/** The bits that are set in the filter of every segment that names a person. */
export function filterBits(subjectHmac: string): number[] {
  return Array.from({ length: BITS_OF_PERSON }, (_, i) => {
    return Number.parseInt(subjectHmac.slice(4 * i, 4 * i + 4), 16) % FILTER_BITS;
  });
}

/** Of every chain that has any, the records in no segment; pruned ones count as indexed. */
export async function findUnindexed(
  db: Db,
  options: AggregateOptions,
): Promise<readonly UnindexedRecords[]> {
  const { heads, checkpoints } = auditCollections(db);
  const lastSegments = [
    { $sort: { chainId: 1, lastSeq: -1 } },
    { $group: { _id: "$chainId", seq: { $first: "$lastSeq" } } },
  ];
  const places = { ...options, projection: { seq: 1, at: 1 } };
  const reached = await heads.find({ _id: HEADS.ids }, places).toArray();
  const pruned = await checkpoints.find({}, places).toArray();
  const indexed = await indexSegments(db)
    .aggregate<(typeof pruned)[0]>(lastSegments, options)
    .toArray();
  const done = new Map<string, number>();
  for (const { _id, seq } of [...pruned, ...indexed]) {
    done.set(_id, Math.max(seq, done.get(_id) ?? 0));
  }
  const chains = reached.map(({ _id, seq: throughSeq, at }) => {
    const chainId = nameInLog(HEADS, _id);
    return { chainId, afterSeq: done.get(chainId) ?? 0, throughSeq, at };
  });
  return chains.filter(({ afterSeq, throughSeq }) => throughSeq > afterSeq);
}

/** Indexes what one process appends, and what ended ones have left. */
export class SegmentWriter {
  readonly #db: Db;
  #chainId = "";
  #dueSeq = 0;
  #areOthersDue = false;
  #last: Promise<void> = Promise.resolve();

  constructor(db: Db) {
    this.#db = db;
  }

  /**
   * Indexes what is due once a chain is committed up to a place, without keeping the caller waiting: whole segments of this
   * chain, and all of the others when it has just begun, as most likely their processes have ended. What fails is due
   * again with the next segment; until then it is only slower to find.
   */
  keepUpWith(tip: ChainTip): void {
    const { chainId, seq } = tip;
    const isNew = chainId !== this.#chainId;
    if (!isNew && seq < this.#dueSeq) return;
    if (isNew) this.#areOthersDue = true;
    this.#chainId = chainId;
    this.#dueSeq = seq + SEGMENT_RECORDS;
    this.#last = this.#last.then(() => this.#indexDue(tip)).catch(() => {});
  }

  async #indexDue(tip: ChainTip): Promise<void> {
    if (this.#areOthersDue) await this.#indexOthers(tip.chainId);
    this.#areOthersDue = false;
    await this.#indexWholeSegments(tip);
  }

  async #indexOthers(chainId: string): Promise<void> {
    for (const unindexed of await findUnindexed(this.#db, COMMITTED)) {
      if (unindexed.chainId !== chainId) await this.#index(unindexed, 1);
    }
  }

  async #indexWholeSegments({ chainId, seq: throughSeq }: ChainTip): Promise<void> {
    const options = { ...COMMITTED, sort: { lastSeq: -1 } } as const;
    const last = await indexSegments(this.#db).findOne({ chainId }, options);
    await this.#index({ chainId, afterSeq: last?.lastSeq ?? 0, throughSeq }, SEGMENT_RECORDS);
  }

  /** Ends where another process indexes the same: only one of them can begin a segment at a record. */
  async #index(unindexed: Omit<UnindexedRecords, "at">, leastRecords: number): Promise<void> {
    const { chainId, throughSeq } = unindexed;
    // Chains of other processes may still grow: their own process indexes whole segments.
    for (let next = unindexed.afterSeq + 1; next <= throughSeq; ) {
      const blocks = await this.#nextBlocks(chainId, next);
      const names = blocks.flatMap(subjectsOf);
      if (names.length < leastRecords) return;
      const times = blocks.map(({ at }) => String(at)).sort();
      const lastSeq = Math.max(...blocks.map(lastSeqOf));
      const isFirst = await insertNew(indexSegments(this.#db), {
        _id: blockId(chainId, next),
        chainId,
        lastSeq,
        firstAt: times.at(0) ?? "",
        lastAt: times.at(-1) ?? "",
        filter: makeFilter(names),
      });
      if (!isFirst) return;
      next = lastSeq + 1;
    }
  }

  /** The blocks of the next segment, as far as there are any. */
  async #nextBlocks(chainId: string, firstSeq: number): Promise<readonly BlockSubjects[]> {
    const isNext = { $gte: blockId(chainId, firstSeq), $lt: idsOfChain(chainId).$lt };
    const stages = [
      { $match: { _id: isNext } },
      { $sort: { _id: 1 } },
      { $project: { at: 1, subjects: "$records.subjectHmac" } },
    ];
    const options = { ...COMMITTED, enableUtf8Validation: false };
    const found: BlockSubjects[] = [];
    let records = 0;
    for await (const block of auditBlocks(this.#db).aggregate<BlockSubjects>(stages, options)) {
      found.push(block);
      records += subjectsOf(block).length;
      if (records >= SEGMENT_RECORDS) break;
    }
    return found;
  }
}

function makeFilter(subjects: readonly string[]): Binary {
  const bytes = new Uint8Array(FILTER_BITS / 8);
  for (const bit of subjects.flatMap(filterBits)) {
    const at = Math.floor(bit / 8);
    bytes[at] = (bytes[at] ?? 0) | (1 << (bit % 8));
  }
  return new Binary(bytes);
}

function subjectsOf({ subjects }: BlockSubjects): readonly string[] {
  return Array.isArray(subjects) ? subjects.filter((one) => typeof one === "string") : [];
}

function lastSeqOf(block: BlockSubjects): number {
  const records = Array.isArray(block.subjects) ? block.subjects.length : 0;
  return (readBlockId(block._id)?.firstSeq ?? 0) + records - 1;
}
