// Appends to the chain of this process, and keeps its signed head. D-6.5.
import type { ClientSession, Collection, Db } from "mongodb";
import { type AuditCensus, censusInput } from "../../../domain/reputation/audit/audit-census.ts";
import {
  type AuditAnchor,
  type AuditEntry,
  type AuditHead,
  appendEntry,
  type ChainTip,
  emptyChain,
  headInput,
} from "../../../domain/reputation/audit/audit-chain.ts";
import type { Mac } from "../../../ports/crypto/crypto.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { HEADS, ledgerId, ledgerOf } from "../driver/ledger-documents.ts";
import type { LedgerWrite } from "../driver/ledger-writes.ts";
import { makeBlock } from "./audit-blocks.ts";

/** The anchors by chain. */
export const AUDIT_ANCHORS: InternalCollection = { name: "repsync_audit_anchors" };
/** The census, one document. */
export const AUDIT_CENSUS: InternalCollection = { name: "repsync_audit_census" };

/** `_id` of the census. */
export const CENSUS_ID = "census";

/** A signed head or anchor as stored. */
export type SignedDocument<Statement extends ChainTip> = Omit<Statement, "chainId"> & {
  /** Of an anchor the chain id, of a head its `ledgerId`. */
  readonly _id: string;
  readonly signature: string;
};

/** The signed census as stored. */
export interface CensusDocument extends AuditCensus {
  readonly _id: typeof CENSUS_ID;
  readonly signature: string;
}

/** What is beside the records. */
export interface AuditCollections {
  /** Among other documents of the ledger. */
  readonly heads: Collection<SignedDocument<AuditHead>>;
  readonly anchors: Collection<SignedDocument<AuditAnchor>>;
  readonly census: Collection<CensusDocument>;
}

/** A chain as far as it is written. */
export interface WrittenChain {
  readonly number: number;
  readonly tip: ChainTip;
}

/** Writes that append to a chain. */
export interface ChainAppend {
  readonly writes: readonly LedgerWrite[];
  /** The chain, once they are committed. */
  readonly written: WrittenChain;
}

const CHAIN_ID_BYTES = 8;

/** What is beside the records. */
export function auditCollections(db: Db): AuditCollections {
  return {
    heads: ledgerOf(db),
    anchors: db.collection(AUDIT_ANCHORS.name),
    census: db.collection(AUDIT_CENSUS.name),
  };
}

/** Writes one chain, begun with the first records. */
export class AuditChainWriter {
  readonly #collections: AuditCollections;
  readonly #mac: Mac;
  readonly #key: Uint8Array;
  #chain: WrittenChain | null = null;

  constructor({ db, mac, auditKey }: { readonly db: Db; mac: Mac; auditKey: Uint8Array }) {
    this.#collections = auditCollections(db);
    this.#mac = mac;
    this.#key = auditKey;
  }

  /** Whether the next records go on with a chain. */
  get isBegun(): boolean {
    return this.#chain !== null;
  }

  /**
   * Appends entries of one moment and moves the head, by writes of the transaction that this is called in; begins a chain
   * there when none is. `goOnFrom` the result once that is committed, `abandon` when that is not known, or when the head
   * is not where this process left it. Null without entries.
   */
  async append(
    entries: readonly AuditEntry[],
    session: ClientSession,
  ): Promise<ChainAppend | null> {
    const last = entries.at(-1);
    if (last === undefined) return null;
    const hash = (text: string) => this.#mac.hmacHex(this.#key, text);
    const before = this.#chain ?? (await this.#begin(session));
    let tip = before.tip;
    const records = entries.map((entry) => {
      const record = appendEntry(tip, entry, hash);
      tip = record;
      return record;
    });
    const { chainId, seq, hash: tipHash } = tip;
    const written = { number: before.number, tip: { chainId, seq, hash: tipHash } };
    const { _id, ...block } = makeBlock(records);
    const writes = [
      this.#moveHead(before.tip, { ...written.tip, chainNumber: written.number, at: last.at }),
      { q: { _id }, u: block, isNew: true },
    ];
    return { writes, written };
  }

  /** Takes a committed chain as the one to append to. */
  goOnFrom(written: WrittenChain): void {
    this.#chain = written;
  }

  /** Begins another chain with the next records: how far this one has come is not certain. */
  abandon(): void {
    this.#chain = null;
  }

  /** Counts another chain. The number of one that was removed is not given again. */
  async #begin(session: ClientSession): Promise<WrittenChain> {
    const { heads, census } = this.#collections;
    const chainId = this.#mac.randomBytes(CHAIN_ID_BYTES).toHex();
    const isNumbered = { chainNumber: { $exists: true } };
    const last = await heads.findOne(isNumbered, { session, sort: { chainNumber: -1 } });
    const counted = await census.findOne({ _id: CENSUS_ID }, { session });
    const chains = Math.max(last?.chainNumber ?? 0, counted?.chains ?? 0) + 1;
    const signature = this.#sign(censusInput({ chains }));
    const replacement = { chains, signature };
    await census.replaceOne({ _id: CENSUS_ID }, replacement, { upsert: true, session });
    return { number: chains, tip: emptyChain(chainId) };
  }

  #moveHead(before: ChainTip, head: AuditHead): LedgerWrite {
    const { chainId, ...moved } = head;
    const _id = ledgerId(HEADS, chainId);
    const u = { ...moved, signature: this.#sign(headInput(head)) };
    if (before.seq === 0) return { q: { _id }, u, isNew: true };
    return { q: { _id, seq: before.seq, hash: before.hash }, u };
  }

  #sign(input: string): string {
    return this.#mac.hmacHex(this.#key, input);
  }
}
