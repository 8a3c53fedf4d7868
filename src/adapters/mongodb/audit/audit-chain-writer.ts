// Appends to the chain of this process, and keeps its signed head. D-6.5.
import type { ClientSession, Collection, Db } from "mongodb";
import {
  type AuditEntry,
  type AuditHead,
  type ChainTip,
  emptyChain,
  type PruningCheckpoint,
  planAppend,
  type Signed,
  type WrittenChain,
} from "../../../domain/reputation/audit/audit-chain.ts";
import { type ChainCount, chainCountInput } from "../../../domain/reputation/audit/chain-count.ts";
import type { Mac } from "../../../ports/crypto/crypto.ts";
import { noteFirstLookup } from "../accounts/own-documents.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { HEADS, type LogWrite, logId, lookupLogOf } from "../driver/lookup-log.ts";
import { makeBlock } from "./audit-blocks.ts";

export const AUDIT_CHECKPOINTS: InternalCollection = { name: "repsync_audit_checkpoints" };
export const AUDIT_CHAIN_COUNT: InternalCollection = { name: "repsync_audit_chain_count" };

export const CHAIN_COUNT_ID = "chain_count";

/** A signed head or checkpoint as stored. */
export type SignedDocument<Statement extends ChainTip> = Omit<Statement, "chainId"> & {
  /** Of a checkpoint the chain id, of a head its `logId`. */
  readonly _id: string;
  readonly signature: string;
};

interface ChainCountDocument extends ChainCount {
  readonly _id: typeof CHAIN_COUNT_ID;
  readonly signature: string;
}

export interface AuditCollections {
  /** Among other documents of the lookup log. */
  readonly heads: Collection<SignedDocument<AuditHead>>;
  readonly checkpoints: Collection<SignedDocument<PruningCheckpoint>>;
  readonly chainCount: Collection<ChainCountDocument>;
}

interface ChainWrites {
  readonly writes: readonly LogWrite[];
  /** The chain as it is once `writes` are committed. */
  readonly written: WrittenChain;
}

const CHAIN_ID_BYTES = 8;

export function auditCollections(db: Db): AuditCollections {
  return {
    heads: lookupLogOf(db),
    checkpoints: db.collection(AUDIT_CHECKPOINTS.name),
    chainCount: db.collection(AUDIT_CHAIN_COUNT.name),
  };
}

/** Makes the writes that append to a chain, signed. */
export class AuditChainWriter {
  readonly #db: Db;
  readonly #collections: AuditCollections;
  readonly #mac: Mac;
  readonly #key: Uint8Array;

  constructor(db: Db, mac: Mac, auditKey: Uint8Array) {
    this.#db = db;
    this.#collections = auditCollections(db);
    this.#mac = mac;
    this.#key = auditKey;
  }

  /** Begins another chain, within a transaction. The number of one that was removed is not given again. */
  async begin(tx: ClientSession): Promise<WrittenChain> {
    const { heads, chainCount } = this.#collections;
    const chainId = this.#mac.randomBytes(CHAIN_ID_BYTES).toHex();
    const isNumbered = { chainNumber: { $exists: true } };
    const last = await heads.findOne(isNumbered, { session: tx, sort: { chainNumber: -1 } });
    const counted = await chainCount.findOne({ _id: CHAIN_COUNT_ID }, { session: tx });
    const chains = Math.max(last?.chainNumber ?? 0, counted?.chains ?? 0) + 1;
    const signature = this.#sign(chainCountInput({ chains }));
    const replacement = { chains, signature };
    const options = { upsert: true, session: tx };
    await chainCount.replaceOne({ _id: CHAIN_COUNT_ID }, replacement, options);
    await noteFirstLookup(this.#db, tx);
    return { number: chains, tip: emptyChain(chainId) };
  }

  /** Writes that append entries of one moment to a chain and move its head. There is at least one entry. */
  append(chain: WrittenChain, entries: readonly AuditEntry[]): ChainWrites {
    const { records, head, written } = planAppend(chain, entries, (text) => this.#sign(text));
    const { _id, ...block } = makeBlock(records);
    const addBlock = { filter: { _id }, replacement: block, isNew: true };
    return { writes: [moveHead(chain.tip, head), addBlock], written };
  }

  #sign(input: string): string {
    return this.#mac.hmacHex(this.#key, input);
  }
}

function moveHead({ seq, hash }: ChainTip, { statement, signature }: Signed<AuditHead>): LogWrite {
  const { chainId, ...moved } = statement;
  const _id = logId(HEADS, chainId);
  const replacement = { ...moved, signature };
  if (seq === 0) return { filter: { _id }, replacement, isNew: true };
  return { filter: { _id, seq, hash }, replacement, isNew: false };
}
