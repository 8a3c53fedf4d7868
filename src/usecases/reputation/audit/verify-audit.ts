// Verifies the whole audit log, also while the service writes it. D-6.5. It reads documents as they are stored: one that
// storing again would not give back as it is counts as damaged, and stands for a place.

import type {
  AuditHead,
  PruningCheckpoint,
  Signed,
} from "../../../domain/reputation/audit/audit-chain.ts";
import {
  type AuditProblem,
  type AuditTools,
  beginChainCheck,
  checkHeads,
  checkRecord,
  endChainCheck,
} from "../../../domain/reputation/audit/audit-check.ts";
import { checkChainCount } from "../../../domain/reputation/audit/chain-count.ts";
import type { Mac } from "../../../ports/crypto/crypto.ts";
import type { Turns } from "../../../ports/runtime/turns.ts";
import type { AuditLog } from "../../../repositories/lookups/audit-log.ts";

export interface VerifyAuditDeps {
  readonly audit: Omit<AuditLog, "prune">;
  readonly mac: Mac;
  readonly auditKey: Uint8Array;
}

export interface AuditVerdict {
  /** The first thing that is wrong; null when nothing is. */
  readonly problem: AuditProblem | null;
  readonly chains: number;
  readonly records: number;
}

export interface AuditProgress {
  /** Read so far. */
  readonly records: number;
}

/** Steps of a verification, each a page of records. */
type Verifying<T> = AsyncGenerator<AuditProgress, T, undefined>;

const PAGE_RECORDS = 1_000;
/** For a process that does nothing else. */
const NO_TURNS = { isOver: false, next: async () => {} };
const LOG_REMOVED: AuditProblem = {
  kind: "missing",
  chainId: "",
  seq: null,
  message: "The log was begun, and all of it is gone",
};

function auditTools({ mac, auditKey }: Omit<VerifyAuditDeps, "audit">): AuditTools {
  return {
    sha256Hex: (text) => mac.hmacHex(auditKey, text),
    isSigned: (input, signature) => mac.hmacHex(auditKey, input) === signature,
  };
}

export interface AuditVerification {
  /** Heads that were kept elsewhere, which the log has to go on from. D-8.9. */
  readonly keptHeads?: readonly Signed<AuditHead>[];
  /** Lets others have their turn. */
  readonly turns?: Pick<Turns, "isOver" | "next">;
}

/** Verifies every chain; `onProgress` is told after every page of records. Throws `store_unavailable`. */
export async function verifyAudit(
  deps: VerifyAuditDeps,
  { onProgress = () => {}, ...options }: AuditVerification & ProgressOption = {},
): Promise<AuditVerdict> {
  const steps = verifyInSteps(deps, options);
  let step = await steps.next();
  for (; !step.done; step = await steps.next()) onProgress(step.value);
  return step.value;
}

interface ProgressOption {
  readonly onProgress?: (progress: AuditProgress) => void;
}

/** As `verifyAudit`, step by step: nothing more is read once nobody asks for the next step. */
export async function* verifyInSteps(
  deps: VerifyAuditDeps,
  { keptHeads = [], turns = NO_TURNS }: AuditVerification = {},
): Verifying<AuditVerdict> {
  const tools = auditTools(deps);
  // Before the heads: the first record may be written meanwhile.
  const wasBegun = await deps.audit.wasBegun();
  const before = await deps.audit.chainCount();
  const heads = await deps.audit.heads();
  const counts = { before, heads: heads.length, after: await deps.audit.chainCount() };
  const problem =
    checkHeads(heads, tools) ??
    checkChainCount(counts, tools) ??
    (wasBegun && heads.length === 0 ? LOG_REMOVED : null);
  if (problem !== null) return { problem, chains: 0, records: 0 };
  const keptIds = keptHeads.map(({ statement }) => statement.chainId);
  const chainIds = new Set([...(await everyChain(deps.audit, heads)), ...keptIds]);
  const count = { records: 0 };
  let chains = 0;
  for (const chainId of chainIds) {
    const kept = keptHeads.filter(({ statement }) => statement.chainId === chainId);
    chains++;
    const found = yield* verifyChain(deps.audit, { chainId, kept, tools, turns, count });
    if (found !== null) return { problem: found, chains, records: count.records };
  }
  return { problem: null, chains, records: count.records };
}

/** Chains by their numbers, then those that have no head. */
async function everyChain(audit: VerifyAuditDeps["audit"], heads: readonly Signed<AuditHead>[]) {
  const numbered = heads
    .map(({ statement }) => statement)
    .sort((a, b) => a.chainNumber - b.chainNumber)
    .map(({ chainId }) => chainId);
  const pruned = (await audit.checkpoints()).map(({ statement }) => statement.chainId);
  return [...new Set([...numbered, ...pruned, ...(await audit.chainIds())])];
}

interface ChainTask {
  readonly chainId: string;
  readonly kept: readonly Signed<AuditHead>[];
  readonly tools: AuditTools;
  readonly turns: Pick<Turns, "isOver" | "next">;
  /** Records of all chains that were read; grows. */
  readonly count: { records: number };
}

/** Checks a chain, and checks it again when it was pruned meanwhile. */
async function* verifyChain(
  audit: VerifyAuditDeps["audit"],
  task: ChainTask,
): Verifying<AuditProblem | null> {
  for (;;) {
    const checkpoint = await checkpointOf(audit, task.chainId);
    const problem = yield* checkChain(audit, task, checkpoint);
    if (problem === null) return null;
    const latest = await checkpointOf(audit, task.chainId);
    if (latest?.signature === checkpoint?.signature) return problem;
  }
}

async function* checkChain(
  audit: VerifyAuditDeps["audit"],
  { chainId, kept, tools, turns, count }: ChainTask,
  checkpoint: Signed<PruningCheckpoint> | null,
): Verifying<AuditProblem | null> {
  const head = await audit.head(chainId);
  const claims = { chainId, checkpoint, heads: head === null ? kept : [head, ...kept] };
  let check = beginChainCheck(claims, tools);
  let seenSeq: number | null = null;
  for (let afterSeq: number | null = null; ; ) {
    const page = await audit.records(chainId, { afterSeq, limit: PAGE_RECORDS });
    const isRepeated = seenSeq !== null && page[0]?.seq === seenSeq;
    const records = isRepeated ? page.slice(1) : page;
    for (const record of records) {
      check = checkRecord(check, record, tools);
      if (turns.isOver) await turns.next();
    }
    count.records += records.length;
    yield { records: count.records };
    if (page.length < PAGE_RECORDS || check.problem !== null) break;
    // From the last record on, not after it: another one may stand in the same place.
    seenSeq = Number(page.at(-1)?.seq);
    afterSeq = seenSeq - 1;
  }
  return endChainCheck(check, await audit.head(chainId), tools);
}

async function checkpointOf(
  audit: VerifyAuditDeps["audit"],
  chainId: string,
): Promise<Signed<PruningCheckpoint> | null> {
  return (await audit.checkpoints()).find(({ statement }) => statement.chainId === chainId) ?? null;
}
