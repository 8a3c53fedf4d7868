// How audit records are kept: those of one commit are one document, a block, as a document each would cost several times as
// much. What they share stands once; the rest is one JSON text in bytes. Whatever is changed or added shows in their hashes.
import type { AuditRecord } from "../../domain/reputation/audit/audit-chain.ts";
import type { StoredRecord } from "../../domain/reputation/audit/audit-check.ts";
import type { Key } from "../../domain/shared/document-key.ts";
import type { BlockDocument } from "./lookup-collections.ts";

/** Fields of a record that a block has for each, in this order. */
export const BLOCK_FIELDS = [
  "requestId",
  "accountId",
  "keyId",
  "endpoint",
  "purpose",
  "subjectHmac",
  "consentId",
  "decision",
  "code",
  "status",
  "hash",
] as const satisfies readonly (keyof AuditRecord)[];

const BLOCK_NAMES = ["at", "chainId", "kind", "packed", "previousHash", "seq", "version"].join();

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The key of a block that begins with a record. */
export function blockKey(chainId: string, seq: number): Key {
  return ["block", chainId, seq];
}

/** The block of records that one commit appends. There is at least one. */
export function makeBlock(records: readonly AuditRecord[]): BlockDocument {
  const [first] = records;
  if (first === undefined) throw new Error("A block has at least one record");
  const { chainId, seq, at, version, previousHash } = first;
  const rows = records.map((one) => [
    one.requestId,
    one.accountId,
    one.keyId,
    one.endpoint,
    one.purpose,
    one.subjectHmac,
    one.consentId,
    one.decision,
    one.code,
    one.status,
    one.hash,
  ]);
  const packed = encoder.encode(JSON.stringify(rows));
  return { kind: "block", chainId, seq, at, version, previousHash, packed };
}

/** A block without its first records; null when none is left. */
export function cutBlock(block: BlockDocument, count: number): BlockDocument | null {
  const rows = rowsOf(block.packed) ?? [];
  const left = rows.slice(count);
  if (left.length === 0) return null;
  const previousHash = String(rows[count - 1]?.at(-1) ?? block.previousHash);
  const packed = encoder.encode(JSON.stringify(left));
  return { ...block, seq: block.seq + count, previousHash, packed };
}

/** The records of a block, in their order. Of what is damaged as much as there is, so that its verification fails. */
export function recordsOf(block: object): readonly StoredRecord[] {
  const { chainId, seq, at, version, previousHash, packed } = block as BlockDocument;
  const rows = rowsOf(packed);
  const isWhole = Object.keys(block).sort().join() === BLOCK_NAMES && rows !== null;
  const damaged = { chainId, seq, at, version, previousHash, damaged: true } as StoredRecord;
  if (!isWhole || !Number.isSafeInteger(seq)) return [damaged];
  let previous: unknown = previousHash;
  return rows.map((row, i) => {
    const record: Record<string, unknown> = { version, chainId, seq: seq + i, at };
    record["previousHash"] = previous;
    for (const [place, name] of BLOCK_FIELDS.entries()) record[name] = row[place];
    if (row.length !== BLOCK_FIELDS.length) record["more"] = row.length;
    previous = record["hash"];
    return record;
  });
}

/** Null for bytes that are not exactly what `makeBlock` writes of some rows. */
function rowsOf(packed: unknown): readonly (readonly unknown[])[] | null {
  if (!(packed instanceof Uint8Array)) return null;
  try {
    const text = decoder.decode(packed);
    const rows: unknown = JSON.parse(text);
    const areRows = Array.isArray(rows) && rows.length > 0 && rows.every(Array.isArray);
    return areRows && JSON.stringify(rows) === text ? rows : null;
  } catch {
    return null;
  }
}
