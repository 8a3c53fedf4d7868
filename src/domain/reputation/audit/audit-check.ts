// Verifies audit chains record by record, in constant memory. D-6.5.
//
// While the service writes: read the heads, then each chain's records in order of `seq`, then the chain's head again. Records
// between the two heads were written meanwhile. From one snapshot both heads are the same.
import {
  type AuditHead,
  type AuditRecord,
  type ChainTip,
  checkpointInput,
  emptyChain,
  hashInput,
  headInput,
  type PruningCheckpoint,
  type Sha256Hex,
  type Signed,
} from "./audit-chain.ts";

type AuditProblemKind =
  /** A field of the record, or of an earlier one, differs from what was written. */
  | "changed"
  /** A record is gone: from the middle, or the last ones, or all. */
  | "missing"
  /** A record comes after a later one. */
  | "reordered"
  /** Two records have the same place. */
  | "forked"
  /** A record is beyond the end that the head names, or in a chain without a head. */
  | "extra"
  /** A head or a checkpoint is not what was signed, is gone, or contradicts the other. */
  | "head"
  | "checkpoint";

/** The first problem of a chain or store. */
export interface AuditProblem {
  readonly kind: AuditProblemKind;
  readonly chainId: string;
  /** Place of the record in its chain; null when the problem is not one record's. */
  readonly seq: number | null;
  /** A sentence for the operator. */
  readonly message: string;
}

export interface AuditTools {
  /** The function that the chain was written with. */
  readonly sha256Hex: Sha256Hex;
  /** True when the signature belongs to the input. */
  readonly isSigned: (input: string, signature: string) => boolean;
}

/** A chain's checkpoint and heads, read before its records. */
export interface ChainClaims {
  readonly chainId: string;
  /** Null when nothing was pruned. */
  readonly checkpoint: Signed<PruningCheckpoint> | null;
  /** The store's head, and older ones that were kept elsewhere. Empty: the chain has none, so any record is too much. */
  readonly heads: readonly Signed<AuditHead>[];
}

interface ChainCheck {
  readonly chainId: string;
  /** The last record that was read and is good, or the checkpoint. */
  readonly last: ChainTip;
  /** Heads whose record is still to come, by `seq`. */
  readonly heads: readonly AuditHead[];
  /** The greatest `seq` up to `last` whose hash the beginning, the checkpoint or a head confirms. */
  readonly vouchedSeq: number;
  /** The `seq` the chain had reached before its records were read; null without a head. */
  readonly reachedSeq: number | null;
  /** Once it is set, further records are ignored. */
  readonly problem: AuditProblem | null;
}

type Chain = Pick<ChainClaims, "chainId">;

const NOT_SIGNED = "its head is not as signed";

/** A record as read from a store, not yet checked. */
export type StoredRecord = { readonly [Field in keyof AuditRecord]?: unknown };

const FIELD_TYPES: Readonly<Record<keyof AuditRecord, "text" | "integer" | "text?" | "integer?">> =
  {
    version: "integer",
    chainId: "text",
    seq: "integer",
    at: "text",
    requestId: "text",
    accountId: "text",
    keyId: "text",
    endpoint: "text",
    purpose: "text",
    subjectHmac: "text",
    consentId: "integer?",
    decision: "text",
    code: "text?",
    status: "integer",
    previousHash: "text",
    hash: "text",
  };

/** Checks all heads of a store: each is signed, and their numbers are 1, 2, 3 and so on. Null without a problem. */
export function checkHeads(
  heads: readonly Signed<AuditHead>[],
  tools: AuditTools,
): AuditProblem | null {
  const unsigned = heads.find((head) => !isSignedHead(head, tools));
  if (unsigned !== undefined) return headProblem(unsigned.statement, NOT_SIGNED);
  const ordered = heads.toSorted((a, b) => a.statement.chainNumber - b.statement.chainNumber);
  for (const [i, head] of ordered.entries()) {
    const { chainNumber } = head.statement;
    if (chainNumber < i + 1) return headProblem(head.statement, "another chain has its number");
    if (chainNumber > i + 1) {
      return headProblem(head.statement, `the head of chain number ${i + 1}, before it, is gone`);
    }
  }
  return null;
}

/** Begins the check of one chain with its checkpoint and heads; its records come next. */
export function beginChainCheck(claims: ChainClaims, tools: AuditTools): ChainCheck {
  const { chainId, checkpoint } = claims;
  const last = checkpoint?.statement ?? emptyChain(chainId);
  const all = claims.heads
    .map(({ statement }) => statement)
    .sort((a, b) => a.seq - b.seq || (a.hash < b.hash ? -1 : 1));
  return {
    chainId,
    last,
    heads: all.filter(({ seq }) => seq > last.seq),
    vouchedSeq: last.seq,
    reachedSeq: all.at(-1)?.seq ?? null,
    problem: claimsProblem(claims, all, tools),
  };
}

/** Checks the next record of the chain; records come in order of `seq`, as stored. */
export function checkRecord(
  check: ChainCheck,
  stored: StoredRecord,
  tools: AuditTools,
): ChainCheck {
  if (check.problem !== null) return check;
  const problem = recordProblem(check, stored, tools);
  if (problem !== null) return { ...check, problem };
  const { chainId, seq, hash } = stored as unknown as AuditRecord;
  const heads = check.heads.filter((head) => head.seq > seq);
  const vouchedSeq = heads.length < check.heads.length ? seq : check.vouchedSeq;
  return { ...check, last: { chainId, seq, hash }, heads, vouchedSeq };
}

