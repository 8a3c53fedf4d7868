// The data model of lookups. What each batch writes is in one collection, as one message writes to one collection only.
import type { CallHistory, KeyUse } from "../domain/reputation/accounts/call-history.ts";
import type { CallSums, FullPage } from "../domain/reputation/accounts/call-window.ts";
import type { AuditHead, PruningCheckpoint } from "../domain/reputation/audit/audit-chain.ts";
import type { AnyCollection, Collection } from "../ports/documents.ts";
import type { SecretDocument } from "./account-collections.ts";

export interface UsageDocument extends CallSums, CallHistory {
  readonly kind: "usage";
  /** The `id` of a `SubjectDocument`. */
  readonly accountId: string;
  /** `YYYY-MM`; empty before the first call. */
  readonly month: string;
  readonly monthCalls: number;
  /** Quota alerts that were told, as `<month> <type of the alert>`. D-10.12. */
  readonly told: readonly string[];
}

/** The last use of a key that its account's `UsageDocument` has no room for. */
export interface KeyUseDocument extends KeyUse {
  readonly kind: "key_use";
  readonly accountId: string;
  readonly packed?: never;
}

export interface CallsDocument extends FullPage {
  readonly kind: "calls";
  readonly accountId: string;
}

export interface HeadDocument extends AuditHead {
  readonly kind: "head";
  readonly signature: string;
  readonly packed?: never;
}

/** Consecutive audit records of one chain, made at the same moment: those of one commit. */
export interface BlockDocument {
  readonly kind: "block";
  readonly chainId: string;
  /** The number of the first record. */
  readonly seq: number;
  readonly at: string;
  readonly version: number;
  /** The hash before the first record. */
  readonly previousHash: string;
  /** The rest of each record, as JSON in UTF-8. */
  readonly packed: Uint8Array;
}

/** A chain that goes on, or has records behind `indexedSeq` that are in no segment yet. */
export interface TailDocument {
  readonly kind: "tail";
  readonly chainId: string;
  readonly indexedSeq: number;
  readonly packed?: never;
}

export type LookupLogDocument =
  | UsageDocument
  | KeyUseDocument
  | CallsDocument
  | HeadDocument
  | TailDocument
  | BlockDocument;

export const LOOKUP_LOG: Collection<LookupLogDocument> = {
  name: "lookup_log",
  fields: [
    "kind",
    "accountId",
    "chainId",
    "chainNumber",
    "seq",
    "indexedSeq",
    "at",
    "hash",
    "signature",
    "version",
    "previousHash",
    "firstPage",
    "pages",
    "page",
    "offset",
    "lastMs",
    "month",
    "monthCalls",
    "days",
    "keys",
    "keyId",
    "minute",
    "told",
    "packed",
  ],
  keyOf: (doc) => {
    switch (doc.kind) {
      case "usage":
        return [doc.kind, doc.accountId];
      case "key_use":
        return [doc.kind, doc.accountId, doc.keyId];
      case "calls":
        return [doc.kind, doc.accountId, doc.page];
      case "head":
      case "tail":
        return [doc.kind, doc.chainId];
      case "block":
        return [doc.kind, doc.chainId, doc.seq];
    }
  },
  bytes: ["packed"],
};

export const FIRST_LOOKUP: SecretDocument = { name: "first_lookup", secret: "answered" };

export interface ChainCountDocument {
  readonly kind: "chain_count";
  readonly chains: number;
  readonly signature: string;
}

export interface CheckpointDocument extends PruningCheckpoint {
  readonly kind: "checkpoint";
  readonly signature: string;
}

/** The progress of the index of the log: numbers of segments and of groups, each from 0 on. */
export interface IndexDocument {
  readonly kind: "index";
  /** Segments that there ever were. */
  readonly segments: number;
  /** Small groups whose slices are there, or have become those of large groups. */
  readonly small: number;
  /** Large groups whose slices are there. */
  readonly large: number;
  /** Large groups whose small groups' slices are gone. */
  readonly cleared: number;
}

export type AuditDocument = ChainCountDocument | CheckpointDocument | IndexDocument;

export const AUDIT: Collection<AuditDocument> = {
  name: "audit",
  fields: [
    "kind",
    "chains",
    "chainId",
    "seq",
    "hash",
    "at",
    "signature",
    "segments",
    "small",
    "large",
    "cleared",
  ],
  keyOf: (doc) => ("chainId" in doc ? [doc.kind, doc.chainId] : [doc.kind]),
};

/** Consecutive records of one chain, some thousands at most. */
export interface AuditStretch {
  readonly chainId: string;
  /** Of the first and the last record, which may be pruned. */
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** No record is earlier; `""` when not known. */
  readonly firstAt: string;
  /** No record is later; `END_OF_TIME` when not known. */
  readonly lastAt: string;
}

/** Consecutive blocks of a chain, some hundred records as a rule. */
export interface SegmentDocument extends AuditStretch {
  /** Counts segments in the order in which they were made. */
  readonly number: number;
  /** A Bloom filter of the names in it; absent once it is in the slices of a group. */
  readonly filter?: Uint8Array;
}

export const SEGMENTS: Collection<SegmentDocument> = {
  name: "audit_segments",
  fields: ["number", "chainId", "firstSeq", "lastSeq", "firstAt", "lastAt", "filter"],
  keyOf: ({ number }) => [number],
  indexes: {
    chain: ({ chainId, lastSeq }) => [chainId, lastSeq],
    time: ({ lastAt }) => [lastAt],
  },
  bytes: ["filter"],
};

/** The same bits of all filters of a group: a bit for each segment, the first in the lowest bit of the first byte. */
export interface SliceDocument {
  readonly size: "small" | "large";
  readonly group: number;
  /** The bit of the filters; in a small group a part with the slices of several bits. */
  readonly part: number;
  readonly bits: Uint8Array;
}

export const SLICES: Collection<SliceDocument> = {
  name: "audit_slices",
  fields: ["size", "group", "part", "bits"],
  keyOf: ({ size, group, part }) => [size, group, part],
  bytes: ["bits"],
};

export const LOOKUP_COLLECTIONS: readonly AnyCollection[] = [LOOKUP_LOG, AUDIT, SEGMENTS, SLICES];
