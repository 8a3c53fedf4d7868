// Appends to the chain of this process, and keeps its signed head. D-6.5.
import type { ClientSession, Collection, Db } from "mongodb";
import { AppError } from "../../domain/errors.ts";
import { type AuditCensus, censusInput } from "../../domain/reputation/audit-census.ts";
import {
  type AuditAnchor,
  type AuditEntry,
  type AuditHead,
  appendEntry,
  type ChainTip,
  emptyChain,
  headInput,
} from "../../domain/reputation/audit-chain.ts";
import type { Mac } from "../../ports/mac.ts";
import { allEnded } from "./all-ended.ts";
import { auditBlocks, makeBlock } from "./audit-blocks.ts";
import type { InternalCollection } from "./internal-collections.ts";

/** The heads by chain. */
export const AUDIT_HEADS: InternalCollection = {
  name: "repsync_audit_heads",
  indexes: [{ name: "repsync_number", key: { chainNumber: 1 }, unique: true }],
};
/** The anchors by chain. */
export const AUDIT_ANCHORS: InternalCollection = { name: "repsync_audit_anchors" };
/** The census, one document. */
export const AUDIT_CENSUS: InternalCollection = { name: "repsync_audit_census" };

/** `_id` of the census. */
export const CENSUS_ID = "census";

/** A signed head or anchor as stored. */
export type SignedDocument<Statement extends ChainTip> = Omit<Statement, "chainId"> & {
  /** Chain id. */
  readonly _id: string;
  readonly signature: string;
};

/** The signed census as stored. */
export interface CensusDocument extends AuditCensus {
  readonly _id: typeof CENSUS_ID;
  readonly signature: string;
}

/** The collections beside the records. */
export interface AuditCollections {
  readonly heads: Collection<SignedDocument<AuditHead>>;
  readonly anchors: Collection<SignedDocument<AuditAnchor>>;
  readonly census: Collection<CensusDocument>;
}

/** A chain as far as it is written. */
export interface WrittenChain {
  readonly number: number;
  readonly tip: ChainTip;
}

const CHAIN_ID_BYTES = 8;

/** The collections beside the records. */
export function auditCollections(db: Db): AuditCollections {
  return {
    heads: db.collection(AUDIT_HEADS.name),
    anchors: db.collection(AUDIT_ANCHORS.name),
    census: db.collection(AUDIT_CENSUS.name),
  };
}

/** Writes one chain, begun with the first records. */
export class AuditChainWriter {
  readonly #db: Db;
  readonly #collections: AuditCollections;
  readonly #mac: Mac;
  readonly #key: Uint8Array;
  #chain: WrittenChain | null = null;

  constructor({ db, mac, auditKey }: { readonly db: Db; mac: Mac; auditKey: Uint8Array }) {
    this.#db = db;
    this.#collections = auditCollections(db);
    this.#mac = mac;
    this.#key = auditKey;
  }

  /**
   * Appends entries of one moment and moves the head, within a transaction. `goOnFrom` the result once that is
   * committed, `abandon` when that is not known.
   */
  async append(
    entries: readonly AuditEntry[],
    session: ClientSession,
  ): Promise<WrittenChain | null> {
    const last = entries.at(-1);
    if (last === undefined) return null;
    const hash = (text: string) => this.#mac.hmacHex(this.#key, text);
    const before = this.#chain ?? (await this.#newChain(session));
    let tip = before.tip;
    const records = entries.map((entry) => {
      const record = appendEntry(tip, entry, hash);
      tip = record;
      return record;
    });
    const { chainId, seq, hash: tipHash } = tip;
    const written = { number: before.number, tip: { chainId, seq, hash: tipHash } };
    const head = { ...written.tip, chainNumber: written.number, at: last.at };
    await allEnded([
      this.#moveHead(before.tip, head, session),
      auditBlocks(this.#db).insertOne(makeBlock(records), { session }),
    ]);
    return written;
  }

  /** Takes a committed chain as the one to append to. */
  goOnFrom(written: WrittenChain): void {
    this.#chain = written;
  }

  /** Begins another chain with the next records: how far this one has come is not certain. */
  abandon(): void {
    this.#chain = null;
  }

  /** The number of a chain that was removed is not given again. */
  async #newChain(session: ClientSession): Promise<WrittenChain> {
    const { heads, census } = this.#collections;
    const chainId = this.#mac.randomBytes(CHAIN_ID_BYTES).toHex();
    const last = await heads.findOne({}, { session, sort: { chainNumber: -1 } });
    const counted = await census.findOne({ _id: CENSUS_ID }, { session });
    const number = Math.max(last?.chainNumber ?? 0, counted?.chains ?? 0) + 1;
    return { number, tip: emptyChain(chainId) };
  }

  async #moveHead(before: ChainTip, head: AuditHead, session: ClientSession): Promise<void> {
    const { heads, census } = this.#collections;
    const signature = this.#mac.hmacHex(this.#key, headInput(head));
    const { chainId: _id, chainNumber, ...moved } = head;
    if (before.seq === 0) {
      await heads.insertOne({ _id, chainNumber, ...moved, signature }, { session });
      const counted = { chains: chainNumber };
      const signed = { ...counted, signature: this.#mac.hmacHex(this.#key, censusInput(counted)) };
      await census.replaceOne({ _id: CENSUS_ID }, signed, { upsert: true, session });
      return;
    }
    const isBefore = { _id, seq: before.seq, hash: before.hash };
    const update = { $set: { ...moved, signature } };
    const { matchedCount } = await heads.updateOne(isBefore, update, { session });
    if (matchedCount === 1) return;
    // A copy of this process goes on with its chain; this one begins another with the next batch.
    this.abandon();
    throw new AppError("commit_failed", "The audit chain of this process was changed by another");
  }
}
