// Writes the segments by which the audit log is searched: whole blocks of one chain with a filter of the names in them. An index
// over all records would change in another place with every lookup, at several times the price of a record.
import type { AuditRecord, ChainTip } from "../../domain/reputation/audit/audit-chain.ts";
import {
  INDEX_SHAPE,
  type IndexShape,
  makeFilter,
} from "../../domain/reputation/audit/name-filter.ts";
import { DAY_MS } from "../../domain/shared/time.ts";
import type { DocumentStore, Reader, Transaction } from "../../ports/documents.ts";
import {
  AUDIT,
  type HeadDocument,
  LOOKUP_LOG,
  SEGMENTS,
  type SegmentDocument,
  type TailDocument,
} from "../lookup-collections.ts";
import { Repository } from "../repository.ts";
import { recordsOf } from "./audit-blocks.ts";
import type { Appended } from "./audit-chains.ts";
import { readIndex, SegmentGroups } from "./segment-groups.ts";

/** Longest time between the records of a segment, so that few segments are of one moment. */
export const MAX_SEGMENT_SPAN_MS = 3_600_000;
/** Age of its last record from which on a chain does not go on: its process begins another. */
const OPEN_MS = DAY_MS;
const BLOCKS_AT_ONCE = 16;

/** A segment that is not kept yet. */
interface Growing extends Omit<SegmentDocument, "number" | "filter"> {
  /** Grows in place. */
  readonly names: Set<string>;
}

/** Indexes what one process appends, and what others have left. */
export class SegmentWriter extends Repository {
  readonly #shape: IndexShape;
  readonly #groups: SegmentGroups;
  /** Consecutive segments of the own chain. */
  #growing: Growing[] = [];
  #tip: Pick<ChainTip, "chainId" | "seq"> = { chainId: "", seq: 0 };
  /** Segments since others were looked at. */
  #kept = 0;
  #last: Promise<void> = Promise.resolve();
  #isStopped = false;

  constructor(documents: DocumentStore, shape: IndexShape = INDEX_SHAPE) {
    super(documents);
    this.#shape = shape;
    this.#groups = new SegmentGroups(documents, shape);
  }

