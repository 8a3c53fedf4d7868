// The audit log of lookups and of administration: its records, and how each is bound to the one before. D-6.5.
//
// Every process writes chains of its own, one of lookups and one of acts, so no two race for one end. A record's hash covers
// all its fields, the hash of the record before it among them. A signed head apart from the chain says how far it has come;
// pruning leaves a signed checkpoint. A record contains no names: it has an id of the caller, which means nothing once the
// account is erased, and an HMAC of the looked-up person. audit-check.ts verifies all this.
import type { ConsentPurpose, LookupEndpoint, LookupRefusal } from "../accounts/consent.ts";

/** Format of records; another one has another hash input. */
const AUDIT_VERSION = 1 as const;
/** `previousHash` of the first record of a chain. */
const GENESIS_HASH = "0".repeat(64);

/** SHA-256 of a text's UTF-8 bytes as 64 lowercase hexadecimal digits. A keyed one (HMAC) keeps others from writing a chain. */
export type Sha256Hex = (text: string) => string;

/** Stands in a record of administration where that of a lookup has its endpoint. D-8.8. */
export const ADMIN_ENDPOINT = "admin";

/** Stands where the record of a lookup has its purpose. */
export type AdminAction =
  | "suspend"
  | "restore"
  | "erase"
  | "release"
  | "password"
  | "plan"
  | RowAction
  | FileAction;

export type RowAction = "row.changed" | "row.removed";

export type FileAction = "rows.imported" | "rows.exported" | "table.added";

/** A lookup with a known key that was answered 200, 403 or 404, or an act of an administrator (`adminEntry`). D-6.5, D-8.8. */
export interface AuditEntry {
  /** Time in UTC with all three digits of the milliseconds, so that these texts are ordered as the times are. */
  readonly at: string;
  readonly requestId: string;
  /** The id of the caller's account, which is not its name. */
  readonly accountId: string;
  /** Id of the caller's key. Of an act on rows the table; of one with a file table and counts (`withCounts`). */
  readonly keyId: string;
  readonly endpoint: LookupEndpoint | typeof ADMIN_ENDPOINT;
  /** The endpoint's own purpose, or the act. */
  readonly purpose: ConsentPurpose | AdminAction;
  /** HMAC of the looked-up username, or of the key of a row, hexadecimal. */
  readonly subjectHmac: string;
  /** The consent that allowed the lookup; else null. */
  readonly consentId: number | null;
  readonly decision: "allowed" | "denied";
  /** Null when allowed. */
  readonly code: LookupRefusal | null;
  readonly status: number;
}

/** An entry in its chain. A store keeps exactly these fields, because a field that no hash covers could be changed unseen. */
export interface AuditRecord extends AuditEntry {
  readonly version: typeof AUDIT_VERSION;
  readonly chainId: string;
  /** Place in the chain, from 1, without gaps. */
  readonly seq: number;
  /** `hash` of the record with the `seq` before; `GENESIS_HASH` for the first. */
  readonly previousHash: string;
  readonly hash: string;
}

/** The end of a chain, to append to. */
export interface ChainTip {
  readonly chainId: string;
  /** 0 while the chain is empty. */
  readonly seq: number;
  readonly hash: string;
}

/** The end that a chain has reached, stored apart from its records and written in the same commit. */
export interface AuditHead extends ChainTip {
  /** Numbers the chains of a store from 1 without gaps: a gap shows that a whole chain was removed. */
  readonly chainNumber: number;
  /** Canonical time. */
  readonly at: string;
}

/** The last pruned record. A chain's check begins with it. D-6.5. */
export interface PruningCheckpoint extends ChainTip {
  /** Canonical time. */
  readonly at: string;
}

/** A head, checkpoint or count with the signature of its input. */
export interface Signed<Statement> {
  readonly statement: Statement;
  readonly signature: string;
}

export function emptyChain(chainId: string): ChainTip {
  return { chainId, seq: 0, hash: GENESIS_HASH };
}

/** The record that appends an entry to a chain; it is the chain's next tip. */
export function appendEntry(tip: ChainTip, entry: AuditEntry, sha256Hex: Sha256Hex): AuditRecord {
  const { chainId, seq, hash: previousHash } = tip;
  const unhashed = { ...entry, version: AUDIT_VERSION, chainId, seq: seq + 1, previousHash };
  return Object.assign(unhashed, { hash: sha256Hex(hashInput(unhashed)) });
}

export type WrittenChain = Omit<AuditHead, "at">;

/** Records that append `entries`, 1 or more, and the new head, for one commit. `sign` hashes and signs. D-6.5. */
export function planAppend(chain: WrittenChain, entries: readonly AuditEntry[], sign: Sha256Hex) {
  let last: ChainTip = chain;
  const records = entries.map((entry) => {
    const record = appendEntry(last, entry, sign);
    last = record;
    return record;
  });
  const { chainId, seq, hash } = last;
  const { chainNumber } = chain;
  const statement = { chainId, seq, hash, chainNumber, at: records.at(-1)?.at ?? "" };
  return { records, head: { statement, signature: sign(headInput(statement)) } };
}

/** The checkpoint of a chain pruned up to and including a record. */
export function checkpointAt(lastPruned: AuditRecord, at: string): PruningCheckpoint {
  const { chainId, seq, hash } = lastPruned;
  return { chainId, seq, hash, at };
}

/**
 * Text that a record's hash covers: the format's name, a line feed, the canonical JSON of all fields but `hash`. Fields are
 * well-formed texts, safe integers or null, as this service makes them; a verification looks at those of stored records first.
 */
export function hashInput(record: Omit<AuditRecord, "hash">): string {
  const { accountId, at, chainId, code, consentId, decision, endpoint, keyId } = record;
  const { previousHash, purpose, requestId, seq, status, subjectHmac, version } = record;
  // The order of RFC 8785, written out, as sorting names took longer than hashing them.
  // biome-ignore format: the fields in two lines, as they are above
  const fields = {
    accountId, at, chainId, code, consentId, decision, endpoint, keyId,
    previousHash, purpose, requestId, seq, status, subjectHmac, version,
  } satisfies Omit<AuditRecord, "hash">;
  return `repsync.audit.record.v1\n${JSON.stringify(fields)}`;
}

export function headInput(head: AuditHead): string {
  return `repsync.audit.head.v1\n${canonicalJson({ ...head })}`;
}

export function checkpointInput(checkpoint: PruningCheckpoint): string {
  return `repsync.audit.anchor.v1\n${canonicalJson({ ...checkpoint })}`;
}

/**
 * Canonical JSON (RFC 8785) of a flat object: names in order, no blanks. Throws `RangeError` for a number that is not a safe
 * integer, for text with a lone surrogate and for any other value, as no store gives those back unchanged.
 */
export function canonicalJson(fields: Readonly<Record<string, unknown>>): string {
  const ordered = Object.keys(fields).sort();
  for (const name of ordered) {
    if (isCanonical(fields[name])) continue;
    throw new RangeError(`An audit field must be well-formed text, an integer or null: "${name}"`);
  }
  return JSON.stringify(fields, ordered);
}

function isCanonical(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  return value === null || Number.isSafeInteger(value);
}
