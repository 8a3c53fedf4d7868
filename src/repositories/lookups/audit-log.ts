import type {
  AuditHead,
  PruningCheckpoint,
  Signed,
} from "../../domain/reputation/audit/audit-chain.ts";
import type { StoredRecord } from "../../domain/reputation/audit/audit-check.ts";
import type { ChainCount } from "../../domain/reputation/audit/chain-count.ts";
import { INDEX_SHAPE } from "../../domain/reputation/audit/name-filter.ts";
import type { DocumentStore, Reader } from "../../ports/documents.ts";
import { SECRETS } from "../accounts/account-collections.ts";
import { blockKey, cutBlock, recordsOf } from "./audit-blocks.ts";
import {
  AUDIT,
  type BlockDocument,
  FIRST_LOOKUP,
  LOOKUP_LOG,
  SEGMENTS,
} from "./lookup-collections.ts";
import { SegmentGroups } from "./segment-groups.ts";

export interface RecordPage {
  /** Null for the very first. */
  readonly afterSeq: number | null;
  /** 1 or more. */
  readonly limit: number;
}

/** Blocks that are read at once. */
const BLOCKS_AT_ONCE = 32;

/**
 * Reads the audit log, for its verification, and cuts it; batches of lookups and administrators write it. D-6.5.
 * Every method throws `store_unavailable`.
 */
export class AuditLog {
  readonly #documents: DocumentStore;
  readonly #groups: SegmentGroups;

  constructor(documents: DocumentStore, shape = INDEX_SHAPE) {
    this.#documents = documents;
    this.#groups = new SegmentGroups(documents, shape);
  }

  /** Null before the first chain. */
  async chainCount(): Promise<Signed<ChainCount> | null> {
    const [[found]] = await this.#read((at) => at.read({ from: AUDIT, keys: [["chain_count"]] }));
    return found === undefined ? null : signedOf<ChainCount>(found);
  }

  /**
   * Whether a record was ever written. Kept with the secrets of the deployment, in the commit that begins a chain, so that a
   * log that was removed whole shows.
   */
  async wasBegun(): Promise<boolean> {
    const keys = [[FIRST_LOOKUP.name]];
    const [found] = await this.#read((at) => at.read({ from: SECRETS, keys }));
    return found.length > 0;
  }

  /** In any order. */
  async heads(): Promise<readonly Signed<AuditHead>[]> {
    const stretch = { within: [["head"]] };
    const [found] = await this.#read((at) => at.read({ from: LOOKUP_LOG, stretch }));
    return found.map((head) => signedOf<AuditHead>(head));
  }

  /** The head of one chain as it is now; null when there is none. */
  async head(chainId: string): Promise<Signed<AuditHead> | null> {
    const keys = [["head", chainId]];
    const [[found]] = await this.#read((at) => at.read({ from: LOOKUP_LOG, keys }));
    return found === undefined ? null : signedOf<AuditHead>(found);
  }

  async checkpoints(): Promise<readonly Signed<PruningCheckpoint>[]> {
    const stretch = { within: [["checkpoint"]] };
    const [found] = await this.#read((at) => at.read({ from: AUDIT, stretch }));
    return found.map((checkpoint) => signedOf<PruningCheckpoint>(checkpoint));
  }

  /** Ids of all chains that have at least one record, whatever the heads say. Steps from one to the next. */
  async chainIds(): Promise<readonly string[]> {
    const chainIds: string[] = [];
    for (let after: readonly (string | number)[] = ["block"]; ; ) {
      const keysOf = { within: [["block"]], after, limit: 1 };
      const [[next]] = await this.#read((at) => at.read({ from: LOOKUP_LOG, keysOf }));
      if (next === undefined) return chainIds;
      const chainId = String(next[1]);
      chainIds.push(chainId);
      after = blockKey(chainId, Number.MAX_SAFE_INTEGER);
    }
  }

  /**
   * Records of one chain in the order of `seq`, with every stored field: the first `limit` after `afterSeq`, or from the very
   * first, whatever their `seq` holds. Two records with one `seq` both come.
   */
  async records(
    chainId: string,
    { afterSeq, limit }: RecordPage,
  ): Promise<readonly StoredRecord[]> {
    return await this.#read(async (at) => {
      const within = [["block", chainId]];
      const found: StoredRecord[] = [];
      const start = afterSeq === null ? null : await blockWith(at, chainId, afterSeq);
      if (start !== null && afterSeq !== null) {
        found.push(...recordsOf(start).slice(afterSeq - start.seq + 1));
      }
      for (let after = start === null ? {} : { after: blockKey(chainId, start.seq) }; ; ) {
        if (found.length >= limit) return found.slice(0, limit);
        const stretch = { within, ...after, limit: BLOCKS_AT_ONCE };
        const [blocks] = await at.read({ from: LOOKUP_LOG, stretch });
        for (const block of blocks) found.push(...recordsOf(block));
        const last = blocks.at(-1) as BlockDocument | undefined;
        if (last === undefined || blocks.length < BLOCKS_AT_ONCE) return found.slice(0, limit);
        after = { after: blockKey(chainId, last.seq) };
      }
    });
  }

  /**
   * Removes the records of a chain up to and including the checkpoint's, some ten thousand at most, and replaces the chain's
   * checkpoint before, in one commit.
   */
  async prune({ statement, signature }: Signed<PruningCheckpoint>): Promise<void> {
    const { chainId, seq } = statement;
    const passed = { within: [["block", chainId]], upTo: blockKey(chainId, seq) };
    const ofChain = { index: "chain", within: [[chainId]] };
    const numbers = await this.#documents.transact({ name: "audit.prune" }, async (tx) => {
      const [blocks, segments] = await tx.read(
        { from: LOOKUP_LOG, keysOf: passed },
        { from: SEGMENTS, keysOf: { ...ofChain, upTo: [chainId, seq, Number.MAX_SAFE_INTEGER] } },
      );
      const last = await blockWith(tx, chainId, seq);
      tx.put(AUDIT, { kind: "checkpoint", ...statement, signature });
      for (const key of blocks) tx.remove(LOOKUP_LOG, key);
      for (const key of segments) tx.remove(SEGMENTS, key);
      const rest = last === null ? null : cutBlock(last, seq - last.seq + 1);
      if (rest !== null) tx.put(LOOKUP_LOG, rest);
      return segments.map(([number]) => Number(number));
    });
    await this.#groups.dropEmpty(numbers);
  }

  #read<T>(body: (at: Reader) => Promise<T>): Promise<T> {
    return this.#documents.read({ name: "audit.read" }, body);
  }
}

/** The block that a place is in or would be in; null for a place before all of them. */
async function blockWith(at: Reader, chainId: string, seq: number): Promise<BlockDocument | null> {
  const within = [["block", chainId]];
  const after = blockKey(chainId, seq + 1);
  const stretch = { within, after, isReverse: true, limit: 1 };
  const [[found]] = await at.read({ from: LOOKUP_LOG, stretch });
  return (found as BlockDocument | undefined) ?? null;
}

function signedOf<Statement>(document: object): Signed<Statement> {
  const { kind: _kind, signature, ...statement } = document as Record<string, unknown>;
  return { statement: statement as Statement, signature: String(signature) };
}