/** The first problem, after the last record; null for a whole chain. `headAfter` was read after the records; null for none. */
export function endChainCheck(
  check: ChainCheck,
  headAfter: Signed<AuditHead> | null,
  tools: AuditTools,
): AuditProblem | null {
  if (check.problem !== null) return check.problem;
  const { last, reachedSeq } = check;
  if (reachedSeq !== null && last.seq < reachedSeq) return missingProblem(check);
  if (headAfter === null) {
    return reachedSeq === null ? null : headProblem(check, "its head is gone");
  }
  const head = headAfter.statement;
  if (head.chainId !== check.chainId || !isSignedHead(headAfter, tools)) {
    return headProblem(check, NOT_SIGNED);
  }
  if (last.seq > head.seq) {
    return recordIs(check, "extra", head.seq + 1, "is beyond the end that the head names");
  }
  return last.seq === head.seq && last.hash !== head.hash ? notTheHead(check, last.seq) : null;
}

function claimsProblem(
  claims: ChainClaims,
  ordered: readonly AuditHead[],
  tools: AuditTools,
): AuditProblem | null {
  const { chainId, checkpoint, heads } = claims;
  const isOwn = (head: Signed<AuditHead>) =>
    head.statement.chainId === chainId && isSignedHead(head, tools);
  if (!heads.every(isOwn)) return headProblem(claims, NOT_SIGNED);
  if (checkpoint === null) return null;
  const { statement, signature } = checkpoint;
  const isSigned = isSignedInput(() => checkpointInput(statement), signature, tools);
  if (statement.chainId !== chainId || !isSigned) {
    return checkpointProblem(claims, "its checkpoint is not as signed");
  }
  const reached = ordered.at(-1);
  if (reached === undefined || reached.seq < statement.seq) {
    return checkpointProblem(claims, "its checkpoint is beyond its head");
  }
  const contradicts = ordered.some((h) => h.seq === statement.seq && h.hash !== statement.hash);
  return contradicts ? checkpointProblem(claims, "its checkpoint and its head contradict") : null;
}

function recordProblem(
  check: ChainCheck,
  stored: StoredRecord,
  tools: AuditTools,
): AuditProblem | null {
  const { last } = check;
  const nextSeq = last.seq + 1;
  const seq = Number.isSafeInteger(stored.seq) ? Number(stored.seq) : nextSeq;
  if (check.reachedSeq === null) {
    return recordIs(check, "extra", seq, "belongs to a chain without a head");
  }
  if (seq > nextSeq) return missingProblem(check);
  if (!isWholeRecord(stored, tools) || stored.chainId !== check.chainId) {
    return recordIs(check, "changed", seq, "is not as written");
  }
  if (seq === last.seq) return recordIs(check, "forked", seq, "exists twice");
  if (seq !== nextSeq) {
    return recordIs(check, "reordered", seq, `stands after ${last.seq}`);
  }
  if (stored.previousHash !== last.hash) return brokenLink(check, seq);
  const isOther = check.heads.some((head) => head.seq === seq && head.hash !== stored.hash);
  return isOther ? notTheHead(check, seq) : null;
}

/** Both records fit their own hashes: so the earlier one was rewritten, unless a claim vouches for it. */
function brokenLink(check: ChainCheck, seq: number): AuditProblem {
  const { last, vouchedSeq } = check;
  return last.seq === vouchedSeq
    ? recordIs(check, "changed", seq, `does not follow ${last.seq}`)
    : recordIs(check, "changed", last.seq, `is not the one that ${seq} follows`);
}

/** True when the stored record has exactly the fields of a record, of their types, and its hash fits them. */
function isWholeRecord(stored: StoredRecord, tools: AuditTools): boolean {
  const names = Object.keys(FIELD_TYPES) as (keyof AuditRecord)[];
  if (Object.keys(stored).length !== names.length) return false;
  if (!names.every((name) => isOfType(stored[name], FIELD_TYPES[name]))) return false;
  const record = stored as unknown as AuditRecord;
  return tools.sha256Hex(hashInput(record)) === record.hash;
}

function isOfType(value: unknown, type: string): boolean {
  if (value === null) return type.endsWith("?");
  if (type.startsWith("integer")) return Number.isSafeInteger(value);
  return typeof value === "string" && value.isWellFormed();
}

export function isSignedHead(
  head: Signed<AuditHead>,
  tools: Pick<AuditTools, "isSigned">,
): boolean {
  return isSignedInput(() => headInput(head.statement), head.signature, tools);
}

/** A statement of a damaged store may have no canonical form; then it is not signed either. */
export function isSignedInput(
  makeInput: () => string,
  signature: string,
  tools: Pick<AuditTools, "isSigned">,
): boolean {
  try {
    return tools.isSigned(makeInput(), signature);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function missingProblem(check: ChainCheck): AuditProblem {
  return recordIs(check, "missing", check.last.seq + 1, "is gone");
}

function notTheHead(of: Chain, seq: number): AuditProblem {
  const what = "is not the one that the head names: it or one before it was changed";
  return recordIs(of, "changed", seq, what);
}

function headProblem({ chainId }: Chain, what: string): AuditProblem {
  return { kind: "head", chainId, seq: null, message: `Chain "${chainId}": ${what}` };
}

function checkpointProblem({ chainId }: Chain, what: string): AuditProblem {
  return { kind: "checkpoint", chainId, seq: null, message: `Chain "${chainId}": ${what}` };
}

function recordIs(
  { chainId }: Chain,
  kind: AuditProblemKind,
  seq: number,
  what: string,
): AuditProblem {
  return { kind, chainId, seq, message: `Chain "${chainId}": record ${seq} ${what}` };
}
