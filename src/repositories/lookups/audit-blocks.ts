// Audit records as they are kept: those of one commit in one document, a block. What records share stands once; the rest is one
// JSON text in bytes. Hashes show whatever is changed or added. On three members a record costs 30 µs in a block, and 125 µs as a
// document of its own, two thirds of that for indexes. A block takes no other's place, so a copy of a process shows.
import type { AuditRecord } from "../../domain/reputation/audit/audit-chain.ts";
import type { StoredRecord } from "../../domain/reputation/audit/audit-check.ts";
import type { Key } from "../../domain/shared/document-key.ts";
import type { BlockDocument } from "../lookup-collections.ts";

/** Fields that stand once for all records of a block that share them. */
const SHARED_FIELDS = [
  "accountId",
  "keyId",
  "endpoint",
  "purpose",
  "decision",
  "code",
  "status",
] as const satisfies readonly (keyof AuditRecord)[];

/** Fields of each record, behind the place of its shared fields. */
const OWN_FIELDS = [
  "requestId",
  "subjectHmac",
  "consentId",
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
  const packed = encoder.encode(textOf(records));
  return { kind: "block", chainId, seq, at, version, previousHash, packed };
}

/** A block without its first records; null when none is left. */
export function cutBlock(block: BlockDocument, count: number): BlockDocument | null {
  const left = recordsOf(block).slice(count) as readonly AuditRecord[];
  return left.length === 0 ? null : makeBlock(left);
}

/** `[[shared fields, …], [[which of these, own fields], …]]` */
function textOf(records: readonly AuditRecord[]): string {
  const places = new Map<string, number>();
  const shared: unknown[] = [];
  const own = records.map((one) => {
    const { accountId, keyId, endpoint, purpose, decision, code, status } = one;
    const name = `${keyId} ${endpoint} ${code} ${accountId} ${purpose} ${decision} ${status}`;
    let place = places.get(name);
    if (place === undefined) {
      place = shared.length;
      places.set(name, place);
      shared.push([accountId, keyId, endpoint, purpose, decision, code, status]);
    }
    return [place, one.requestId, one.subjectHmac, one.consentId, one.hash];
  });
  return JSON.stringify([shared, own]);
}

/** The records of a block, in their order; of a damaged block one that fails verification. */
export function recordsOf(block: object): readonly StoredRecord[] {
  const { chainId, seq, at, version, previousHash, packed } = block as BlockDocument;
  const damaged = { chainId, seq, at, version, previousHash, damaged: true } as StoredRecord;
  const rows = rowsOf(packed);
  const isWhole = Object.keys(block).sort().join() === BLOCK_NAMES && rows !== null;
  if (!isWhole || !Number.isSafeInteger(seq)) return [damaged];
  let previous: unknown = previousHash;
  return rows.map((row, i) => {
    const own = { version, chainId, seq: seq + i, at, previousHash: previous };
    const record = { ...own, ...row } satisfies Record<keyof AuditRecord, unknown>;
    previous = record.hash;
    return record;
  });
}

type Fields = Record<(typeof SHARED_FIELDS)[number] | (typeof OWN_FIELDS)[number], unknown>;

/** Null for bytes that are not exactly the `textOf` of some records. */
function rowsOf(packed: unknown): readonly Fields[] | null {
  if (!(packed instanceof Uint8Array)) return null;
  try {
    const text = decoder.decode(packed);
    const [shared, own] = JSON.parse(text) as [unknown[][], [number, ...unknown[]][]];
    const rows = own.map(([place, ...fields]) => ({
      ...named(SHARED_FIELDS, shared[place] ?? []),
      ...named(OWN_FIELDS, fields),
    }));
    return rows.length > 0 && textOf(rows as unknown as AuditRecord[]) === text ? rows : null;
  } catch {
    return null;
  }
}

function named<Name extends string>(names: readonly Name[], values: readonly unknown[]) {
  return Object.fromEntries(names.map((name, i) => [name, values[i]])) as Record<Name, unknown>;
}
