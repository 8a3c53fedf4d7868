// How audit records lie in MongoDB: those of one commit are one document, a block, as a document each would cost five
// times as much to write and to replicate. What the records of a block have in common stands beside them; nothing is
// stored that is not given back with the records, so that whatever is changed or added shows in their hashes.
import type { Collection, Db } from "mongodb";
import type { AuditRecord } from "../../../domain/reputation/audit/audit-chain.ts";
import type { StoredRecord } from "../../../domain/reputation/audit/audit-check.ts";
import { type IdBounds, idsUnder } from "../driver/collections.ts";
import { lookupLogOf } from "../driver/lookup-log.ts";

/** Consecutive records of one chain, made at the same moment. */
export interface AuditBlock {
  /** `blockId` of the first record. */
  readonly _id: string;
  readonly at: string;
  readonly version: number;
  readonly records: readonly Omit<AuditRecord, "chainId" | "at" | "version">[];
}

/** Digits of a place, so that ids sort as places do. */
const SEQ_DIGITS = 16;
const BLOCK_ID = /^([^/]+)\/(\d{16})$/;

/** The blocks of a store, beside the other documents of the lookup log. */
export function auditBlocks(db: Db): Collection<AuditBlock> {
  return lookupLogOf<AuditBlock>(db);
}

/** The id of a block that begins with a record. Ids of one chain are in the order of `seq`. */
export function blockId(chainId: string, seq: number): string {
  return `${chainId}/${String(seq).padStart(SEQ_DIGITS, "0")}`;
}

/** A condition for the ids of all blocks of a chain. */
export function idsOfChain(chainId: string): IdBounds {
  return idsUnder(chainId);
}

/** Chain and first place of a block; null for an id that is none of ours. */
export function readBlockId(id: string): { chainId: string; firstSeq: number } | null {
  const [, chainId, seq] = BLOCK_ID.exec(id) ?? [];
  return chainId === undefined ? null : { chainId, firstSeq: Number(seq) };
}

/** The block of records that one commit appends. There is at least one. */
export function makeBlock(records: readonly AuditRecord[]): AuditBlock {
  const [first] = records;
  if (first === undefined) throw new Error("A block has at least one record");
  const { chainId, at, version, seq } = first;
  return {
    _id: blockId(chainId, seq),
    at,
    version,
    records: records.map(({ chainId: _chainId, at: _at, version: _version, ...own }) => own),
  };
}

/** The records of a block as they are stored, in their order there. Of what is damaged as much as there is. */
export function recordsOf(block: AuditBlock): StoredRecord[] {
  const { _id, records, ...common } = block as AuditBlock & { readonly records: unknown };
  const chainId = readBlockId(_id)?.chainId ?? _id;
  if (!Array.isArray(records)) return [{ chainId, ...common, ...asFields(records) }];
  return records.map((own: unknown) => ({ chainId, ...common, ...asFields(own) }));
}

/** Wraps a value that is not an object, so that its verification fails. */
function asFields(value: unknown): object {
  const isFields = typeof value === "object" && value !== null && !Array.isArray(value);
  return isFields ? value : { records: value };
}
