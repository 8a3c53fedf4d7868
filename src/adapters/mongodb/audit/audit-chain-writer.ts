// Appends to the chain of this process, and keeps its signed head. D-6.5.
import type { ClientSession, Collection, Db } from "mongodb";
import { type AuditCensus, censusInput } from "../../../domain/reputation/audit/audit-census.ts";
import {
  type AuditAnchor,
  type AuditEntry,
  type AuditHead,
  type ChainTip,
  emptyChain,
  planAppend,
  type Signed,
  type WrittenChain,
} from "../../../domain/reputation/audit/audit-chain.ts";
import type { Mac } from "../../../ports/crypto/crypto.ts";
import type { InternalCollection } from "../driver/collections.ts";
import { HEADS, type LogWrite, logId, lookupLogOf } from "../driver/lookup-log.ts";
import { makeBlock } from "./audit-blocks.ts";

/** The anchors by chain. */
export const AUDIT_ANCHORS: InternalCollection = { name: "repsync_audit_anchors" };
/** The census, one document. */
export const AUDIT_CENSUS: InternalCollection = { name: "repsync_audit_census" };

/** `_id` of the census. */
export const CENSUS_ID = "census";

/** A signed head or anchor as stored. */
export type SignedDocument<Statement extends ChainTip> = Omit<Statement, "chainId"> & {
  /** Of an anchor the chain id, of a head its `logId`. */
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
  /** Among other documents of the lookup log. */
  readonly heads: Collection<SignedDocument<AuditHead>>;
  readonly anchors: Collection<SignedDocument<AuditAnchor>>;
  readonly census: Collection<CensusDocument>;
}

/** Writes that append to a chain. */
export interface ChainWrites {
  readonly writes: readonly LogWrite[];
  /** The chain, once they are committed. */
  readonly written: WrittenChain;
}

const CHAIN_ID_BYTES = 8;

/** What is beside the records. */
export function auditCollections(db: Db): AuditCollections {
  return {
    heads: lookupLogOf(db),
    anchors: db.collection(AUDIT_ANCHORS.name),
    census: db.collection(AUDIT_CENSUS.name),
  };
}

/** Makes the writes that append to a chain, signed. */
export class AuditChainWriter {
  readonly #collections: AuditCollections;
  readonly #mac: Mac;
  readonly #key: Uint8Array;

  constructor({ db, mac, auditKey }: { readonly db: Db; mac: Mac; auditKey: Uint8Array }) {
    this.#collections = auditCollections(db);
    this.#mac = mac;
    this.#key = auditKey;
  }

  /** Begins another chain, within a transaction. The number of one that was removed is not given again. */
  async begin(tx: ClientSession): Promise<WrittenChain> {
    const { heads, census } = this.#collections;
    const chainId = this.#mac.randomBytes(CHAIN_ID_BYTES).toHex();
    const isNumbered = { chainNumber: { $exists: true } };
    const last = await heads.findOne(isNumbered, { session: tx, sort: { chainNumber: -1 } });
    const counted = await census.findOne({ _id: CENSUS_ID }, { session: tx });
    const chains = Math.max(last?.chainNumber ?? 0, counted?.chains ?? 0) + 1;
    const signature = this.#sign(censusInput({ chains }));
    const replacement = { chains, signature };
    await census.replaceOne({ _id: CENSUS_ID }, replacement, { upsert: true, session: tx });
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