  /**
   * Indexes what is due after an append: whole segments of this chain and, when it has just begun, all of the others, as their
   * processes have most likely ended. What fails is due again later, until then slower to find. Resolves when done, never rejects.
   */
  note({ written, records }: Appended): Promise<void> {
    const { chainId, seq } = written;
    const isNew = chainId !== this.#tip.chainId;
    const isNext = seq === this.#tip.seq + records.length;
    this.#tip = { chainId, seq };
    if (isNew) this.#growing = [];
    if (isNew) this.#later(() => this.#indexOthers(chainId));
    if (isNew ? seq > records.length : !isNext) {
      // A commit of unknown outcome has happened, and its records are not known here.
      this.#growing = [];
      this.#later(() => this.#indexThrough(chainId, seq));
      return this.#last;
    }
    const last = this.#growing.at(-1);
    const more = withBlock(last, records, this.#shape);
    const before = more.firstSeq === last?.firstSeq ? this.#growing.slice(0, -1) : this.#growing;
    const all = [...before, more];
    const due = isWhole(more, this.#shape) ? all : before;
    const isDue = due.length >= this.#shape.segmentsAtOnce;
    this.#growing = isDue ? all.slice(due.length) : all;
    if (isDue) this.#later(() => this.#keep(chainId, due));
    return this.#last;
  }

  /** Resolves when nothing goes on; what is due is left for another process. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#last;
  }

  #later(work: () => Promise<void>): void {
    this.#last = this.#last.then(() => (this.#isStopped ? undefined : work())).catch(() => {});
  }

  async #keep(chainId: string, due: readonly Growing[]): Promise<void> {
    const first = due[0]?.firstSeq ?? 1;
    const lastSeq = due.at(-1)?.lastSeq ?? 0;
    const isKept = await this.writing("audit.segment", async (tx) => {
      const tail = await readTail(tx, chainId);
      if (tail?.indexedSeq !== first - 1) return false;
      await this.#put(tx, tail, due);
      return true;
    });
    // Another process took this one for ended, and has indexed a part.
    if (!isKept) await this.#indexThrough(chainId, lastSeq);
    this.#kept += due.length;
    if (this.#kept >= this.#shape.groupSize) await this.#indexOthers(chainId);
    else await this.#groups.makeDue();
  }

  /** Indexes a chain up to a place, also where its last records are few. */
  async #indexThrough(chainId: string, throughSeq: number): Promise<void> {
    while (!this.#isStopped) {
      const goesOn = await this.writing("audit.segment", async (tx) => {
        const tail = await readTail(tx, chainId);
        if (tail === undefined || tail.indexedSeq >= throughSeq) return false;
        const next = await this.#readNext(tx, tail, throughSeq);
        if (next === undefined) return false;
        await this.#put(tx, tail, [next]);
        return true;
      });
      if (!goesOn) return;
    }
  }

  /** The next segment of a chain, as its blocks tell. */
  async #readNext(at: Reader, { chainId, indexedSeq }: TailDocument, throughSeq: number) {
    let next: Growing | undefined;
    for (let afterSeq = indexedSeq; ; ) {
      const [blocks] = await at.read({
        from: LOOKUP_LOG,
        stretch: {
          within: [["block", chainId]],
          after: ["block", chainId, afterSeq],
          upTo: ["block", chainId, throughSeq],
          limit: BLOCKS_AT_ONCE,
        },
      });
      for (const block of blocks) {
        const records = recordsOf(block) as readonly AuditRecord[];
        const grown: Growing = withBlock(next, records, this.#shape);
        if (next !== undefined && grown.firstSeq !== next.firstSeq) return next;
        next = grown;
        afterSeq = next.lastSeq;
      }
      if (blocks.length < BLOCKS_AT_ONCE) return next;
    }
  }

  async #put(tx: Transaction, tail: TailDocument, due: readonly Growing[]): Promise<void> {
    const index = await readIndex(tx);
    for (const [i, { names, ...segment }] of due.entries()) {
      const filter = makeFilter(names, this.#shape);
      tx.put(SEGMENTS, { number: index.segments + i, ...segment, filter });
    }
    tx.put(AUDIT, { ...index, segments: index.segments + due.length });
    tx.put(LOOKUP_LOG, { ...tail, indexedSeq: due.at(-1)?.lastSeq ?? tail.indexedSeq });
  }

  /** Indexes all other chains, and closes old ones. */
  async #indexOthers(own: string): Promise<void> {
    this.#kept = 0;
    const [tails] = await this.ask("audit.tails", {
      from: LOOKUP_LOG,
      stretch: { within: [["tail"]] },
    });
    for (const tail of tails as readonly TailDocument[]) {
      const { chainId } = tail;
      if (this.#isStopped) return;
      if (chainId === own) continue;
      await this.#indexThrough(chainId, Number.MAX_SAFE_INTEGER);
      await this.#closeOld(chainId);
    }
    await this.#groups.makeDue();
  }

  /** Writes the head unchanged, so that a process that appends meanwhile runs again. */
  async #closeOld(chainId: string): Promise<void> {
    await this.writing("audit.close", async (tx) => {
      const keys = [
        ["head", chainId],
        ["tail", chainId],
      ];
      const [found] = await tx.read({ from: LOOKUP_LOG, keys });
      const head = found.find((doc): doc is HeadDocument => doc.kind === "head");
      const tail = found.find((doc): doc is TailDocument => doc.kind === "tail");
      if (head === undefined || tail === undefined || tail.indexedSeq < head.seq) return;
      if (tx.nowMs - Date.parse(head.at) < OPEN_MS) return;
      tx.put(LOOKUP_LOG, head);
      tx.remove(LOOKUP_LOG, ["tail", chainId]);
    });
  }
}

async function readTail(at: Reader, chainId: string): Promise<TailDocument | undefined> {
  const [[tail]] = await at.read({ from: LOOKUP_LOG, keys: [["tail", chainId]] });
  return tail as TailDocument | undefined;
}

function isWhole({ firstSeq, lastSeq }: Growing, { segmentRecords }: IndexShape): boolean {
  return lastSeq - firstSeq + 1 >= segmentRecords;
}

/** A segment with one more block; a new one where it is whole or would span too long. */
function withBlock(
  segment: Growing | undefined,
  records: readonly AuditRecord[],
  shape: IndexShape,
): Growing {
  const [first] = records;
  const at = String(first?.at);
  const seq = Number(first?.seq);
  const chainId = first?.chainId ?? "";
  const fits = segment !== undefined && !isWhole(segment, shape) && isNear(segment, at);
  const begun = { firstSeq: seq, firstAt: at, lastAt: at, names: new Set<string>() };
  const before = fits ? segment : begun;
  const { names } = before;
  for (const { subjectHmac, accountId } of records) {
    names.add(String(subjectHmac)).add(String(accountId));
  }
  const times = [before.firstAt, before.lastAt, at].sort();
  return {
    chainId,
    firstSeq: before.firstSeq,
    lastSeq: seq + records.length - 1,
    firstAt: times.at(0) ?? at,
    lastAt: times.at(-1) ?? at,
    names,
  };
}

function isNear({ firstAt, lastAt }: Growing, at: string): boolean {
  const times = [firstAt, lastAt, at].map((one) => Date.parse(one));
  return !(Math.max(...times) - Math.min(...times) > MAX_SEGMENT_SPAN_MS);
}
